// Situations in which `check` advises something, and what the operator does about it.

import type { IncomingMessage } from 'node:http';
import { type FakeOptions, type FakeType, fakePost } from '../fake-site.ts';

export type Json = Record<string, unknown>;

/** What a site and its operator have. */
export interface Situation {
  gigs: FakeType;
  options: Partial<FakeOptions>;
  /** Of events. */
  fields: Json;
  event: Json;
  mapping: Json;
  account: Json;
  config: Json;
  write: boolean;
  /** Status and code of the error for the requests that it picks. */
  refuses?: ((request: IncomingMessage) => [number, string] | undefined) | undefined;
  /** The site sends webhooks signed with this secret. */
  webhookSecret?: string | undefined;
  /** The collections that these webhooks name, separated by blanks; default `gigs`. */
  webhookCollections?: string | undefined;
}

/** Replaces keys of the situation's objects, and other values. */
export type Change = { [K in keyof Situation]?: Situation[K] extends object ? Partial<Situation[K]> : Situation[K] };

export interface Scenario {
  /** The advice. */
  says: RegExp;
  /** `area name` of the row. */
  row: string;
  before: Change;
  follow: Change;
}

const META = { gig_start: 'string', gig_end: 'string', price: 'string' };
const VALUES = { gig_start: '2031-05-01 19:30:00', gig_end: '2031-05-01 21:00:00', price: '12' };
const gig = (id: number, meta: Json = VALUES, more: Json = {}): Json =>
  fakePost(id, { title: `Gig ${id}`, meta, ...more });
const times = (count: number): Json[] => Array.from({ length: count }, (_, index) => gig(index + 1));

export const normal = (): Situation => ({
  gigs: { type: 'gig', base: 'gigs', label: 'Gigs', meta: { ...META }, records: [gig(1), gig(2)] },
  options: { timezone: 'Europe/Paris' },
  fields: { start_date: 'meta.gig_start', end_date: 'meta.gig_end', cost: 'meta.price' },
  event: {},
  mapping: {},
  account: { user: 'service', password: 'right' },
  config: {},
  write: false,
});

const refuse = (picks: (request: IncomingMessage) => boolean, code: string): Change => ({
  refuses: (request) => (picks(request) ? [403, code] : undefined),
});
const ALLOW: Change = { refuses: undefined };
const SECRET = 'shared between both';

/** With a collection of venues, which events link to. */
const withHalls = (records: Json[]): Change => {
  const meta = { ...META, hall: 'string' };
  const gigs: FakeType = {
    type: 'gig',
    base: 'gigs',
    label: 'Gigs',
    meta,
    records: [gig(1, { ...VALUES, hall: '4' })],
  };
  return {
    options: { types: [gigs, { type: 'hall', base: 'halls', label: 'Halls', meta: META, records }] },
    fields: { venue: 'meta.hall' },
    mapping: { venue: { posts: 'halls' } },
  };
};

const inParts = (format: string): Json => ({
  parts: [
    { at: 'meta.gig_day', format },
    { at: 'meta.gig_time', format: 'H:i' },
  ],
});

