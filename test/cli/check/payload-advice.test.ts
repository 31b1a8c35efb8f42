// Each row of advice that `check` can give for Payload: after the operator has followed it, the finding is gone.

import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Advice } from '../../../src/cli/check/advice.ts';
import { advise, PAYLOAD_ADVICE_IDS, type PayloadAdviceId } from '../../../src/cli/check/payload/advice.ts';
import type { CheckRow } from '../../../src/cli/table.ts';
import { sendJson } from '../../faults/stub-cms.ts';
import { freePort } from '../../free-port.ts';
import { type FakeCollection, type FakePayloadOptions, startFakePayload } from '../fake-payload.ts';
import { apply, checkedFolder, expectFollowed, sendWebhook } from './followed-advice.ts';

type Json = Record<string, unknown>;

/** What a site and its operator have. */
interface Situation {
  gigs: FakeCollection;
  collections: Record<string, FakeCollection>;
  options: Omit<FakePayloadOptions, 'collections'>;
  /** Of events. */
  fields: Json;
  event: Json;
  mapping: Json;
  payload: Json;
  upstream: Json;
  config: Json;
  write: boolean;
  /** Refuses these requests with 403. */
  refuses: ((request: IncomingMessage) => boolean) | undefined;
  /** The plugin of the site signs webhooks with this secret, and reports these collections. */
  plugin: { secret?: string; collections?: string[] };
}
type Change = { [K in keyof Situation]?: Situation[K] extends object ? Partial<Situation[K]> : Situation[K] };

interface Scenario {
  id: PayloadAdviceId;
  advice?: Advice | ((pluginOptions: string) => Advice);
  /** `area name` of the row. */
  row: string;
  before: Change;
  follow: Change;
}

const KEY = '3b241101-e2bb-4255-8caf-4136c566a962';
const SECRET = 'shared between both';
const WRITE: Change = { write: true, config: { webhook: { secret: SECRET } } };
const gig = (id: unknown, more: Json = {}): Json => ({
  ...{ id, name: `Gig ${id}`, beginsAt: '2033-03-04T15:00:00.000Z', endsAt: '2033-03-04T17:00:00.000Z', price: '12' },
  ...{ deletedAt: null, place: null, _status: 'published' },
  ...{ createdAt: '2033-01-01T00:00:00.000Z', updatedAt: '2033-01-01T00:00:00.000Z' },
  ...more,
});
const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.\\0\\0\\0\\Z' };
const HALLS: FakeCollection = { fields: ['name'], docs: [{ id: 4, name: 'Old Fish Hall', _status: 'published' }] };
const PICTURES: FakeCollection = { fields: ['filename', 'mimeType'], docs: [], drafts: false, trash: false };

const normal = (): Situation => ({
  gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price'], docs: [gig(1), gig(2)] },
  collections: {},
  options: { login: `users API-Key ${KEY}` },
  fields: {
    title: 'name',
    start_date: { at: 'beginsAt', as },
    end_date: { at: 'endsAt', as },
    cost: 'price',
  },
  event: {},
  mapping: {},
  payload: { timezone: 'Europe/Vienna', name: 'Gullhaven' },
  upstream: { user: 'users', password: KEY },
  config: {},
  write: false,
  refuses: undefined,
  plugin: { secret: SECRET, collections: ['gigs'] },
});

const refuse = (picks: (request: IncomingMessage) => boolean): Change => ({ refuses: picks });
const ALLOW: Change = { refuses: undefined };
const hundred = (last: unknown): Json[] => [...Array.from({ length: 100 }, (_, index) => gig(index + 1)), gig(last)];

