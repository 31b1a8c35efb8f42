// Every test and script that docs/internals/cluster.md names exists.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import scripts from '../../package.json' with { type: 'json' };

const doc = readFileSync(resolve(import.meta.dirname, '../../docs/internals/cluster.md'), 'utf8');
const guarantees = doc.slice(doc.indexOf('## Guarantees'), doc.indexOf('Not guaranteed'));

/** The cited test titles, by file; `…` abbreviates a title. */
const named = [...guarantees.replace(/\s+/g, ' ').matchAll(/([\w-]+\.test): ((?:"[^"]*"(?:, )?)+)/g)].flatMap(
  ([, file = '', titles = '']) => [...titles.matchAll(/"([^"]*)"/g)].map(([, title = '']) => ({ file, title })),
);

describe('docs/internals/cluster.md', () => {
  it('names a test or a script for each guarantee', () => {
    const points = guarantees.split(/^(?=\d+\. )/m).slice(1);
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

  it('names existing scripts', () => {
    for (const [, script = ''] of doc.matchAll(/`npm run ([\w:]+)/g)) expect(scripts.scripts).to.have.property(script);
  });
});
