// The list of protecting lines fits the sources, so that `node test/faults/without.ts` can take each of them out.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CLUSTER_PROTECTIONS } from '../cluster/protections.ts';
import { PROTECTIONS } from './protections.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the list of protecting lines', () => {
  it('names lines that occur once in their file, and tests that there are', () => {
    const all = [...PROTECTIONS, ...CLUSTER_PROTECTIONS];
    const wrong = all.filter(({ file, line, test }) => {
      const times = readFileSync(join(ROOT, file), 'utf8').split(line).length - 1;
      return times !== 1 || !existsSync(join(ROOT, test));
    });
    expect(wrong.map(({ what, file, line }) => `${what}: ${file}: ${line}`)).to.deep.equal([]);
  });
});
