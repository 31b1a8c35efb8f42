// Tests of the replica's file after kill -9, and on a full disk. `npm run
// test:crash` kills a hundred times, or CRASH_KILLS times; CRASH_SEED chooses when.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Replica } from '../../src/store/replica.ts';
import { integrityErrors } from './changes.ts';
import { killOften } from './crash.ts';
import { recordCounts } from './record-counts.ts';

describe('the file of the replica after a crash', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'replica-'));
    file = join(folder, 'calendar.sqlite');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const KILLS = Number(process.env.CRASH_KILLS ?? 5);
  it('is intact after each of many kills, and equals the CMS after the last', async () => {
    const result = await killOften({ kills: KILLS, seed: Number(process.env.CRASH_SEED ?? 4) });
    expect(result.kills, JSON.stringify(result)).to.equal(KILLS);
  }).timeout(60_000 + KILLS * 12_000);

  it('is intact on a full disk, and lists are still answered', async () => {
    const script = fileURLToPath(new URL('./full-disk.ts', import.meta.url));
    // A limit on the size of files, in blocks. The ignored signal would end the process; now writing fails as
    // on a full disk.
    const limited = `trap '' XFSZ; ulimit -f 12288; exec "$0" "$@"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script, file]);
    const { before, after, total, records, state, complete, reason, errors } = JSON.parse(stdout);
    expect({ before, records, complete, errors }).to.deep.equal({
      before: 100,
      records: 10,
      complete: true,
      errors: [],
    });
    expect(state).to.be.oneOf(['stale', 'unreachable']);
    expect(reason).to.match(/disk/);
    expect(total).to.be.least(after).and.greaterThan(before);
    const replica = new Replica({ file, identity: 'test' });
    expect(replica.quarantined).to.equal(undefined);
    expect(integrityErrors(replica)).to.deep.equal([]);
    expect(recordCounts(replica.db).event).to.equal(total);
    replica.close();
  }).timeout(60_000);
});
