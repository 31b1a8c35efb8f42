// The change journal: a copy that follows it equals the public lists, and learns nothing else.

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { CalendarRecord, Kind } from '../../src/model/records.ts';
import { type JournalEntry, type JournalPosition, MAX_CHANGES } from '../../src/store/change-journal.ts';
import { getRecord } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { runs } from './arbitrary-lists.ts';
import { remove, upsert } from './changes.ts';
import { anyEvent, anyLinked, anyTerm, event, image, term, venue } from './sample-records.ts';

const isPublic = (record: CalendarRecord): boolean =>
  !('status' in record) ||
  (record.status === 'publish' && !record.protected && !(record.kind === 'event' && record.hidden));
const keyOf = ({ kind, id }: { kind: Kind; id: number }) => `${kind} ${id}`;

/** All changes after a position, in pages. */
const PAGE = 3;

function changesSince(replica: Replica, position: JournalPosition, limit = PAGE) {
  const entries: JournalEntry[] = [];
  let next = position;
  for (let hasMore = true; hasMore; ) {
    const page = replica.journal.since(next, limit)!;
    expect(page.entries.length).to.be.at.most(limit);
    entries.push(...page.entries);
    ({ next, hasMore } = page);
  }
  return { entries, next };
}

const texts = (entries: JournalEntry[]) => entries.map(({ kind, id, change }) => `${kind} ${id} ${change}`);

const write = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 6 }).chain((id) => anyEvent(id)) },
  { weight: 2, arbitrary: fc.integer({ min: 11, max: 13 }).chain((id) => anyLinked('venue', id)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }).chain((id) => anyTerm('tag', id)) },
);
const deletion = fc.constantFrom(
  ...[1, 2, 3, 4].map((id) => ({ delete: 'event' as Kind, id })),
  { delete: 'venue' as Kind, id: 11 },
  { delete: 'tag' as Kind, id: 1 },
);
const steps = fc.array(fc.oneof({ weight: 5, arbitrary: write }, { weight: 2, arbitrary: deletion }), {
  minLength: 1,
  maxLength: 12,
});

