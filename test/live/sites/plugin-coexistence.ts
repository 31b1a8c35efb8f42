// The companion plugin beside an event plugin: the stored data and the edit screen of the event plugin do not change.

import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { metaKeys } from '../../../src/mapping/meta-keys.ts';
import { basicAuth, sendJson } from '../json-client.ts';
import type { Results } from './results.ts';
import type { Json, TestSite } from './test-site.ts';

interface StoredPost {
  /** Key and value of every row of the post's meta in the database. */
  rows: [string, string][];
  block_editor: boolean;
}

/** Mappings whose plugin has no REST API: WordPress shows the plugin's own edit screen. */
const CLASSIC_EDITOR_MAPPINGS = new Set(['events-manager', 'event-organiser']);

const NOBODY = basicAuth({ user: 'nobody', applicationPassword: 'nothing' });

const readStoredPost = async (site: TestSite, id: unknown): Promise<StoredPost> =>
  (await site.wordpress<StoredPost>(`sandbox/v1/stored/${id}`)).body;

/** The values of a key, one for each row. */
export const storedMetaValues = async (site: TestSite, id: unknown, key: string): Promise<string[]> =>
  (await readStoredPost(site, id)).rows.filter(([name]) => name === key).map(([, value]) => value);

/** Runs `action` while the companion plugin is not installed. */
export async function withoutCompanionPlugin<T>(site: TestSite, action: () => Promise<T>): Promise<T> {
  const file = join(site.sandbox.dataDir, 'wordpress/wp-content/mu-plugins/calendar-gateway-companion.php');
  if (!existsSync(file)) throw new Error(`the site has no ${file}`);
  renameSync(file, `${file}.off`);
  try {
    return await action();
  } finally {
    renameSync(`${file}.off`, file);
  }
}

/** Saves a post as the block editor does: with every meta key that it received. */
async function saveAsEditor(site: TestSite, id: unknown, changed: Json = {}): Promise<number> {
  const { collection } = site.mapping.kinds.event;
  const { title, meta } = (await site.wordpress(`wp/v2/${collection}/${id}?context=edit`)).body;
  const json = { title: (title as { raw: string }).raw, meta: { ...(meta as Json), ...changed } };
  return (await site.wordpress(`wp/v2/${collection}/${id}`, { method: 'POST', json })).status;
}

export async function testPluginCoexistence(site: TestSite, { check }: Results): Promise<void> {
  const { name, file: source, kinds } = site.mapping;
  const id = kinds.event.readOnly
    ? site.seeded.concert
    : (
        await site.create('events', {
          title: 'Saved',
          start_date: '2031-02-01 10:00:00',
          end_date: '2031-02-01 11:00:00',
        })
      ).id;
  const opened = new Set(metaKeys('event', source.event, source.event).map(({ key }) => key));
  const rows = async () => (await readStoredPost(site, id)).rows.filter(([key]) => opened.has(key));

  await check('a save by an editor changes no row, and adds none for unset keys', async () => {
    // WordPress adds the rows of keys that The Events Calendar registers: with a block theme also without the
    // companion plugin.
    if (name === 'tribe-events-native') {
      await withoutCompanionPlugin(site, () => saveAsEditor(site, id));
      if (site.hasClassicTheme) await saveAsEditor(site, id);
    }
    const before = await rows();
    expect(await saveAsEditor(site, id)).to.equal(200);
    expect(await rows()).to.deep.equal(before);
  });
  if (kinds.event.readOnly)
    await check('no request stores keys that the mapping only reads', async () => {
      const before = await rows();
      const shown = (await site.wordpress(`wp/v2/${kinds.event.collection}/${id}?context=edit`)).body.meta as Json;
      const changed = Object.entries(shown).filter(([key, value]) => opened.has(key) && typeof value === 'string');
      expect(changed).to.not.have.length(0);
      const others = Object.fromEntries(changed.map(([key]) => [key, 'other']));
      expect(await saveAsEditor(site, id, others)).to.equal(200);
      expect(await rows()).to.deep.equal(before);
    });
  await check('the edit screen of the event plugin stays', async () => {
    const usesBlocks = async () => (await readStoredPost(site, id)).block_editor;
    expect(await usesBlocks()).to.equal(!(CLASSIC_EDITOR_MAPPINGS.has(name) || site.hasClassicTheme));
    expect(await usesBlocks()).to.equal(await withoutCompanionPlugin(site, usesBlocks));
  });
  await check('responses to other clients do not change, for excerpts and wrong credentials', async () => {
    const responses = async (): Promise<unknown[]> => {
      const list = `${site.sandbox.url}/wp-json/wp/v2/${kinds.event.collection}`;
      const { excerpt } = (await site.wordpress(`wp/v2/${kinds.event.collection}/${id}`)).body;
      return [excerpt, (await sendJson(list, { authorization: NOBODY })).status];
    };
    const types = `${site.sandbox.url}/wp-json/wp/v2/types`;
    const asGateway = { 'user-agent': 'calendar-gateway' };
    expect((await sendJson(types, { authorization: NOBODY, headers: asGateway })).status).to.equal(401);
    const withPlugin = await responses();
    // Without the companion plugin a type that it opens is not in the REST API.
    if (!CLASSIC_EDITOR_MAPPINGS.has(name))
      expect(withPlugin).to.deep.equal(await withoutCompanionPlugin(site, responses));
  });
  await site.deleteCreated();
}
