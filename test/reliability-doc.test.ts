// Every test and script that docs/internals/reliability.md names exists.

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import scripts from '../package.json' with { type: 'json' };

const text = readFileSync(resolve(import.meta.dirname, '../docs/internals/reliability.md'), 'utf8');

describe('docs/internals/reliability.md', () => {
  it('names existing tests', () => {
    const files = new Set([...text.matchAll(/`([\w/-]+\.(?:test|check)\.ts)`/g)].map(([, file = '']) => file));
    expect(files.size).to.be.above(20);
    expect([...files].filter((file) => !existsSync(join(import.meta.dirname, file)))).to.deep.equal([]);
  });

  it('names existing scripts', () => {
    for (const [, script = ''] of text.matchAll(/`npm run ([\w:]+)/g)) expect(scripts.scripts).to.have.property(script);
  });
});
