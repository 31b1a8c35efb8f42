// `node main.ts PROGRAM URL AUTHORIZATION`: runs one of the programs of this folder and prints what it found, as one
// line of JSON.

export interface Findings {
  title: string | undefined;
  total: number | undefined;
  total_pages: number | undefined;
  /** Status and code of an event that does not exist. */
  missing: [status: number | undefined, code: string | undefined];
  created: number | undefined;
  deleted: number | undefined;
}

const [name, url, authorization] = process.argv.slice(2);
if (!name || !url || !authorization) throw new Error('PROGRAM URL AUTHORIZATION');
const { run } = (await import(`./${name}.ts`)) as { run(url: string, authorization: string): Promise<Findings> };
console.log(JSON.stringify(await run(url, authorization)));
