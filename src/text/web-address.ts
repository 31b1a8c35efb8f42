// Owns which texts of the CMS are addresses of the web.

/** The address if it is one of the web, otherwise undefined: the CMS may have `javascript:` or a text. */
export function webAddress(text: unknown): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
