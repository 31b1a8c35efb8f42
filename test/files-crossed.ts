// Prints the files of src that run code during an uncached list, a create with an inline venue, and a poll that finds a change:
// `npm run bench:files`. V8's precise coverage counts; a file that is only loaded, or has types alone, does not count.

import { Session } from 'node:inspector/promises';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorization, startFakeWordPress } from './faults/fake-wordpress.ts';
import { startGateway } from './start-gateway.ts';

const SRC = resolve(import.meta.dirname, '../src');

const wordpress = await startFakeWordPress();
const gateway = await startGateway({
  cms: { url: wordpress.url.href },
  service: authorization('admin'),
  as: { editor: authorization('editor') },
});
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The files with a function that ran since the last call. The code of a module itself runs once, when it is loaded. */
async function takeFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith('file:') && fileURLToPath(url).startsWith(SRC))
    .filter(({ functions }) => functions.some(({ ranges: [range] }) => range!.startOffset > 0 && range!.count > 0))
    .map(({ url }) => relative(SRC, fileURLToPath(url)))
    .sort();
}

async function print(way: string, run: () => Promise<unknown>): Promise<void> {
  await takeFiles();
  await run();
  const files = await takeFiles();
  const folders = Map.groupBy(files, (file) => file.split('/').slice(0, -1).join('/') || '.');
  console.log(`${way}: ${files.length} files`);
  for (const [folder, names] of folders)
    console.log(`  ${folder} ${names.length}: ${names.map((name) => name.split('/').at(-1)).join(' ')}`);
}

async function expectStatus(status: number, path: string, request = {}): Promise<void> {
  const response = await gateway.request(path, request);
  if (response.status !== status) throw new Error(`${path}: ${response.status} ${response.text}`);
}

try {
  wordpress.cms.createTerm('event_categories', { id: 901, name: 'Music', slug: 'music' });
  wordpress.cms.edit(1, { terms: { event_categories: [901] } });
  await gateway.sync.fetchChanged([
    { collection: 'events', id: 1 },
    { collection: 'event_categories', id: 901 },
  ]);
  await gateway.sync.poll();
  await print('uncached list', () => expectStatus(200, '/events?categories=music&start_date=2000-01-01'));
  const event = {
    ...{ title: 'Concert', start_date: '2030-05-06 20:00:00', end_date: '2030-05-06 22:00:00' },
    venue: { venue: 'Town hall', city: 'Gullhaven' },
  };
  await print('create', () => expectStatus(201, '/events', { as: 'editor', json: event }));
  wordpress.cms.createPost('events', { title: 'Added in the CMS', meta: wordpress.posts.get(1)!.meta });
  await print('poll', () => gateway.sync.poll());
} finally {
  await gateway.stop();
  await wordpress.close();
}
