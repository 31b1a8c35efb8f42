// orval: a fetch client in one file, with the base URL of the document.

export default {
  calendar: {
    input: './generated/openapi.json',
    output: { target: './generated/orval.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } },
  },
};
