// `node main.ts PROGRAM URL AUTHORIZATION`: runs one of the programs of this folder.

const [name, url, authorization] = process.argv.slice(2);
if (!name || !url || !authorization) throw new Error('PROGRAM URL AUTHORIZATION');
const { run } = (await import(`./${name}.ts`)) as { run(url: string, authorization: string): Promise<void> };
await run(url, authorization);
