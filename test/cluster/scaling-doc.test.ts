// Every test and script that docs/scaling.md names is there.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import scripts from '../../package.json' with { type: 'json' };

const doc = readFileSync(resolve(import.meta.dirname, '../../docs/scaling.md'), 'utf8');
const held = doc.slice(doc.indexOf('## What holds'), doc.indexOf('Not promised'));

/** The beginnings of titles that are named, by file; `…` ends them. */
const named = [...held.replace(/\s+/g, ' ').matchAll(/([\w-]+\.test): ((?:"[^"]*"(?:, )?)+)/g)].flatMap(
  ([, file = '', titles = '']) => [...titles.matchAll(/"([^"]*)"/g)].map(([, title = '']) => ({ file, title })),
);

describe('the page about several gateways', () => {
  it('names a test or a script for everything that it says holds', () => {
    const points = held.split(/^(?=\d+\. )/m).slice(1);
    expect(points.length).to.be.above(5);
    for (const point of points) expect(point).to.match(/\*[^*]*(\.test: "|npm run)[^*]*\*\s*$/);
  });

  for (const { file, title } of named) {
    it(`${file} has "${title}"`, () => {
      const source = readFileSync(join(import.meta.dirname, `${file}.ts`), 'utf8');
      const begin = title.endsWith('…') ? title.slice(0, -1) : `${title}'`;
      expect(source).to.match(new RegExp(`(it|describe)\\(\\s*['\`]${begin.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
    });
  }

  it('names scripts that are there', () => {
    for (const [, script = ''] of doc.matchAll(/`npm run ([\w:]+)/g)) expect(scripts.scripts).to.have.property(script);
  });
});
