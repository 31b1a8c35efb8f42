// Every test that docs/sync.md names as holding an invariant is there.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import scripts from '../../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '../..');
const doc = readFileSync(resolve(ROOT, 'docs/sync.md'), 'utf8');
const invariants = doc.slice(doc.indexOf('## What holds'), doc.indexOf('## Against a real WordPress'));

const plain = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const pattern = (title: string, gap: RegExp): RegExp =>
  new RegExp(
    `^${title
      .split(gap)
      .map((part) => plain(part))
      .join('.*')}$`,
  );

/** Titles of a test file as they are written there; `${...}` stands for anything. */
function titlesIn(path: string): string[] {
  const source = readFileSync(path, 'utf8');
  return [...source.matchAll(/\b(?:it|describe)\(\s*(['"`])(.*?)\1\s*,/gs)].map(([, , title = '']) => title);
}

const isTitled = (titles: string[], named: string): boolean =>
  titles.some(
    (title) => pattern(named, /…/).test(title) || pattern(title, /\$\{[^}]*\}/).test(named.replaceAll('…', 'any')),
  );

interface Named {
  number: number;
  file: string;
  title: string;
}

/** `12. ... *file.test: "title", "title"; other.test: "title"*` */
function named(): Named[] {
  return invariants.split(/^(?=\d+\. )/m).flatMap((invariant) => {
    const number = Number.parseInt(invariant, 10);
    return [...invariant.replace(/\s+/g, ' ').matchAll(/([\w/-]+\.test): ((?:"[^"]*"(?:, )?)+)/g)].flatMap(
      ([, file = '', titles = '']) =>
        [...titles.matchAll(/"([^"]*)"/g)].map(([, title = '']) => ({ number, file, title })),
    );
  });
}

describe('the page about the copy', () => {
  const all = named();

  it('numbers its invariants, and names a test for each', () => {
    const numbers = [...invariants.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    expect([...new Set(all.map(({ number }) => number))]).to.deep.equal(numbers);
  });

  for (const { number, file, title } of all) {
    it(`invariant ${number}: ${file} has "${title}"`, () => {
      const path = resolve(ROOT, `${file.includes('/') ? '' : 'test/replica/'}${file}.ts`);
      expect(existsSync(path), path).to.equal(true);
      expect(isTitled(titlesIn(path), title)).to.equal(true);
    });
  }

  it('names scripts that are there', () => {
    for (const [, script = ''] of doc.matchAll(/`npm run ([\w:]+)/g)) expect(scripts.scripts).to.have.property(script);
  });
});
