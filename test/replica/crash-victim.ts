// The process that is killed: copies the site at argv[2] into the file argv[3], and writes to it now and then as the gateway does.

import { collectionsOf } from '../../src/replica/collections.ts';
import { openReplica } from '../../src/replica/store.ts';
import { createSync } from '../../src/replica/sync.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';
import { SERVICE } from './fake-wordpress.ts';
import { mapping } from './sync-site.ts';

const [url = '', file = ''] = process.argv.slice(2);
const upstream = createWordPress({ url, observe: () => undefined });
const replica = openReplica({ file, identity: 'crash' });
const sync = createSync({
  ...{ replica, upstream, mapping, service: SERVICE, intervalMs: 40, passMs: 1_000, pageSize: 20 },
  observe: () => undefined,
});
if (replica.setAside !== undefined) process.send?.({ setAside: replica.setAside });
sync.start();
process.send?.({ started: true });

const events = collectionsOf(mapping, SERVICE).find(({ kind }) => kind === 'event');

/** As the calendar: the CMS first, then the copy. */
async function write(): Promise<void> {
  const native = await upstream.create('events', { title: `Ours ${process.pid}` }, { credentials: SERVICE });
  const record = events?.read(native, sync.site());
  if (!record) return;
  replica.put([record]);
  sync.wrote('event', record.id);
}

process.on('message', async (message) => {
  if (message === 'state') process.send?.({ state: sync.status() });
  if (message === 'quiet') clearInterval(writing);
  if (message !== 'end') return;
  await sync.stop();
  await upstream.close();
  replica.close();
  process.send?.({ ended: true }, () => process.disconnect());
});
process.on('disconnect', () => process.exit(0));
const writing = setInterval(() => {
  if (sync.status().complete) write().catch(() => undefined);
}, 60);
