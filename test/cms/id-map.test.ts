// The numbers of records whose own ids are texts.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IdMap } from '../../src/cms/id-map.ts';
import { ConfigError, ReplicaError } from '../../src/errors.ts';

const A = '018f4f3e-0000-7000-8000-00000000000a';
const B = '018f4f3e-0000-7000-8000-00000000000b';

describe('the id map', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-ids-'));
    file = join(dir, 'calendar.sqlite.ids');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('gives a text id its number on first sight, one sequence for all spaces', () => {
    const map = new IdMap(file);
    expect(map.isUsed()).to.equal(false);
    expect([map.numberOf('event', A), map.numberOf('venue', A), map.numberOf('event', B)]).to.deep.equal([1, 2, 3]);
    expect([map.numberOf('event', A), map.isUsed()]).to.deep.equal([1, true]);
    expect([map.cmsIdOf('event', 3), map.cmsIdOf('venue', 3), map.cmsIdOf('event', 4)]).to.deep.equal([
      ...[B, undefined, undefined],
    ]);
    map.close();
  });

  it('keeps the numbers and its id when the process starts again', () => {
    const first = new IdMap(file);
    first.batch(() => [first.numberOf('event', A), first.numberOf('event', B)]);
    first.close();
    const second = new IdMap(file);
    expect(second.isUsed()).to.equal(true);
    expect(second.mapId).to.equal(first.mapId).and.to.be.above(0);
    expect(second.cmsIdOf('event', 2)).to.equal(B);
    expect(second.numberOf('venue', B)).to.equal(3);
    second.close();
    const other = new IdMap();
    expect(other.mapId).to.not.equal(first.mapId);
    other.close();
  });

  it('keeps the numbers that a failed batch allocated, because others may have seen them', () => {
    const map = new IdMap(file);
    expect(() =>
      map.batch(() => {
        map.numberOf('event', A);
        throw new Error('a response without an id');
      }),
    ).to.throw('a response without an id');
    expect(map.cmsIdOf('event', 1)).to.equal(A);
    map.close();
  });

  it('gives no number to an id that another process inserts at the same moment', () => {
    const other = new IdMap(file);
    const map = new IdMap(file, () => other.numberOf('event', A));
    expect(() => map.numberOf('event', A)).to.throw(/UNIQUE constraint failed/);
    expect([map.numberOf('event', A), map.numberOf('event', B)]).to.deep.equal([1, 2]);
    for (const each of [map, other]) each.close();
  });

  it('is readable for its owner only, and prevents the start if its file is damaged', () => {
    new IdMap(file).close();
    expect(statSync(file).mode & 0o077).to.equal(0);
    writeFileSync(file, 'no database'.repeat(1000));
    const reason = `${file}: is damaged: file is not a database\n  Restore it from a backup`;
    expect(() => new IdMap(file)).to.throw(ConfigError, reason);
    expect(() => new IdMap(file)).to.throw(ConfigError, /every record gets another id/);
  });

  it('is named by its errors, as those of the replica are of the same class', () => {
    const map = new IdMap(file);
    map.close();
    expect(() => map.numberOf('event', A)).to.throw(ReplicaError, /^the id map: /);
  });
});
