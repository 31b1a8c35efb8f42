// A serving gateway does not load modules that it never uses.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '..');

/** The built-in modules and package files that `serve` has loaded when it is ready to start. */
function modulesOfServe(): string[] {
  const script = `
    const { createRequire } = await import('node:module');
    await import('./src/cli/commands.ts');
    await import('./src/cli/serve.ts');
    const files = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify([...process.moduleLoadList, ...files]));`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(out);
}

describe('modules loaded by serve', () => {
  let loaded: string[];
  before(() => {
    loaded = modulesOfServe();
  });

  it('are found by this test', () => {
    expect(loaded.some((name) => name.endsWith('undici/lib/dispatcher/pool.js'))).to.equal(true);
    expect(loaded).to.include('NativeModule http');
  });

  for (const [name, pattern] of [
    ['the Redis client', /@redis\/client/],
    ['the SDK of the Model Context Protocol', /@modelcontextprotocol/],
    ['the pretty printer of the log', /pino-pretty/],
  ] as const) {
    it(`do not include ${name}`, () => {
      expect(loaded.filter((file) => pattern.test(file))).to.deep.equal([]);
    });
  }
});
