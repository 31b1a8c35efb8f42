// Tests of the replica's file: what survives a restart, and what is quarantined.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { ConfigError } from '../../src/errors.ts';
import { FIELDS } from '../../src/interface/fields.ts';
import { listEvents } from '../../src/store/list-events.ts';
import { termCount } from '../../src/store/lists.ts';
import { getRecord } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { formatOf, REPLICA_FORMAT, TABLES } from '../../src/store/schema.ts';
import { getState, setState } from '../../src/store/state.ts';
import { integrityErrors, upsert } from './changes.ts';
import { recordCounts } from './record-counts.ts';
import { event, image, term } from './sample-records.ts';

const listed = (replica: Replica) => listEvents(replica.db, { order: 'start', limit: 100, offset: 0 });

describe('the file of the replica', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'replica-'));
    file = join(folder, 'deep', 'replica.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function filled(identity = 'site') {
    const stored = new Replica({ file, identity });
    upsert(stored, [event(1, { categories: [4] }), term('category', 4)], [image(9)]);
    setState(stored.db, 'watermark', '2026');
    stored.close();
  }

  it('keeps everything over a restart', () => {
    filled();
    const stored = new Replica({ file, identity: 'site' });
    expect(stored.quarantined).to.equal(undefined);
    expect(getRecord(stored.db, 'event', 1)).to.deep.equal(event(1, { categories: [4] }));
    expect(termCount(stored.db, 'category', 4)).to.equal(1);
    expect(getState(stored.db, 'watermark')).to.equal('2026');
    stored.close();
  });

  const rejected: [string, RegExp, () => void][] = [
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
      'that is not a replica',
      /not a replica/,
      () => {
        filled();
        const db = new DatabaseSync(file);
        db.exec('PRAGMA application_id = 1');
        db.close();
      },
    ],
    [
      'whose journal has an overwritten page',
      /damaged/,
      () => {
        filled();
        const db = new DatabaseSync(file);
        const { page } = db.prepare("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'journal_epoch'").get()!;
        db.close();
        const content = readFileSync(file);
        content.fill(0xa5, (Number(page) - 1) * 4096, Number(page) * 4096);
        writeFileSync(file, content);
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
      'cut short',
      /damaged/,
      () => {
        filled();
        truncateSync(file, statSync(file).size - 8192);
      },
    ],
  ];
  it('has another version with a column or a field more', () => {
    const column = TABLES.replace('slug TEXT NOT NULL', 'slug TEXT NOT NULL, shelf TEXT');
    const fields = { ...FIELDS, tag: { ...FIELDS.tag, shelf: { ...FIELDS.tag.name!, property: 'shelf' } } };
    expect([formatOf(column, FIELDS), formatOf(TABLES, fields)]).to.not.include(REPLICA_FORMAT);
    expect(formatOf(TABLES, FIELDS)).to.equal(REPLICA_FORMAT);
  });

  for (const [what, reason, make] of rejected) {
    it(`${what} is quarantined, and a new one created`, () => {
      make();
      const stored = new Replica({ file, identity: 'site' });
      expect(stored.quarantined).to.match(reason);
      expect(recordCounts(stored.db).event).to.equal(0);
      expect(getState(stored.db, 'watermark')).to.equal(undefined);
      expect(existsSync(`${file}.quarantined`)).to.equal(true);
      expect(upsert(stored, [event(1)])).to.equal(1);
      expect(integrityErrors(stored)).to.deep.equal([]);
      stored.close();
      const reopened = new Replica({ file, identity: 'site' });
      expect(reopened.quarantined).to.equal(undefined);
      expect(recordCounts(reopened.db).event).to.equal(1);
      reopened.close();
    });
  }

  it('in use by another process is not touched', () => {
    const stored = new Replica({ file, identity: 'site' });
    upsert(stored, [event(1)]);
    expect(() => new Replica({ file, identity: 'elsewhere' })).to.throw(ConfigError, 'in use by another process');
    expect(listed(stored).total).to.equal(1);
    stored.close();
  });

  it('is intact after a process was killed while writing', async function () {
    this.timeout(60_000);
    const script = `
      const { Replica } = await import(${JSON.stringify(new URL('../../src/store/replica.ts', import.meta.url).href)});
      const { recordCounts } = await import(${JSON.stringify(new URL('./record-counts.ts', import.meta.url).href)});
      const { event } = await import(${JSON.stringify(new URL('./sample-records.ts', import.meta.url).href)});
      const stored = new Replica({ file: ${JSON.stringify(file)}, identity: 'site' });
      for (let n = recordCounts(stored.db).event; ; n += 10) {
        const more = (i) => ({ categories: [1 + (i % 3)], searchText: 'word ' + n });
        stored.apply({ upserts: Array.from({ length: 10 }, (_, i) => event(n + i + 1, more(i))) });
        if (n % 100 === 0) process.stdout.write('.');
      }`;
    let before = 0;
    for (let kill = 0; kill < 3; kill += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exit = once(child, 'exit');
      // A child that survives a failure would keep the tests running.
      const timeout = setTimeout(() => child.kill('SIGKILL'), 30_000);
      await Promise.race([once(child.stdout, 'data'), exit]);
      // Each kill comes later than the one before, and so at another moment of a write.
      await new Promise((resolve) => setTimeout(resolve, 40 * kill));
      child.kill('SIGKILL');
      await exit;
      clearTimeout(timeout);
      const stored = new Replica({ file, identity: 'site' });
      expect(stored.quarantined).to.equal(undefined);
      expect(integrityErrors(stored)).to.deep.equal([]);
      const { event: events } = recordCounts(stored.db);
      expect(events).to.be.greaterThan(before);
      expect(events % 10).to.equal(0);
      expect(listed(stored).total).to.equal(events);
      const counts = [1, 2, 3].map((id) => termCount(stored.db, 'category', id));
      expect(counts).to.deep.equal([4, 3, 3].map((share) => (share * events) / 10));
      before = events;
      stored.close();
    }
  });
});
