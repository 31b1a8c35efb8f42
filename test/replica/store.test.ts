// Shows that the copy keeps what it was given, in memory and in its file, and which ready answers outlive a change.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import type { CalendarRecord } from '../../src/records.ts';
import { PUBLIC } from '../../src/replica/filters.ts';
import { openReplica, type Replica, ReplicaInUse } from '../../src/replica/store.ts';
import { event, image, organizer, term, venue } from './samples.ts';

const bytes = (text: string) => ({ bytes: Buffer.from(text), etag: `"${text}"` });
const listed = (replica: Replica) => replica.events({ visibility: PUBLIC, order: 'start', limit: 100, offset: 0 });

describe('replica/store', () => {
  let replica: Replica;
  beforeEach(() => {
    replica = openReplica({ identity: 'test' });
  });
  afterEach(() => replica.close());

  describe('records', () => {
    it('gives back what was put, of every kind', () => {
      const records: CalendarRecord[] = [
        event(1, { title: 'Łódź “2027”', venues: [2], categories: [4, 1], searchText: 'source' }),
        venue(2),
        organizer(3),
        term('category', 4),
        term('tag', 4),
      ];
      expect(replica.put(records, [image(9)])).to.equal(6);
      for (const record of records) expect(replica.get(record.kind, record.id)).to.deep.equal(record);
      expect(replica.image(9)).to.deep.equal(image(9));
      expect([...replica.getMany('event', [1, 2, 77]).keys()]).to.deep.equal([1]);
      expect([...replica.images([9, 10]).keys()]).to.deep.equal([9]);
      expect(replica.counts()).to.deep.equal({ event: 1, venue: 1, organizer: 1, category: 1, tag: 1 });
      expect(replica.integrityCheck()).to.deep.equal([]);
    });

    it('takes an equal record for no change, in whatever order its keys are', () => {
      replica.put([event(1), term('tag', 1)], [image(9)]);
      const { version } = replica;
      const turned = Object.fromEntries(Object.entries(event(1)).reverse()) as unknown as CalendarRecord;
      expect(replica.put([turned, term('tag', 1)], [image(9)])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(replica.put([event(1, { sticky: true }), term('tag', 1)])).to.equal(1);
      expect(replica.version).to.be.greaterThan(version);
    });

    it('removes what is there, and counts it', () => {
      replica.put([event(1, { tags: [5] }), venue(2), term('tag', 5)], [image(9)]);
      const { version } = replica;
      expect(replica.remove('event', [77])).to.equal(0);
      expect(replica.remove('venue', [1])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(replica.remove('event', [1, 77])).to.equal(1);
      expect(replica.remove('image', [9])).to.equal(1);
      expect(replica.get('event', 1)).to.equal(undefined);
      expect(replica.termCount('tag', 5)).to.equal(0);
      expect(listed(replica)).to.deep.equal({ ids: [], total: 0 });
      expect(replica.version).to.be.greaterThan(version);
    });

    it('knows one post by one id: another kind takes the place of the first', () => {
      replica.put([event(1, { tags: [5], searchText: 'jazz' })]);
      replica.put([venue(1)]);
      expect(replica.kindOf(1)).to.equal('venue');
      expect(replica.get('event', 1)).to.equal(undefined);
      expect(replica.termCount('tag', 5)).to.equal(0);
      expect(listed(replica).total).to.equal(0);
      replica.put([event(1)]);
      expect(replica.kindOf(1)).to.equal('event');
      expect(replica.linked('venue', { visibility: PUBLIC, events: PUBLIC, limit: 9, offset: 0 }).total).to.equal(0);
      expect(replica.counts().venue).to.equal(0);
    });

    it('keeps terms of two kinds with one id apart', () => {
      replica.put([term('category', 1, { name: 'One' }), term('tag', 1, { name: 'Two' }), event(5, { tags: [1] })]);
      expect(replica.get('category', 1)?.name).to.equal('One');
      expect(replica.get('tag', 1)?.name).to.equal('Two');
      expect(replica.termCount('category', 1)).to.equal(0);
      expect([...replica.termCounts('tag', [1, 2])]).to.deep.equal([
        [1, 1],
        [2, 0],
      ]);
    });

    it('finds by slug and by name', () => {
      replica.put([
        event(2, { slug: 'Jazz', status: 'draft' }),
        event(1, { slug: 'jazz' }),
        venue(3, { slug: 'jazz' }),
        term('category', 7, { slug: 'food-drink', name: 'Food &amp; Drink' }),
        term('category', 8, { slug: 'ete', name: 'Été' }),
      ]);
      expect(replica.bySlug('event', 'JAZZ')).to.deep.equal([1, 2]);
      expect(replica.bySlug('venue', 'jazz')).to.deep.equal([3]);
      expect(replica.bySlug('organizer', 'jazz')).to.deep.equal([]);
      expect(replica.termBySlug('category', 'Food-Drink')).to.equal(7);
      expect(replica.termByName('category', 'food & drink')).to.equal(7);
      expect(replica.termByName('category', 'ETE')).to.equal(8);
      expect(replica.termByName('tag', 'ETE')).to.equal(undefined);
    });

    it('lists ids to compare, in slices and by status', () => {
      replica.put([
        event(1),
        event(2, { status: 'draft', modifiedUtc: '2026-02-02 02:02:02' }),
        event(3),
        term('tag', 4),
      ]);
      const unpublished = { 11: 'future', 12: 'draft', 13: 'future', 14: 'trash', 15: 'draft' };
      replica.put(Object.entries(unpublished).map(([id, status]) => venue(Number(id), { status })));
      replica.put([venue(16), organizer(17, { status: 'draft' })]);
      const idsOf = (...how: Parameters<typeof replica.ids>) => replica.ids(...how).map(({ id }) => id);
      expect(idsOf('venue', { statuses: ['future', 'draft'] })).to.deep.equal([11, 12, 13, 15]);
      expect(idsOf('venue', { statuses: ['draft', 'future'], after: 11, limit: 2 })).to.deep.equal([12, 13]);
      expect(idsOf('venue', { statuses: ['publish', 'draft'] })).to.deep.equal([12, 15, 16]);
      expect(idsOf('venue', { statuses: [] })).to.deep.equal([]);
      expect(replica.ids('event').map(({ id }) => id)).to.deep.equal([1, 2, 3]);
      expect(replica.ids('event', { statuses: ['draft'] })).to.deep.equal([
        { id: 2, modifiedUtc: '2026-02-02 02:02:02', status: 'draft' },
      ]);
      expect(replica.ids('event', { after: 1, limit: 1 }).map(({ id }) => id)).to.deep.equal([2]);
      expect(replica.ids('tag')).to.deep.equal([{ id: 4, modifiedUtc: '', status: 'publish' }]);
    });

    it('knows which events show a record, and which images are missing', () => {
      replica.put(
        [
          event(1, { venues: [11], image: 91, hidden: true }),
          event(2, { organizers: [12], categories: [5], status: 'draft' }),
          event(3, { tags: [5] }),
          venue(11, { image: 92 }),
          organizer(12, { image: 93 }),
        ],
        [image(93)],
      );
      expect(replica.eventsWith('venue', 11)).to.deep.equal([1]);
      expect(replica.eventsWith('category', 5)).to.deep.equal([2]);
      expect(replica.eventsWith('tag', 5)).to.deep.equal([3]);
      expect(replica.eventsWith('image', 91)).to.deep.equal([1]);
      expect(replica.eventsWith('image', 92)).to.deep.equal([1]);
      expect(replica.eventsWith('image', 93)).to.deep.equal([2]);
      expect(replica.missingImages(10)).to.deep.equal([91, 92]);
      expect(replica.missingImages(1)).to.deep.equal([91]);
    });

    it('undoes a transaction that fails, with its state', () => {
      replica.put([event(1)]);
      const { version } = replica;
      expect(() =>
        replica.transaction(() => {
          replica.put([event(2), event(1, { title: 'x' })]);
          replica.setState('watermark', 'later');
          expect(listed(replica).total).to.equal(2);
          throw new Error('no');
        }),
      ).to.throw('no');
      expect(listed(replica)).to.deep.equal({ ids: [1], total: 1 });
      expect(replica.state('watermark')).to.equal(undefined);
      expect(replica.version).to.be.greaterThan(version);
    });
  });

  describe('ready answers', () => {
    const shown = event(1, { venues: [11], organizers: [12], categories: [5], tags: [6], image: 91 });
    const isReady = () => replica.answer('/a', 'event', 1) !== undefined;

    beforeEach(() => {
      const others = [venue(11, { image: 92 }), organizer(12), term('category', 5), term('tag', 6), event(2), event(3)];
      replica.put([shown, ...others], [image(91), image(92)]);
      replica.setAnswer('/a', shown, bytes('one'));
      replica.setAnswer('/b', shown, bytes('two'));
    });

    it('are kept per mount', () => {
      expect(replica.answer('/a', 'event', 1)?.etag).to.equal('"one"');
      expect(replica.answer('/b', 'event', 1)?.bytes.toString()).to.equal('two');
      expect(replica.answer('/c', 'event', 1)).to.equal(undefined);
      replica.dropAnswers();
      expect(isReady()).to.equal(false);
    });

    const changes: [string, () => unknown][] = [
      ['the record', () => replica.put([{ ...shown, title: 'x' }])],
      ['its removal', () => replica.remove('event', [1])],
      ['its venue', () => replica.put([venue(11, { image: 92, city: 'x' })])],
      ['the removal of its venue', () => replica.remove('venue', [11])],
      ['its organizer', () => replica.put([organizer(12, { email: 'x' })])],
      ['a category of it', () => replica.put([term('category', 5, { name: 'x' })])],
      ['the removal of a tag of it', () => replica.remove('tag', [6])],
      ['another published event in its category', () => replica.put([event(4, { categories: [5] })])],
      [
        'another event leaving its tag',
        () => {
          replica.put([event(3, { tags: [6] })]);
          replica.setAnswer('/a', shown, bytes('one'));
          expect(isReady()).to.equal(true);
          replica.put([event(3, { tags: [6], status: 'trash' })]);
        },
      ],
      ['its image', () => replica.put([], [image(91, { width: 11 })])],
      ['the image of its venue', () => replica.put([], [image(92, { width: 11 })])],
      ['the removal of its image', () => replica.remove('image', [91])],
    ];
    for (const [what, change] of changes) {
      it(`are dropped by ${what}`, () => {
        change();
        expect(isReady()).to.equal(false);
        expect(replica.answer('/b', 'event', 1)).to.equal(undefined);
      });
    }

    it('outlive changes of what they do not show', () => {
      replica.put(
        [event(2, { title: 'x' }), event(9, { status: 'draft', categories: [5] }), venue(13), term('tag', 7)],
        [image(94)],
      );
      replica.remove('event', [3]);
      expect(isReady()).to.equal(true);
    });

    it('come back when made anew after a change', () => {
      replica.put([venue(11, { city: 'x' })]);
      replica.setAnswer('/a', shown, bytes('new'));
      expect(replica.answer('/a', 'event', 1)?.etag).to.equal('"new"');
    });

    it('do not stay from a transaction that was undone', () => {
      const attempt = () =>
        replica.transaction(() => {
          replica.put([{ ...shown, title: 'x' }]);
          replica.setAnswer('/a', { ...shown, title: 'x' }, bytes('wrong'));
          throw new Error('no');
        });
      expect(attempt).to.throw('no');
      expect(isReady()).to.equal(false);
    });

    it('give way, the least used first, where memory ends', () => {
      const small = openReplica({ identity: 'test', answerBytes: 10_000 });
      for (let id = 1; id <= 100; id += 1) small.setAnswer('/a', event(id), bytes('x'.repeat(1000)));
      expect(small.answer('/a', 'event', 1)).to.equal(undefined);
      expect(small.answer('/a', 'event', 100)).to.not.equal(undefined);
      small.close();
    });
  });

  describe('a file', () => {
    let folder: string;
    let file: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'replica-'));
      file = join(folder, 'deep', 'copy.sqlite');
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    function filled(identity = 'site') {
      const copy = openReplica({ file, identity });
      copy.put([event(1, { categories: [4] }), term('category', 4)], [image(9)]);
      copy.setState('watermark', '2026');
      const { version } = copy;
      copy.close();
      return version;
    }

    it('is found again as it was left', () => {
      const version = filled();
      const copy = openReplica({ file, identity: 'site' });
      expect(copy.setAside).to.equal(undefined);
      expect(copy.version).to.equal(version);
      expect(copy.get('event', 1)).to.deep.equal(event(1, { categories: [4] }));
      expect(copy.termCount('category', 4)).to.equal(1);
      expect(copy.state('watermark')).to.equal('2026');
      copy.close();
    });

    const strangers: [string, RegExp, () => void][] = [
      ['of another site or mapping', /another site/, () => filled('elsewhere')],
      [
        'of another version',
        /another version/,
        () => {
          filled();
          const db = new DatabaseSync(file);
          db.exec('PRAGMA user_version = 9999');
          db.close();
        },
      ],
      [
        'that is no copy',
        /no copy/,
        () => {
          filled();
          const db = new DatabaseSync(file);
          db.exec('PRAGMA application_id = 1');
          db.close();
        },
      ],
      [
        'that is no database',
        /damaged/,
        () => {
          filled();
          writeFileSync(file, 'no database at all, but long enough to look like one');
        },
      ],
      [
        'with a page overwritten',
        /damaged/,
        () => {
          filled();
          const content = readFileSync(file);
          content.fill(0xa5, content.length - 4096 * 6, content.length - 4096);
          writeFileSync(file, content);
        },
      ],
      [
        'cut short',
        /damaged/,
        () => {
          filled();
          truncateSync(file, statSync(file).size - 8192);
        },
      ],
    ];
    for (const [what, reason, make] of strangers) {
      it(`${what} is set aside and a new one begun`, () => {
        make();
        const copy = openReplica({ file, identity: 'site' });
        expect(copy.setAside).to.match(reason);
        expect(copy.counts().event).to.equal(0);
        expect(copy.state('watermark')).to.equal(undefined);
        expect(existsSync(`${file}.aside`)).to.equal(true);
        expect(copy.put([event(1)])).to.equal(1);
        expect(copy.integrityCheck()).to.deep.equal([]);
        copy.close();
        const again = openReplica({ file, identity: 'site' });
        expect(again.setAside).to.equal(undefined);
        expect(again.counts().event).to.equal(1);
        again.close();
      });
    }

    it('in use by another process is left alone', () => {
      const copy = openReplica({ file, identity: 'site' });
      copy.put([event(1)]);
      expect(() => openReplica({ file, identity: 'elsewhere' })).to.throw(ReplicaInUse);
      expect(listed(copy).total).to.equal(1);
      copy.close();
    });

    it('is whole after a process was killed while writing', async function () {
      this.timeout(60_000);
      const script = `
        const { openReplica } = await import(${JSON.stringify(new URL('../../src/replica/store.ts', import.meta.url).href)});
        const { event } = await import(${JSON.stringify(new URL('./samples.ts', import.meta.url).href)});
        const copy = openReplica({ file: ${JSON.stringify(file)}, identity: 'site' });
        for (let n = copy.counts().event; ; n += 10) {
          copy.put(Array.from({ length: 10 }, (_, i) => event(n + i + 1, { categories: [1 + (i % 3)], searchText: 'word ' + n })));
          if (n % 100 === 0) process.stdout.write('.');
        }`;
      let before = 0;
      for (let round = 0; round < 3; round += 1) {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(child, 'exit');
        // It never ends by itself: left running by a failure, it would hold the tests open.
        const silence = setTimeout(() => child.kill('SIGKILL'), 30_000);
        await Promise.race([once(child.stdout, 'data'), ended]);
        await new Promise((resolve) => setTimeout(resolve, 40 * round));
        child.kill('SIGKILL');
        await ended;
        clearTimeout(silence);
        const copy = openReplica({ file, identity: 'site' });
        expect(copy.setAside).to.equal(undefined);
        expect(copy.integrityCheck()).to.deep.equal([]);
        const { event: events } = copy.counts();
        expect(events).to.be.greaterThan(before);
        expect(events % 10).to.equal(0);
        expect(listed(copy).total).to.equal(events);
        const counts = [...copy.termCounts('category', [1, 2, 3]).values()];
        expect(counts).to.deep.equal([4, 3, 3].map((share) => (share * events) / 10));
        before = events;
        copy.close();
      }
    });
  });
});
