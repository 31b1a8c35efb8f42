// The process whose files must not grow: syncs a site into argv[2] until nothing more can be written, then
// reports what lists return.

import { listEvents } from '../../src/store/list-events.ts';
import { getRecords } from '../../src/store/records.ts';
import { testSite } from '../sync/test-site.ts';
import { integrityErrors } from './changes.ts';

const site = testSite({ file: process.argv[2] ?? '', pageSize: 100 });
const { cms, replica, sync } = site;
const list = () =>
  listEvents(replica.db, {
    order: 'start',
    limit: 10,
    offset: 0,
    words: [{ text: 'lecture', not: false }],
  });
const lecture = (n: number) => ({ title: `Lecture ${n} ${'on some subject '.repeat(40)}` });

for (let n = 0; n < 100; n += 1) cms.createPost('events', lecture(n));
sync.start();
await site.settle();
const before = list().total;
let after = before;
while (sync.status().state === 'live' && after < 100_000) {
  after = list().total;
  for (let n = 0; n < 200; n += 1) cms.createPost('events', lecture(n));
  await site.poll();
}
const { state, complete, reason } = sync.status();
const { total, ids } = list();
const records = getRecords(replica.db, 'event', ids).size;
process.stdout.write(
  JSON.stringify({ before, after, total, records, state, complete, reason, errors: integrityErrors(replica) }),
);
await site.close();
