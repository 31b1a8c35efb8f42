// Validators and generators accept the complete OpenAPI document; what they generate compiles and works
// against a gateway.

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { CONCERTS, startTown, type Town } from './town.ts';

const HERE = import.meta.dirname;
const GENERATED = join(HERE, 'generated');
const DOCUMENT = 'generated/openapi.json';
const ENV = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs a program in this folder; rejects with its output if it fails. */
async function run(command: string, ...args: string[]): Promise<string> {
  const ended = promisify(execFile)(command, args, { cwd: HERE, env: ENV, maxBuffer: 2 ** 26 });
  const { stdout } = await ended.catch(({ message, stdout, stderr }) => {
    throw new Error([message, stdout, stderr].join('\n'));
  });
  return stdout;
}
const tool = (name: string, ...args: string[]) => run(process.execPath, join(HERE, 'node_modules', name), ...args);

describe('the complete OpenAPI document', () => {
  let town: Town;

  before(async () => {
    town = await startTown();
    rmSync(GENERATED, { recursive: true, force: true });
    mkdirSync(GENERATED);
    const document = (await (await fetch(`${town.url}/doc?complete=1`)).json()) as object;
    // Its own server is the gateway's public address, which this gateway does not have.
    writeFileSync(join(HERE, DOCUMENT), JSON.stringify({ ...document, servers: [{ url: town.url }] }));
  });
  after(() => town.gateway.stop());

  it('passes swagger-parser', () => run(process.execPath, 'validate.mjs', DOCUMENT));

  it("passes redocly's recommended rules without a warning", async () => {
    const report = await tool('@redocly/cli/bin/cli.js', 'lint', '--extends=recommended', '--format=json', DOCUMENT);
    const { totals, problems } = JSON.parse(report) as { totals: object; problems: object[] };
    expect(totals, JSON.stringify(problems, null, 2)).to.deep.equal({ errors: 0, warnings: 0, ignored: 0 });
  });

  it('is input of openapi-typescript', () =>
    tool('openapi-typescript/bin/cli.js', DOCUMENT, '--output', 'generated/openapi-typescript.ts'));

  it('is input of @hey-api/openapi-ts', () => tool('@hey-api/openapi-ts/bin/run.js', '--no-log-file'));

  it('is input of orval', () => tool('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'));

  it('gives clients that compile with tsc --strict', () =>
    tool('typescript/bin/tsc', '--strict', '-p', 'programs/tsconfig.json'));

  for (const program of ['openapi-typescript', 'hey-api', 'orval', 'calendar-gateway-client'])
    it(`gives clients that work: ${program}`, async () => {
      const output = await run(process.execPath, 'programs/main.ts', program, town.url, town.authorization);
      expect(JSON.parse(output)).to.deep.equal({
        title: 'Concert 1',
        total: CONCERTS,
        total_pages: 3,
        missing: [404, 'rest-event-not-found'],
        created: 201,
        deleted: 200,
      });
    });
});
