// Shows what a gateway that serves keeps out of its memory: parts of Node and of packages that it has no use for.

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '..');

/** What a process has loaded once it could serve: modules of Node, and files of packages. */
function loadedToServe(): string[] {
  const script = `
    const { createRequire } = await import('node:module');
    await import('./src/cli/commands.ts');
    await import('./src/cli/serve.ts');
    const files = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify([...process.moduleLoadList, ...files]));`;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(out);
}

describe('what a gateway loads to serve', () => {
  let loaded: string[];
  before(() => {
    loaded = loadedToServe();
  });

  it('is known to this test', () => {
    expect(loaded.some((name) => name.endsWith('undici/lib/dispatcher/pool.js'))).to.equal(true);
    expect(loaded).to.include('NativeModule http');
  });

  for (const [what, part] of [
    ["Node's own fetch", /deps\/undici/],
    ['the whole of undici', /undici\/index\.js$/],
    ['limiters with databases', /rate-limiter-flexible\/index\.js$/],
    ['lines for people', /pino-pretty/],
  ] as const) {
    it(`is not ${what}`, () => {
      expect(loaded.filter((name) => part.test(name))).to.deep.equal([]);
    });
  }
});