export const SCENARIOS: readonly Scenario[] = [
  {
    says: /clocks by NTP/,
    row: 'site clock',
    before: { options: { skewMs: -400_000 } },
    follow: { options: { skewMs: 0 } },
  },
  {
    says: /send the header Date/,
    row: 'site clock',
    before: { options: { hasNoDate: true } },
    follow: { options: { hasNoDate: false } },
  },
  {
    says: /Choose a city/,
    row: 'site time zone',
    before: { options: { timezone: '+02:00' } },
    follow: { options: { timezone: 'Europe/Paris' } },
  },
  {
    says: /application password for an editor/,
    row: 'account service',
    before: { account: { user: undefined, password: undefined } },
    follow: { account: { user: 'service', password: 'right' } },
  },
  {
    says: /not the login password/,
    row: 'the command',
    before: { account: { user: 'service', password: 'of the login form' } },
    follow: { account: { user: 'service', password: 'right' } },
  },
  {
    says: /keys that the site shows: meta\.gig_start, meta\.gig_end[\s\S]*mu-plugins/,
    row: 'event fields cost',
    before: { gigs: { meta: { gig_start: 'string', gig_end: 'string' } } },
    follow: { gigs: { meta: { ...META } } },
  },
  {
    says: /keys that the site shows: meta\.gig_start, meta\.gig_end[\s\S]*mu-plugins/,
    row: 'event fields start_date',
    before: { fields: { start_date: 'meta.gig_strat' } },
    follow: { fields: { start_date: 'meta.gig_start' } },
  },
  {
    says: /keys that the site shows: meta\.gig_start, meta\.gig_end[\s\S]*mu-plugins/,
    row: 'event fields cost',
    before: { fields: { cost: { read: 'meta.prise', write: 'meta.price' } } },
    follow: { fields: { cost: 'meta.price' } },
  },
  {
    says: /To see changes at once[\s\S]*--webhook-url/,
    row: 'gateway webhooks',
    before: {},
    follow: { config: { webhook: { secret: SECRET } } },
  },
  {
    says: /Compare "posts" and "terms"/,
    row: 'lists gigs',
    before: { gigs: { base: 'shows' } },
    follow: { event: { posts: 'shows' } },
  },
  {
    says: /leave "tag" out of the mapping/,
    row: 'lists styles',
    before: { mapping: { tag: { terms: 'styles' } } },
    follow: { options: { taxonomies: [{ slug: 'style', rest_base: 'styles', name: 'Styles', hierarchical: false }] } },
  },
  {
    says: /"dedupe": true to "event"/,
    row: 'lists gigs',
    before: { gigs: { records: [gig(1), gig(2), gig(2)] } },
    follow: { event: { dedupe: true } },
  },
  {
    says: /listParams/,
    row: 'lists gigs',
    before: { gigs: { missing: 3 } },
    follow: { gigs: { missing: 0 } },
  },
  {
    says: /listParams/,
    row: 'lists gigs',
    before: { gigs: { records: times(100), missing: 3 } },
    follow: { gigs: { missing: 0 } },
  },
  {
    says: /Make one in/,
    row: 'lists gigs',
    before: { gigs: { records: [] } },
    follow: { gigs: { records: [gig(1)] } },
  },
  {
    says: /Make one in wp-admin/,
    row: 'lists halls',
    before: withHalls([]),
    follow: withHalls([gig(4)]),
  },
  {
    says: /SECURITY\.md/,
    row: 'lists gigs',
    before: { options: { isPrivate: true } },
    follow: { options: { isPrivate: false } },
  },
  {
    says: /Make the companion plugin/,
    row: 'lists series',
    before: { event: { readOnly: true, occurrences: {} } },
    follow: { gigs: { records: [gig(1, VALUES, { calendar_occurrences: null })] } },
  },
  {
    says: /remove the line event\.hide_from_listings/,
    row: 'event fields hide_from_listings',
    before: { fields: { hide_from_listings: 'meta.secret' } },
    follow: { fields: { hide_from_listings: undefined } },
  },
  {
    says: /Show in REST API/,
    row: 'event fields website',
    before: { fields: { website: 'acf.link' } },
    follow: {
      gigs: { acf: { link: 'string' }, records: [gig(1, VALUES, { acf: { link: 'https://tickets.example/' } })] },
    },
  },
  {
    says: /Compare the path with what the site sends for gigs: id/,
    row: 'event fields website',
    before: { fields: { website: 'ticket_link' } },
    follow: { fields: { website: 'link' } },
  },
  {
    says: /format of these values in the mapping: "as"/,
    row: 'event fields start_date',
    before: { gigs: { records: [gig(1, { ...VALUES, gig_start: '1. 5. 2031 at 19:30' })] } },
    follow: { fields: { start_date: { at: 'meta.gig_start', as: { 'local-datetime': 'j. n. Y \\a\\t H:i' } } } },
  },
  {
    says: /"parts"/,
    row: 'event fields start_date',
    // Of the second date the wrong format reads another day.
    before: {
      gigs: {
        meta: { ...META, gig_day: 'string', gig_time: 'string' },
        records: ['24/04/2031', '03/04/2031'].map((day, index) =>
          gig(index + 1, { ...VALUES, gig_day: day, gig_time: '19:30' }),
        ),
      },
      fields: { start_date: inParts('m/d/Y') },
    },
    follow: { fields: { start_date: inParts('d/m/Y') } },
  },
  {
    says: /Fill it in in/,
    row: 'event fields start_date',
    before: { gigs: { records: [gig(1), gig(2, { ...VALUES, gig_start: '' })] } },
    follow: { gigs: { records: times(2) } },
  },
  {
    says: /Find the facts/,
    row: 'event fields start_date',
    // A companion plugin that was made for the misspelt key has registered it.
    before: {
      gigs: { meta: { ...META, gig_strat: 'string' }, records: [gig(1, { ...VALUES, gig_strat: '' })] },
      fields: { start_date: 'meta.gig_strat' },
    },
    follow: { fields: { start_date: 'meta.gig_start' } },
  },
  {
    says: /must support a title/,
    row: 'writes event',
    before: { write: true, ...refuse(({ method }) => method === 'POST', 'rest_cannot_create') },
    follow: ALLOW,
  },
  {
    says: /Delete "calendar-gateway check [0-9a-f]{8}" in wp-admin/,
    row: 'writes event removal',
    before: { write: true, ...refuse(({ method }) => method === 'DELETE', 'rest_cannot_delete') },
    follow: { ...ALLOW, gigs: { records: times(2) } },
  },
  {
    says: /the type does not store it/,
    row: 'writes event.excerpt',
    before: { write: true, gigs: { unsupported: ['excerpt'] } },
    follow: { gigs: { unsupported: [] } },
  },
  {
    says: /clearWith/,
    row: 'writes event.cost',
    before: {
      write: true,
      gigs: { store: (key, value, before) => (key === 'price' && value === '' ? before : (value ?? '')) },
    },
    follow: { fields: { cost: { at: 'meta.price', clearWith: null } } },
  },
  {
    says: /codec "number"/,
    row: 'writes event.cost',
    before: {
      write: true,
      gigs: {
        store: (key, value) =>
          key === 'price' && value !== '' ? Number.parseFloat(String(value)).toFixed(2) : String(value),
      },
    },
    follow: { fields: { cost: { at: 'meta.price', as: 'number', clearWith: '' } } },
  },
  {
    says: /another value than was sent/,
    row: 'writes event.website',
    before: {
      write: true,
      fields: { website: 'meta.link' },
      gigs: {
        meta: { ...META, link: 'string' },
        store: (key, value) => (key === 'link' && value !== '' ? 'https://check.example/' : value),
      },
    },
    follow: { fields: { website: undefined } },
  },
  {
    says: /Compare the codec of the field/,
    row: 'writes event.cost',
    before: {
      write: true,
      gigs: {
        store: (key, value) => {
          if (key === 'price' && typeof value === 'string' && value !== '') throw new Error('price is not a number.');
          return value;
        },
      },
    },
    follow: { fields: { cost: { at: 'meta.price', as: 'number', clearWith: '' } } },
  },
  {
    says: /Is the plugin on the site/,
    row: 'gateway webhooks',
    before: { write: true, config: { webhook: { secret: SECRET } } },
    follow: { webhookSecret: SECRET },
  },
  {
    says: /made for this mapping and version/,
    row: 'gateway webhooks',
    before: {
      write: true,
      config: { webhook: { secret: SECRET } },
      webhookSecret: SECRET,
      mapping: { venue: { posts: 'halls' } },
      options: {
        types: [normal().gigs, { type: 'hall', base: 'halls', label: 'Halls', records: [] }],
      },
    },
    follow: { webhookCollections: 'gigs halls' },
  },
];