const SCENARIOS: readonly Scenario[] = [
  {
    id: 'time-zone',
    row: 'site settings',
    before: { payload: { timezone: undefined } },
    follow: { payload: { timezone: 'Europe/Vienna' } },
  },
  {
    id: 'site-name',
    row: 'site settings',
    before: { payload: { name: undefined } },
    follow: { payload: { name: 'Events in Gullhaven' } },
  },
  {
    id: 'service-account',
    row: 'account service',
    before: { upstream: { user: undefined, password: undefined } },
    follow: { upstream: { user: 'users', password: KEY } },
  },
  {
    id: 'account-rejected',
    row: 'account service',
    before: { upstream: { password: 'of another account' } },
    follow: { upstream: { password: KEY } },
  },
  {
    id: 'account-rejected',
    row: 'account service',
    before: { options: { users: 'members', login: `members API-Key ${KEY}` }, upstream: { user: 'members' } },
    follow: { payload: { users: 'members' } },
  },
  {
    id: 'capabilities',
    advice: advise('capabilities', ['gigs:readOthers', 'gigs:readPrivate', 'gigs:delete']),
    row: 'account gigs',
    before: { gigs: { account: { read: { permission: true, where: { owner: { equals: 1 } } }, delete: false } } },
    follow: { gigs: { account: {} } },
  },
  {
    id: 'users-access',
    row: 'account users',
    before: {
      fields: { author: 'owner' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'owner'] },
      collections: { users: { fields: [], docs: [], account: { read: { permission: true, where: {} } } } },
    },
    follow: { collections: { users: { fields: [], docs: [] } } },
  },
  {
    id: 'media-collection',
    row: 'collections media',
    before: {
      fields: { image: 'cover' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'cover -> pictures'] },
      collections: { pictures: PICTURES },
    },
    follow: { payload: { media: 'pictures' } },
  },
  {
    id: 'media-collection',
    row: 'collections pages',
    before: {
      fields: { image: 'cover' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'cover -> pictures'] },
      payload: { media: 'pages' },
      collections: { pictures: PICTURES, pages: { fields: ['title'], docs: [] } },
    },
    follow: { payload: { media: 'pictures' } },
  },
  {
    id: 'upload-refused',
    row: 'collections media',
    before: {
      fields: { image: 'cover' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'cover -> media'] },
      collections: { media: { ...PICTURES, account: { create: false } } },
    },
    follow: { collections: { media: PICTURES } },
  },
  {
    id: 'webhooks',
    advice: (pluginOptions) => advise('webhooks', pluginOptions, 0),
    row: 'gateway webhooks',
    before: {},
    follow: { config: { webhook: { secret: SECRET } } },
  },
  {
    id: 'collection-name',
    advice: advise('collection-name', '', false),
    row: 'lists shows',
    before: { event: { collection: 'shows' } },
    follow: { event: { collection: 'gigs' } },
  },
  {
    id: 'collection-absent',
    advice: advise('collection-absent', 'tag', ''),
    row: 'lists styles',
    before: { mapping: { tag: { collection: 'styles', fields: { name: 'name' } } } },
    follow: { mapping: { tag: undefined } },
  },
  {
    id: 'list-refused',
    row: 'lists gigs',
    before: { gigs: { account: { create: false, update: false } } },
    follow: { gigs: { account: {} } },
  },
  {
    id: 'list-hidden',
    row: 'lists gigs',
    before: { gigs: { docs: [gig(1), gig('a,b')] } },
    follow: { gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    id: 'list-short',
    row: 'lists gigs',
    before: { gigs: { docs: hundred('a,b') } },
    follow: { gigs: { docs: hundred(101) } },
  },
  {
    id: 'dedupe',
    advice: advise('dedupe', 'event'),
    row: 'lists gigs',
    before: { gigs: { docs: [gig(1), gig(2), gig(2)] } },
    follow: { event: { dedupe: true } },
  },
  {
    id: 'series-missing',
    advice: advise('series-missing', ''),
    row: 'lists series',
    before: { event: { readOnly: true, occurrences: {} } },
    follow: { gigs: { docs: [gig(1, { calendar_occurrences: null }), gig(2, { calendar_occurrences: [{}] })] } },
  },
  {
    id: 'no-record',
    advice: advise('no-record', 'event'),
    row: 'lists gigs',
    before: { gigs: { docs: [] } },
    follow: { gigs: { docs: [gig(1)] } },
  },
  {
    id: 'closed-to-visitors',
    row: 'readers gigs',
    before: { gigs: { isClosed: true } },
    follow: { gigs: { isClosed: false } },
  },
  {
    id: 'hidden-from-visitors',
    row: 'readers gigs',
    before: { gigs: { docs: [gig(1), gig(2, { hiddenFromPublic: true })] } },
    follow: { gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    id: 'no-drafts',
    row: 'collections gigs',
    before: { gigs: { drafts: false } },
    follow: { gigs: { drafts: true } },
  },
  {
    id: 'no-drafts',
    row: 'writes event',
    before: { ...WRITE, gigs: { drafts: false } },
    follow: { gigs: { drafts: true } },
  },
  { id: 'no-trash', row: 'collections gigs', before: { gigs: { trash: false } }, follow: { gigs: { trash: true } } },
  {
    id: 'data-dir',
    row: 'lists ids',
    before: { gigs: { docs: [gig('0b9f5c1e-7a53-4e0c-9d5e-2f9b8a6d1c11')] } },
    follow: { config: { dataDir: '/var/lib/calendar-gateway' } },
  },
  {
    id: 'no-redis',
    row: 'lists ids',
    before: {
      gigs: { docs: [gig('0b9f5c1e-7a53-4e0c-9d5e-2f9b8a6d1c11')] },
      config: { redisUrl: 'redis://127.0.0.1:1' },
    },
    follow: { config: { redisUrl: undefined, dataDir: '/var/lib/calendar-gateway' } },
  },
  {
    id: 'field-absent',
    advice: advise('field-absent', 'gigs', 'website'),
    row: 'event fields website',
    before: { fields: { website: 'website' } },
    follow: { fields: { website: undefined } },
  },
  {
    id: 'field-absent',
    advice: advise('field-absent', 'gigs', 'about'),
    row: 'event fields description',
    before: {
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'aboutHtml'] },
      fields: { description: { read: 'aboutHtml', write: { at: 'about', as: 'lexical' } } },
    },
    follow: { gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'aboutHtml', 'about'] } },
  },
  {
    id: 'relation',
    advice: advise('relation', 'halls'),
    row: 'event fields venue',
    before: {
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'place'] },
      fields: { venue: { at: 'place', as: { ids: 'one' } } },
      mapping: { venue: { collection: 'halls', fields: { venue: 'name' } } },
      collections: { halls: HALLS },
    },
    follow: { gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'place -> halls'] } },
  },
  {
    id: 'fill-in',
    row: 'event fields start_date',
    before: { gigs: { docs: [gig(1), gig(2, { beginsAt: null })] } },
    follow: { gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    id: 'create-refused',
    row: 'writes event',
    before: { ...WRITE, gigs: { required: ['contact'] } },
    follow: { gigs: { required: [] } },
  },
  {
    id: 'field-dropped',
    row: 'writes event.cost',
    before: { ...WRITE, gigs: { store: (field, value, before) => (field === 'price' ? (before ?? '') : value) } },
    follow: { gigs: { store: undefined } },
  },
  {
    id: 'remove-draft',
    advice: advise('remove-draft', 'calendar-gateway check TITLE'),
    row: 'writes event removal',
    before: { ...WRITE, ...refuse(({ method }) => method === 'DELETE') },
    follow: { ...ALLOW, gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    id: 'webhook-signature',
    row: 'gateway webhooks',
    before: { ...WRITE, plugin: { secret: 'of another gateway' } },
    follow: { plugin: { secret: SECRET } },
  },
  {
    id: 'webhook-missing',
    advice: advise('webhook-missing', 0),
    row: 'gateway webhooks',
    before: { ...WRITE, plugin: { collections: [] } },
    follow: { plugin: { collections: ['gigs'] } },
  },
  {
    id: 'webhook-kind',
    advice: (pluginOptions) => advise('webhook-kind', `${pluginOptions} --webhook-url http://GATEWAY:0/-/changes`),
    row: 'gateway webhooks',
    before: {
      ...WRITE,
      mapping: { venue: { collection: 'halls', fields: { venue: 'name' } } },
      collections: { halls: HALLS },
    },
    follow: { plugin: { collections: ['gigs', 'halls'] } },
  },
  {
    id: 'webhook-untried',
    row: 'gateway webhooks',
    before: { ...WRITE, event: { readOnly: true } },
    follow: { event: { readOnly: false } },
  },
];

describe('the advice of check for Payload', () => {
  const folder = checkedFolder();

  async function rowsOf(situation: Situation, adminPort: number): Promise<CheckRow[]> {
    const { gigs, collections, options, fields, event, mapping, payload, upstream, config, write, plugin } = situation;
    const site = await startFakePayload({ collections: { gigs, ...collections }, ...options });
    site.before = (request, response) => {
      const isRefused = situation.refuses?.(request) === true;
      if (isRefused) sendJson(response, 403, { errors: [{ name: 'Forbidden', message: 'No.' }] });
      return isRefused;
    };
    site.onChange = async (collection) => {
      if (plugin.collections?.includes(collection)) await sendWebhook(adminPort, plugin.secret ?? '', [collection]);
    };
    try {
      const events = { collection: 'gigs', fields, ...event };
      return await folder.check({
        mapping: { name: 'gigs', upstream: 'payload', event: events, payload, ...mapping },
        config: { upstream: { url: site.url, ...upstream }, listen: { adminPort }, ...config },
        write,
      });
    } finally {
      await site.close();
    }
  }

  for (const { id, advice, row, before, follow } of SCENARIOS)
    it(`${id}: followed, ${row} is right`, async () => {
      const situation = normal();
      const adminPort = await freePort();
      apply(situation, before);
      const rows = await rowsOf(situation, adminPort);
      const ofId = advice ?? (advise as (each: PayloadAdviceId) => Advice)(id);
      const expected = typeof ofId === 'function' ? ofId(`--config ${join(folder.path, 'config.json')}`) : ofId;
      await expectFollowed(row, expected, rows, () => {
        apply(situation, follow);
        return rowsOf(situation, adminPort);
      });
    });

  it('has nothing to say about a site that fits', async () => {
    const situation = normal();
    apply(situation, {
      ...{ ...WRITE, config: { webhook: { secret: SECRET }, publicUrl: 'https://calendar.example.org' } },
      fields: { status: 'workflow' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'workflow'], docs: [gig(1, { workflow: null })] },
    });
    const rows = await rowsOf(situation, await freePort());
    expect(rows.filter(({ state }) => state !== 'ok')).to.deep.equal([]);
    expect(rows.map(({ area, name }) => `${area} ${name}`)).to.include.members([
      ...[
        'collections gigs',
        'lists ids',
        'event fields start_date',
        'event fields status',
        'writes event',
        'gateway webhooks',
      ],
    ]);
  });

  it('has a test for each row', () => {
    expect(SCENARIOS.map(({ id }) => id)).to.include.members(PAYLOAD_ADVICE_IDS);
  });
});
