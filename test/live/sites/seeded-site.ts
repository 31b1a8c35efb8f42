// A site for the transcripts: the post types and data of a plugin, and nothing of the gateway.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTED_MAPPING, writeDocumentedMapping } from './documented-mapping.ts';
import { eventSample, organizerSample, venueSample } from './samples.ts';
import { type Json, startTestSite, type TestSite } from './test-site.ts';

/** Starts the site of a mapping with some events; the site of `wordpress-meta` has none. */
export async function startSeededSite(name: string): Promise<TestSite> {
  const mapping = name === DOCUMENTED_MAPPING ? writeDocumentedMapping() : name;
  const site = await startTestSite(mapping, name);
  if (!site.mapping.kinds.event.readOnly && name !== 'wordpress-meta') await createSampleEvents(site);
  await site.gateway.stop();
  const root = documentRootOf(site);
  rmSync(join(root, 'wp-content/mu-plugins/calendar-gateway-companion.php'), { force: true });
  // `init` recognizes a site by the folder of its plugin too.
  const folder = site.mapping.source.preset?.wordpress?.plugins?.[0]?.replace('*', '');
  if (folder !== undefined) await activatePlugin(site, folder);
  return site;
}

export const documentRootOf = ({ sandbox }: TestSite): string => join(sandbox.dataDir, 'wordpress');

async function activatePlugin(site: TestSite, folder: string): Promise<void> {
  const home = join(documentRootOf(site), 'wp-content/plugins', folder);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, `${folder}.php`), `<?php\n// Plugin Name: ${folder}\n`);
  await site.sandbox.wp(['plugin', 'activate', folder]);
}

/** Creates events through a gateway with the site's mapping. */
async function createSampleEvents(site: TestSite): Promise<void> {
  const { kinds } = site.mapping;
  const canWrite = (key: string): boolean => (kinds.event.writable as ReadonlySet<string>).has(key);
  const links: Json = {
    ...(kinds.venue ? { venue: (await site.create('venues', venueSample(site.mapping))).id } : {}),
    ...(kinds.organizer ? { organizer: (await site.create('organizers', organizerSample(site.mapping))).id } : {}),
    ...(kinds.category ? { categories: [(await site.create('categories', { name: 'Music' })).id] } : {}),
    ...(kinds.tag ? { tags: [(await site.create('tags', { name: 'open air' })).id] } : {}),
  };
  const { slug, ...concert } = eventSample(site.mapping);
  await site.create('events', { ...concert, ...links });
  await site.create('events', {
    title: 'Village fair',
    start_date: '2031-06-12 10:00:00',
    end_date: '2031-06-12 18:00:00',
    ...(canWrite('allDay') ? { all_day: true } : {}),
    ...(canWrite('cost') ? { cost: 'Free' } : {}),
    ...(kinds.venue ? { venue: { venue: 'Old Mill' } } : {}),
  });
  await site.create('events', {
    title: 'Reading',
    start_date: '2031-07-03 19:00:00',
    end_date: '2031-07-03 20:30:00',
    ...links,
  });
}
