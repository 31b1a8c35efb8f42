// A site for the transcripts: set up as its plugin leaves it, with three events in it and nothing of the gateway.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill } from './read-only.ts';
import { eventSample, organizerSample, venueSample } from './samples.ts';
import { type Json, type SiteUnderTest, siteUnderTest } from './site-under-test.ts';
import { TWENTY_LINES, twentyLines } from './twenty-lines.ts';

/** Folders of the plugins that the sites stand for: by them a site is recognised, too. */
const PLUGINS: Readonly<Record<string, string>> = {
  acf: 'advanced-custom-fields',
  pods: 'pods',
  gatherpress: 'gatherpress',
  'wp-event-manager': 'wp-event-manager',
  'tribe-events-native': 'the-events-calendar',
  'events-manager': 'events-manager',
  'event-organiser': 'event-organiser',
  'modern-events-calendar': 'modern-events-calendar-lite',
  eventon: 'eventon-lite',
};

/** Starts the site of a mapping and fills it; for `wordpress-meta` there is nothing in it. */
export async function filledSite(name: string): Promise<SiteUnderTest> {
  const mapping = name === TWENTY_LINES ? twentyLines() : name;
  const site = await siteUnderTest(
    mapping,
    async (empty) => {
      if (empty.mapping.kinds.event.readOnly) await fill(empty);
    },
    name,
  );
  if (!site.mapping.kinds.event.readOnly && name !== 'wordpress-meta') await write(site);
  await site.gateway.stop();
  const root = wordPressOf(site);
  rmSync(join(root, 'wp-content/mu-plugins/calendar-gateway.php'), { force: true });
  const folder = PLUGINS[name];
  if (folder !== undefined) await activate(site, folder);
  return site;
}

/** Its document root. */
export const wordPressOf = ({ sandbox }: SiteUnderTest): string => join(sandbox.dataDir, 'wordpress');

async function activate(site: SiteUnderTest, folder: string): Promise<void> {
  const home = join(wordPressOf(site), 'wp-content/plugins', folder);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, `${folder}.php`), `<?php\n// Plugin Name: ${folder}\n`);
  await site.sandbox.wp(['plugin', 'activate', folder]);
}

/** The events as an editor has them, made through a gateway that knows the site. */
async function write(site: SiteUnderTest): Promise<void> {
  const { kinds } = site.mapping;
  const can = (key: string): boolean => (kinds.event.writable as ReadonlySet<string>).has(key);
  const post = async (path: string, json: Json): Promise<Json> => {
    const { status, body } = await site.ask(path, { method: 'POST', json });
    if (status !== 201) throw new Error(`the site could not be filled: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const links: Json = {
    ...(kinds.venue ? { venue: (await post('venues', venueSample(site.mapping))).id } : {}),
    ...(kinds.organizer ? { organizer: (await post('organizers', organizerSample(site.mapping))).id } : {}),
    ...(kinds.category ? { categories: [(await post('categories', { name: 'Music' })).id] } : {}),
    ...(kinds.tag ? { tags: [(await post('tags', { name: 'open air' })).id] } : {}),
  };
  const { slug, ...concert } = eventSample(site.mapping);
  await post('events', { ...concert, ...links });
  await post('events', {
    title: 'Village fair',
    start_date: '2031-06-12 10:00:00',
    end_date: '2031-06-12 18:00:00',
    ...(can('allDay') ? { all_day: true } : {}),
    ...(can('cost') ? { cost: 'Free' } : {}),
    ...(kinds.venue ? { venue: { venue: 'Old Mill' } } : {}),
  });
  await post('events', {
    title: 'Reading',
    start_date: '2031-07-03 19:00:00',
    end_date: '2031-07-03 20:30:00',
    ...links,
  });
}
