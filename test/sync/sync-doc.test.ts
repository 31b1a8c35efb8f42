// Every test that docs/internals/sync.md cites for an invariant exists.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import scripts from '../../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '../..');
const doc = readFileSync(resolve(ROOT, 'docs/internals/sync.md'), 'utf8');
const invariants = doc.slice(doc.indexOf('## What holds'), doc.indexOf('## Against a real WordPress'));

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const pattern = (title: string, gap: RegExp): RegExp =>
  new RegExp(`^${title.split(gap).map(escapeRegExp).join('.*')}$`);

/** Titles in the source of a test file; `${...}` matches anything. */
function titlesIn(path: string): string[] {
  const source = readFileSync(path, 'utf8');
  return [...source.matchAll(/\b(?:it|describe)\(\s*(['"`])(.*?)\1\s*,/gs)].map(([, , title = '']) => title);
}

const hasTitle = (titles: string[], cited: string): boolean =>
  titles.some(
    (title) => pattern(cited, /…/).test(title) || pattern(title, /\$\{[^}]*\}/).test(cited.replaceAll('…', 'any')),
  );

interface Citation {
  number: number;
  file: string;
  title: string;
}

/** `12. ... *file.test: "title", "title"; other.test: "title"*` */
function citations(): Citation[] {
  return invariants.split(/^(?=\d+\. )/m).flatMap((invariant) => {
    const number = Number.parseInt(invariant, 10);
    return [...invariant.replace(/\s+/g, ' ').matchAll(/([\w/-]+\.test): ((?:"[^"]*"(?:, )?)+)/g)].flatMap(
      ([, file = '', titles = '']) =>
        [...titles.matchAll(/"([^"]*)"/g)].map(([, title = '']) => ({ number, file, title })),
    );
  });
}

describe('docs/internals/sync.md', () => {
  const all = citations();

  it('numbers its invariants, and cites a test for each', () => {
    const numbers = [...invariants.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    expect([...new Set(all.map(({ number }) => number))]).to.deep.equal(numbers);
  });

  for (const { number, file, title } of all) {
    it(`invariant ${number}: ${file} has "${title}"`, () => {
      const path = resolve(ROOT, `${file.includes('/') ? '' : 'test/sync/'}${file}.ts`);
      expect(existsSync(path), path).to.equal(true);
      expect(hasTitle(titlesIn(path), title)).to.equal(true);
    });
  }

  it('names existing npm scripts', () => {
    for (const [, script = ''] of doc.matchAll(/`npm run ([\w:]+)/g)) expect(scripts.scripts).to.have.property(script);
  });
});
