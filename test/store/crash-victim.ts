// The process that is killed: syncs the site at argv[2] into the file argv[3], and writes to the site as the
// gateway does.

import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { Replica } from '../../src/store/replica.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import { Sync } from '../../src/sync/sync.ts';
import { SERVICE } from '../cms/fake-cms.ts';
import { mapping } from '../sync/test-site.ts';

const [url = '', file = ''] = process.argv.slice(2);
const cms = createWordPress({ url, observe: () => undefined });
const replica = new Replica({ file, identity: 'crash' });
const sync = new Sync({
  replica,
  cms,
  mapping,
  intervalMs: 40,
  nowMs: Date.now,
  scanIntervalMs: 1_000,
  pageSize: 20,
  observe: () => undefined,
});
if (replica.quarantined !== undefined) process.send?.({ quarantined: replica.quarantined });
sync.start();
process.send?.({ started: true });

const events = collectionsOf(mapping).find(({ kind }) => kind === 'event');

/** Creates an event as a request does: first in the CMS, then the sync fetches it. */
async function write(): Promise<void> {
  if (!events) return;
  const body = { title: `Written by ${process.pid}` };
  const { id } = await cms.create(events, { ...body, status: 'publish' }, { credentials: SERVICE });
  await sync.fetchWritten([{ kind: 'event', id: Number(id) }]);
}

process.on('message', async (message) => {
  if (message === 'state') process.send?.({ state: sync.status() });
  if (message === 'stop-writing') clearInterval(writeTimer);
  if (message !== 'stop') return;
  await sync.stop();
  await cms.close();
  replica.close();
  process.send?.({ stopped: true }, () => process.disconnect());
});
process.on('disconnect', () => process.exit(0));
const writeTimer = setInterval(() => {
  if (sync.status().complete) write().catch(() => undefined);
}, 60);
