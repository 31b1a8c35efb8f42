// The process whose files must not grow: copies a site into argv[2], goes on until nothing more can be written, and tells what is left.

import { PUBLIC } from '../../src/replica/filters.ts';
import { testSite } from './sync-site.ts';

const site = testSite({ file: process.argv[2] ?? '', pageSize: 100 });
const { cms, replica, sync } = site;
const listed = () =>
  replica.events({
    visibility: PUBLIC,
    order: 'start',
    limit: 10,
    offset: 0,
    words: [{ text: 'lecture', not: false }],
  });
const lecture = (n: number) => ({ title: `Lecture ${n} ${'on something else '.repeat(40)}` });

for (let n = 0; n < 100; n += 1) cms.create('events', lecture(n));
sync.start();
await site.settle();
const before = listed().total;
let after = before;
while (sync.status().state === 'live' && after < 100_000) {
  after = listed().total;
  for (let n = 0; n < 200; n += 1) cms.create('events', lecture(n));
  await site.look();
}
const { state, complete, reason } = sync.status();
const { total, ids } = listed();
const read = replica.getMany('event', ids).size;
process.stdout.write(
  JSON.stringify({ before, after, total, read, state, complete, reason, broken: replica.integrityCheck() }),
);
await site.close();
