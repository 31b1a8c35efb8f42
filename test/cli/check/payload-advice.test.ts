// What `check` advises for Payload helps: after the operator has followed it, the finding is gone.

import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { CheckRow } from '../../../src/cli/check/checks.ts';
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
  /** The advice. */
  says: RegExp;
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
    says: /Name the time zone of the site/,
    row: 'site time zone',
    before: { payload: { timezone: undefined } },
    follow: { payload: { timezone: 'Europe/Vienna' } },
  },
  {
    says: /API key/,
    row: 'account service',
    before: { upstream: { user: undefined, password: undefined } },
    follow: { upstream: { user: 'users', password: KEY } },
  },
  {
    says: /Compare the key/,
    row: 'the command',
    before: { upstream: { password: 'of another account' } },
    follow: { upstream: { password: KEY } },
  },
  {
    says: /name it as the user and in the mapping/,
    row: 'the command',
    before: { options: { users: 'members', login: `members API-Key ${KEY}` }, upstream: { user: 'members' } },
    follow: { payload: { users: 'members' } },
  },
  {
    says: /Name the upload collection/,
    row: 'collections media',
    before: {
      fields: { image: 'cover' },
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'cover -> pictures'] },
      collections: { pictures: PICTURES },
    },
    follow: { payload: { media: 'pictures' } },
  },
  {
    says: /Name the upload collection/,
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
    says: /To see changes at once/,
    row: 'gateway webhooks',
    before: {},
    follow: { config: { webhook: { secret: SECRET } } },
  },
  {
    says: /Compare "collection"/,
    row: 'lists shows',
    before: { event: { collection: 'shows' } },
    follow: { event: { collection: 'gigs' } },
  },
  {
    says: /leave "tag" out of the mapping/,
    row: 'lists styles',
    before: { mapping: { tag: { collection: 'styles', fields: { name: 'name' } } } },
    follow: { mapping: { tag: undefined } },
  },
  {
    says: /neither positive integers/,
    row: 'lists gigs',
    before: { gigs: { docs: [gig(1), gig('a,b')] } },
    follow: { gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    says: /neither positive integers/,
    row: 'lists gigs',
    before: { gigs: { docs: hundred('a,b') } },
    follow: { gigs: { docs: hundred(101) } },
  },
  {
    says: /"dedupe": true to "event"/,
    row: 'lists gigs',
    before: { gigs: { docs: [gig(1), gig(2), gig(2)] } },
    follow: { event: { dedupe: true } },
  },
  {
    says: /Make one in the admin panel/,
    row: 'lists gigs',
    before: { gigs: { docs: [] } },
    follow: { gigs: { docs: [gig(1)] } },
  },
  {
    says: /SECURITY\.md/,
    row: 'lists gigs',
    before: { gigs: { isClosed: true } },
    follow: { gigs: { isClosed: false } },
  },
  {
    says: /versions: \{ drafts: true \}/,
    row: 'collections gigs',
    before: { gigs: { drafts: false } },
    follow: { gigs: { drafts: true } },
  },
  {
    says: /versions: \{ drafts: true \}/,
    row: 'writes event',
    before: { ...WRITE, gigs: { drafts: false } },
    follow: { gigs: { drafts: true } },
  },
  {
    says: /trash: true/,
    row: 'collections gigs',
    before: { gigs: { trash: false } },
    follow: { gigs: { trash: true } },
  },
  {
    says: /Compare the name with the fields of gigs/,
    row: 'event fields website',
    before: { fields: { website: 'website' } },
    follow: { fields: { website: undefined } },
  },
  {
    says: /Compare the name with the fields of gigs/,
    row: 'event fields description',
    before: {
      gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'aboutHtml'] },
      fields: { description: { read: 'aboutHtml', write: { at: 'about', as: 'lexical' } } },
    },
    follow: { gigs: { fields: ['name', 'beginsAt', 'endsAt', 'price', 'aboutHtml', 'about'] } },
  },
  {
    says: /Fill it in in/,
    row: 'event fields start_date',
    before: { gigs: { docs: [gig(1), gig(2, { beginsAt: null })] } },
    follow: { gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    says: /Let access\.create allow/,
    row: 'writes event',
    before: { ...WRITE, gigs: { required: ['contact'] } },
    follow: { gigs: { required: [] } },
  },
  {
    says: /Payload drops values/,
    row: 'writes event.cost',
    before: { ...WRITE, gigs: { store: (field, value, before) => (field === 'price' ? (before ?? '') : value) } },
    follow: { gigs: { store: undefined } },
  },
  {
    says: /in the admin panel/,
    row: 'writes event removal',
    before: { ...WRITE, ...refuse(({ method }) => method === 'DELETE') },
    follow: { ...ALLOW, gigs: { docs: [gig(1), gig(2)] } },
  },
  {
    says: /Is the plugin on the site/,
    row: 'gateway webhooks',
    before: { ...WRITE, plugin: { collections: [] } },
    follow: { plugin: { collections: ['gigs'] } },
  },
  {
    says: /made for this mapping and version/,
    row: 'gateway webhooks',
    before: {
      ...WRITE,
      mapping: { venue: { collection: 'halls', fields: { venue: 'name' } } },
      collections: { halls: HALLS },
    },
    follow: { plugin: { collections: ['gigs', 'halls'] } },
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

  for (const { says, row, before, follow } of SCENARIOS)
    it(`${says.source}: followed, ${row} is right`, async () => {
      const situation = normal();
      const adminPort = await freePort();
      apply(situation, before);
      await expectFollowed(row, says, await rowsOf(situation, adminPort), () => {
        apply(situation, follow);
        return rowsOf(situation, adminPort);
      });
    });

  it('writes a draft with every field if the site requires one that the mapping has', async () => {
    const situation = normal();
    apply(situation, { ...WRITE, gigs: { required: ['price'] } });
    const rows = await rowsOf(situation, await freePort());
    const written = rows.find(({ area, name }) => area === 'writes' && name === 'event');
    expect(written).to.include({ state: 'ok' });
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
      ...['collections gigs', 'event fields start_date', 'event fields status', 'writes event', 'gateway webhooks'],
    ]);
  });
});
