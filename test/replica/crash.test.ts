// What a kill and a full disk leave. `npm run test:crash` kills more often.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { openReplica } from '../../src/replica/store.ts';
import { killOften } from './crash.ts';
import { event } from './samples.ts';

describe('a copy', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'copy-'));
    file = join(folder, 'calendar.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is whole after each of five kills, and equals the CMS in the end', async () => {
    const { kills } = await killOften({ kills: 5, seed: 4 });
    expect(kills).to.equal(5);
  }).timeout(120_000);

  it('goes on answering when the disk is full, and is whole on it', async () => {
    const script = fileURLToPath(new URL('./full-disk.ts', import.meta.url));
    // A limit on the size of files, in blocks: what would kill the process is to fail as on a full disk.
    const limited = `trap '' XFSZ; ulimit -f 12288; exec "$0" "$@"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script, file]);
    const { before, after, total, read, state, complete, reason, broken } = JSON.parse(stdout);
    expect({ before, read, complete, broken }).to.deep.equal({ before: 100, read: 10, complete: true, broken: [] });
    expect(state).to.be.oneOf(['lagging', 'away']);
    expect(reason).to.match(/disk/);
    expect(total).to.be.least(after).and.greaterThan(before);
    const copy = openReplica({ file, identity: 'test' });
    expect(copy.setAside).to.equal(undefined);
    expect(copy.integrityCheck()).to.deep.equal([]);
    expect(copy.counts().event).to.equal(total);
    copy.close();
  }).timeout(60_000);

  it('that did not wait for the disk is begun anew when the machine went down meanwhile, and only then', () => {
    const copy = openReplica({ file, identity: 'test' });
    copy.setDurable(false);
    copy.put([event(1)]);
    copy.close();
    const again = openReplica({ file, identity: 'test' });
    expect([again.setAside, again.counts().event]).to.deep.equal([undefined, 1]);
    again.close();
    const db = new DatabaseSync(file);
    const { changes } = db.prepare("UPDATE meta SET value = 'another run' WHERE key = 'hasty'").run();
    db.close();
    const later = openReplica({ file, identity: 'test' });
    // Where no run of the machine can be told from another, every change waits for the disk.
    expect(later.counts().event).to.equal(Number(changes) === 1 ? 0 : 1);
    if (Number(changes) === 1) expect(later.setAside).to.match(/machine went down/);
    later.setDurable(false);
    later.put([event(2)]);
    later.setDurable(true);
    later.close();
    const last = new DatabaseSync(file);
    expect(last.prepare("SELECT value FROM meta WHERE key = 'hasty'").all()).to.deep.equal([]);
    last.close();
  });
});