describe('the change journal', () => {
  it('lets a reader who reads it now and then keep a copy that equals the public records', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 6 }), (reads) => {
        const replica = new Replica({ identity: 'test' });
        const stored = new Map<string, CalendarRecord>();
        const copy = new Map<string, string>();
        let position = replica.journal.head();
        for (const read of reads) {
          /** Records that were not public at some time since the last read. */
          const left = new Set<string>();
          for (const step of read) {
            if ('delete' in step) {
              remove(replica, step.delete, [step.id]);
              stored.delete(keyOf({ kind: step.delete, id: step.id }));
              left.add(keyOf({ kind: step.delete, id: step.id }));
            } else {
              upsert(replica, [step]);
              stored.set(keyOf(step), step);
              if (!isPublic(step)) left.add(keyOf(step));
            }
          }
          const { entries, next } = changesSince(replica, position);
          position = next;
          expect(new Set(entries.map(keyOf)).size).to.equal(entries.length);
          for (const [n, entry] of entries.entries()) {
            const isNew = !copy.has(keyOf(entry)) || left.has(keyOf(entry));
            if (entry.change === 'created') expect(isNew, keyOf(entry)).to.equal(true);
            // A record that was created and edited may be on a later page: after the token of that page it was edited.
            if (entry.change === 'updated' && n < PAGE) expect(copy.has(keyOf(entry)), keyOf(entry)).to.equal(true);
            if (entry.change === 'deleted') copy.delete(keyOf(entry));
            else copy.set(keyOf(entry), JSON.stringify(getRecord(replica.db, entry.kind, entry.id)));
          }
          const expected = [...stored].filter(([, record]) => isPublic(record));
          expect([...copy].sort()).to.deep.equal(
            expected
              .map(([key, record]) => [key, JSON.stringify(getRecord(replica.db, record.kind, record.id))])
              .sort(),
          );
        }
        replica.close();
      }),
      runs(150),
    );
  });

  describe('of one replica', () => {
    let replica: Replica;
    let start: JournalPosition;
    beforeEach(() => {
      replica = new Replica({ identity: 'test' });
      upsert(replica, [event(1), venue(3), term('tag', 4)]);
      start = replica.journal.head();
    });
    afterEach(() => replica.close());
    const since = () => texts(changesSince(replica, start).entries);

    it('reports what leaves public view as deleted', () => {
      for (const change of [{ hidden: true }, { protected: true }]) {
        upsert(replica, [event(1, change)]);
        expect(since(), JSON.stringify(change)).to.deep.equal(['event 1 deleted']);
        upsert(replica, [event(1)]);
      }
      upsert(replica, [venue(3, { protected: true })]);
      remove(replica, 'event', [1]);
      remove(replica, 'tag', [4]);
      expect(since()).to.deep.equal(['venue 3 deleted', 'event 1 deleted', 'tag 4 deleted']);
    });

    it('has no entry for a record that was never public, and its head stays the same', () => {
      upsert(replica, [event(6, { protected: true }), event(7, { hidden: true })]);
      remove(replica, 'event', [6, 7]);
      expect(since()).to.deep.equal([]);
      expect(replica.journal.head()).to.deep.equal(start);
    });

    it('has no entry for records that are written again without a change, as by a scan', () => {
      upsert(replica, [event(1), venue(3), term('tag', 4)], [image(9)]);
      expect(since()).to.deep.equal([]);
    });

    it('reports a changed image as a change of the public records that show it', () => {
      upsert(replica, [event(1, { image: 9 }), event(2, { hidden: true, image: 9 })], [image(9)]);
      start = replica.journal.head();
      upsert(replica, [], [image(9, { width: 20 })]);
      expect(since()).to.deep.equal(['event 1 updated']);
    });

    it('does not know positions of other replicas, or positions that it has not reached', () => {
      const other = new Replica({ identity: 'test' });
      expect(replica.journal.since(other.journal.head(), 9)).to.equal(undefined);
      expect(replica.journal.since({ ...start, number: start.number + 1 }, 9)).to.equal(undefined);
      other.close();
    });

    it('remembers the latest changes, and does not know positions before them', () => {
      const write = (from: number, count: number) =>
        upsert(
          replica,
          Array.from({ length: count }, (_, n) => term('tag', from + n)),
        );
      write(100, 500);
      const kept = replica.journal.head();
      write(1000, MAX_CHANGES - 1);
      expect(changesSince(replica, kept, 1000).entries).to.have.length(MAX_CHANGES - 1);
      write(200_000, 2000);
      expect(replica.journal.since(kept, 9)).to.equal(undefined);
      expect(replica.journal.since(start, 9)).to.equal(undefined);
      const { next } = replica.journal.since(replica.journal.head(), 9)!;
      upsert(replica, [term('tag', 100, { name: 'Changed' })]);
      expect(texts(changesSince(replica, next).entries)).to.deep.equal(['tag 100 updated']);
    }).timeout(60_000);

    it('forgets everything in the initial sync, which replaces all records', () => {
      replica.beginInitialSync();
      upsert(replica, [event(1, { title: 'New' }), event(8)]);
      replica.endInitialSync();
      expect(replica.journal.since(start, 9)).to.equal(undefined);
      start = replica.journal.head();
      upsert(replica, [event(8, { title: 'Newer' })]);
      expect(since()).to.deep.equal(['event 8 updated']);
    });
  });

  describe('of a file', () => {
    let dir: string;
    let file: string;
    let replica: Replica;
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), 'calendar-journal-'));
      file = join(dir, 'replica.sqlite');
      replica = new Replica({ identity: 'test', file });
    });
    afterEach(() => {
      replica.close();
      rmSync(dir, { recursive: true });
    });
    function reopen(from = file) {
      replica.close();
      if (from !== file) copyFileSync(from, file);
      replica = new Replica({ identity: 'test', file });
    }

    it('continues after a restart', () => {
      const start = replica.journal.head();
      upsert(replica, [event(1)]);
      reopen();
      upsert(replica, [event(2)]);
      expect(texts(changesSince(replica, start).entries)).to.deep.equal(['event 1 created', 'event 2 created']);
    });

    it('does not know positions that are newer than the backup it was restored from, even after as many new changes', () => {
      upsert(replica, [event(1)]);
      const before = replica.journal.head();
      replica.close();
      const backup = join(dir, 'backup.sqlite');
      copyFileSync(file, backup);
      reopen();
      const start = replica.journal.head();
      upsert(replica, [event(2), event(3)]);
      const lost = [start, replica.journal.since(start, 1)!.next, replica.journal.head()];
      reopen(backup);
      upsert(replica, [event(4), event(5), event(6)]);
      reopen();
      upsert(replica, [event(7)]);
      for (const position of lost) expect(replica.journal.since(position, 9)).to.equal(undefined);
      expect(changesSince(replica, before).entries.map(({ id }) => id)).to.deep.equal([4, 5, 6, 7]);
    });

    it('does not know positions of changes that a crash of the machine lost', () => {
      const kept = replica.journal.head();
      reopen();
      const taken = { ...kept, number: kept.number + 1 };
      upsert(replica, [event(3), event(4)]);
      expect(replica.journal.since(taken, 9)).to.equal(undefined);
      expect(texts(changesSince(replica, kept).entries)).to.deep.equal(['event 3 created', 'event 4 created']);
    });

    describe('from another replica', () => {
      let nowS: number;
      const elsewhere = (scanS: number) => ({ epoch: 'another-file', number: 7, scanS });
      const idsSince = (scanS: number) => replica.journal.since(elsewhere(scanS), 9)?.entries.map(({ id }) => id);

      beforeEach(() => {
        nowS = 100;
        replica.journal.setClock(() => nowS);
        replica.beginInitialSync();
        upsert(replica, [event(3)]);
        replica.endInitialSync();
      });

      it('continue with what was noticed since the scan of the other one began', () => {
        for (const [second, id] of [
          [110, 4],
          [120, 5],
          [130, 6],
        ] as const) {
          nowS = second;
          upsert(replica, [event(id)]);
        }
        expect(idsSince(100)).to.deep.equal([4, 5, 6]);
        expect(idsSince(120)).to.deep.equal([5, 6]);
        expect(idsSince(121)).to.deep.equal([6]);
        expect(idsSince(131)).to.deep.equal([]);
      });

      it('are not known if the journal is younger than the scan, or no scan is known', () => {
        upsert(replica, [event(4)]);
        expect(idsSince(99)).to.equal(undefined);
        expect(idsSince(0)).to.equal(undefined);
      });

      it('name the scan before each change, so that a reader of half a page misses nothing elsewhere', () => {
        const { journal } = replica;
        const before = journal.head();
        upsert(replica, [event(4)]);
        journal.noteScan(150);
        upsert(replica, [event(5)]);
        expect(journal.since(before, 1)?.next.scanS).to.equal(0);
        expect(journal.since(before, 9)?.next.scanS).to.equal(150);
      });

      it('survive a restart', () => {
        nowS = 110;
        upsert(replica, [event(4)]);
        replica.journal.noteScan(105);
        reopen();
        expect(idsSince(105)).to.deep.equal([4]);
        expect(replica.journal.head().scanS).to.equal(105);
      });
    });
  });
});
