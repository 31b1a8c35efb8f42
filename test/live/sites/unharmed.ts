// The companion PHP file on a site whose types belong to a plugin: what the plugin stores and how it is edited stay as without the file.

import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { metaKeys } from '../../../src/mapping/meta-keys.ts';
import { seeds } from './read-only.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';

interface Stored {
  /** Key and value of every row of the post's meta, as the database has them. */
  rows: [string, string][];
  block_editor: boolean;
}

/** The plugin keeps its types from REST, so that WordPress edits them on the plugin's own screen. */
const CLASSIC = new Set(['events-manager', 'event-organiser']);

export const storedOf = async (site: SiteUnderTest, id: unknown): Promise<Stored> =>
  (await site.native<Stored>(`sandbox/v1/stored/${id}`)).body;

/** Values of one key, a row each. */
export const rowsOf = async (site: SiteUnderTest, id: unknown, key: string): Promise<string[]> =>
  (await storedOf(site, id)).rows.filter(([name]) => name === key).map(([, value]) => value);

/** Runs `action` as on a site without the file. */
export async function withoutCompanion<T>(site: SiteUnderTest, action: () => Promise<T>): Promise<T> {
  const file = join(site.sandbox.dataDir, 'wordpress/wp-content/mu-plugins/calendar-gateway.php');
  if (!existsSync(file)) throw new Error(`the site has no ${file}`);
  renameSync(file, `${file}.away`);
  try {
    return await action();
  } finally {
    renameSync(`${file}.away`, file);
  }
}

/** Saves a post as the block editor does: a new title, and with it every key that the editor was shown. */
async function saveAsEditor(site: SiteUnderTest, id: unknown, changed: Json = {}): Promise<number> {
  const { base } = site.mapping.kinds.event;
  const shown = (await site.native(`wp/v2/${base}/${id}?context=edit`)).body;
  const { raw } = shown.title as { raw: string };
  const json = { title: raw, meta: { ...(shown.meta as Json), ...changed } };
  return (await site.native(`wp/v2/${base}/${id}`, { method: 'POST', json })).status;
}

/** For every site with the companion file and types of a plugin. */
export async function proveUnharmed(site: SiteUnderTest, { check }: Tally): Promise<void> {
  const { name, source, kinds } = site.mapping;
  const made = kinds.event.readOnly
    ? undefined
    : (
        await site.ask('events', {
          method: 'POST',
          json: { title: 'Saved', start_date: '2031-02-01 10:00:00', end_date: '2031-02-01 11:00:00' },
        })
      ).body.id;
  const id = made ?? seeds.concert;
  const opened = new Set(metaKeys('event', source.event).map(({ key }) => key));
  const rows = async () => (await storedOf(site, id)).rows.filter(([key]) => opened.has(key));

  await check('a save by an editor leaves every row as it is, and adds none for what is not set', async () => {
    // A key that the plugin itself registers gets its row from WordPress, with or without the file.
    if (name === 'tribe-events-native') await withoutCompanion(site, () => saveAsEditor(site, id));
    const before = await rows();
    expect(await saveAsEditor(site, id)).to.equal(200);
    expect(await rows()).to.deep.equal(before);
  });
  if (kinds.event.readOnly)
    await check('what the mapping only reads is stored by no request', async () => {
      const before = await rows();
      const shown = (await site.native(`wp/v2/${kinds.event.base}/${id}?context=edit`)).body.meta as Json;
      const changed = Object.entries(shown).filter(([key, value]) => opened.has(key) && typeof value === 'string');
      expect(changed).to.not.have.length(0);
      const others = Object.fromEntries(changed.map(([key]) => [key, 'other']));
      expect(await saveAsEditor(site, id, others)).to.equal(200);
      expect(await rows()).to.deep.equal(before);
    });
  await check('the plugin’s edit screen stays', async () => {
    expect((await storedOf(site, id)).block_editor).to.equal(!CLASSIC.has(name));
  });
  await check('excerpts and wrong credentials are answered to other clients as without the file', async () => {
    const answers = async (): Promise<unknown[]> => {
      const list = `${site.sandbox.url}/wp-json/wp/v2/${kinds.event.base}`;
      const wrong = { authorization: `Basic ${Buffer.from('nobody:nothing').toString('base64')}` };
      const { excerpt } = (await site.native(`wp/v2/${kinds.event.base}/${id}`)).body;
      return [excerpt, (await fetch(list, { headers: wrong })).status];
    };
    const wrong = await fetch(`${site.sandbox.url}/wp-json/wp/v2/types`, {
      headers: {
        authorization: `Basic ${Buffer.from('nobody:nothing').toString('base64')}`,
        'user-agent': 'calendar-gateway',
      },
    });
    expect(wrong.status).to.equal(401);
    const withFile = await answers();
    // A type that only the file opens is not in REST without it.
    if (!CLASSIC.has(name)) expect(withFile).to.deep.equal(await withoutCompanion(site, answers));
  });
  if (made !== undefined) {
    await site.native(`wp/v2/${kinds.event.base}/${made}?force=true`, { method: 'DELETE' });
    await site.afterRound();
  }
}
