// For each row of advice that `check` can give: a situation that brings it up, and what the operator does about it.

import type { IncomingMessage } from 'node:http';
import type { Advice } from '../../../src/cli/check/advice.ts';
import { type AdviceId, advise } from '../../../src/cli/check/wordpress/advice.ts';
import { CmsRejected } from '../../../src/errors.ts';
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
  id: AdviceId;
  advice: (pluginOptions: string) => Advice;
  /** `area name` of the row. */
  row: string;
  before: Change;
  follow: Change;
}

const META = { gig_start: 'string', gig_end: 'string', price: 'string' };
const VALUES = { gig_start: '2031-05-01 19:30:00', gig_end: '2031-05-01 21:00:00', price: '12' };
const PAST = { gig_start: '2020-05-01 19:30:00', gig_end: '2020-05-01 21:00:00', price: '12' };
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

/** Makes a change to a situation. */
const isList = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' && url.startsWith('/wp-json/wp/v2/gigs?');
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
    id: 'clock',
    advice: () => advise('clock'),
    row: 'site clock',
    before: { options: { skewMs: -400_000 } },
    follow: { options: { skewMs: 0 } },
  },
  {
    id: 'date-header',
    advice: () => advise('date-header'),
    row: 'site clock',
    before: { options: { hasNoDate: true } },
    follow: { options: { hasNoDate: false } },
  },
  {
    id: 'time-zone',
    advice: () => advise('time-zone'),
    row: 'site time zone',
    before: { options: { timezone: '+02:00' } },
    follow: { options: { timezone: 'Europe/Paris' } },
  },
  {
    id: 'service-account',
    advice: () => advise('service-account'),
    row: 'account service',
    before: { account: { user: undefined, password: undefined } },
    follow: { account: { user: 'service', password: 'right' } },
  },
  {
    id: 'account-rejected',
    advice: () => advise('account-rejected', new CmsRejected('unauthenticated', '', { code: 'incorrect_password' })),
    row: 'account service',
    before: { account: { user: 'service', password: 'of the login form' } },
    follow: { account: { user: 'service', password: 'right' } },
  },
  {
    id: 'capabilities',
    advice: () => advise('capabilities', ['read_private_posts', 'publish_posts', 'delete_posts']),
    row: 'account gigs',
    before: { options: { capabilities: ['edit_posts', 'edit_others_posts'] } },
    follow: {
      options: {
        capabilities: [...'edit_posts edit_others_posts read_private_posts publish_posts delete_posts'.split(' ')],
      },
    },
  },
  {
    id: 'companion-plugin',
    advice: (pluginOptions) => advise('companion-plugin', pluginOptions),
    row: 'gateway wrong logins',
    // The real effect of the companion plugin is tested in test/cli/plugin/.
    before: { options: { ignoresWrongLogins: true } },
    follow: { options: { ignoresWrongLogins: false } },
  },
  {
    id: 'register-keys',
    advice: (pluginOptions) => advise('register-keys', pluginOptions, ['meta.gig_start', 'meta.gig_end']),
    row: 'event fields cost',
    before: { gigs: { meta: { gig_start: 'string', gig_end: 'string' } } },
    follow: { gigs: { meta: { ...META } } },
  },
  {
    id: 'register-keys',
    advice: (pluginOptions) => advise('register-keys', pluginOptions, ['meta.gig_start', 'meta.gig_end', 'meta.price']),
    row: 'event fields start_date',
    before: { fields: { start_date: 'meta.gig_strat' } },
    follow: { fields: { start_date: 'meta.gig_start' } },
  },
  {
    id: 'register-keys',
    advice: (pluginOptions) => advise('register-keys', pluginOptions, ['meta.gig_start', 'meta.gig_end', 'meta.price']),
    row: 'event fields cost',
    before: { fields: { cost: { read: 'meta.prise', write: 'meta.price' } } },
    follow: { fields: { cost: 'meta.price' } },
  },
  {
    id: 'stored-forms',
    advice: (pluginOptions) => advise('stored-forms', 'event.all_day', pluginOptions),
    row: 'event fields all_day',
    // WordPress shows null for a text in a key that is registered as a boolean.
    before: {
      gigs: { meta: { ...META, whole_day: 'boolean' }, records: [gig(1, { ...VALUES, whole_day: null })] },
      fields: { all_day: 'meta.whole_day' },
    },
    follow: {
      gigs: { meta: { ...META, whole_day: 'string' }, records: [gig(1, { ...VALUES, whole_day: 'yes' })] },
      fields: { all_day: { at: 'meta.whole_day', as: { boolean: ['yes', 'no'] } } },
    },
  },
  {
    id: 'webhooks',
    advice: (pluginOptions) => advise('webhooks', pluginOptions, 3001),
    row: 'gateway webhooks',
    before: {},
    follow: { config: { webhook: { secret: SECRET } } },
  },
  {
    id: 'public-address',
    advice: () => advise('public-address'),
    row: 'gateway public address',
    before: {},
    follow: { config: { publicUrl: 'https://calendar.example.org' } },
  },
  {
    id: 'collection-name',
    advice: (pluginOptions) => advise('collection-name', pluginOptions, false),
    row: 'lists gigs',
    before: { gigs: { base: 'shows' } },
    follow: { event: { posts: 'shows' } },
  },
  {
    id: 'collection-absent',
    advice: (pluginOptions) => advise('collection-absent', 'tag', pluginOptions),
    row: 'lists styles',
    before: { mapping: { tag: { terms: 'styles' } } },
    follow: { options: { taxonomies: [{ slug: 'style', rest_base: 'styles', name: 'Styles', hierarchical: false }] } },
  },
  {
    id: 'list-refused',
    advice: () => advise('list-refused'),
    row: 'lists gigs',
    before: refuse(isList, 'rest_forbidden'),
    follow: ALLOW,
  },
  {
    id: 'dedupe',
    advice: () => advise('dedupe', 'event'),
    row: 'lists gigs',
    before: { gigs: { records: [gig(1), gig(2), gig(2)] } },
    follow: { event: { dedupe: true } },
  },
  {
    id: 'list-hidden',
    advice: () => advise('list-hidden'),
    row: 'lists gigs',
    before: { gigs: { missing: 3 } },
    follow: { gigs: { missing: 0 } },
  },
  {
    id: 'list-short',
    advice: () => advise('list-short'),
    row: 'lists gigs',
    before: { gigs: { records: times(100), missing: 3 } },
    follow: { gigs: { missing: 0 } },
  },
  {
    id: 'no-record',
    advice: () => advise('no-record', 'event'),
    row: 'lists gigs',
    before: { gigs: { records: [] } },
    follow: { gigs: { records: [gig(1)] } },
  },
  {
    id: 'no-record',
    advice: () => advise('no-record', 'venue'),
    row: 'lists halls',
    before: withHalls([]),
    follow: withHalls([gig(4)]),
  },
  {
    id: 'closed-to-visitors',
    advice: () => advise('closed-to-visitors'),
    row: 'readers gigs',
    before: { options: { isPrivate: true } },
    follow: { options: { isPrivate: false } },
  },
  {
    id: 'hidden-from-visitors',
    advice: () => advise('hidden-from-visitors'),
    row: 'readers gigs',
    before: { gigs: { records: [gig(1), gig(2, VALUES, { hiddenFromPublic: true })] } },
    follow: { gigs: { records: times(2) } },
  },
  {
    id: 'past-events',
    advice: () => advise('past-events'),
    row: 'lists past events',
    before: {
      gigs: {
        records: [...times(12), gig(13, PAST)],
        isListed: ({ id }, query) => id !== 13 || query.get('show') === 'all',
      },
    },
    follow: { event: { wordpress: { listParams: { show: 'all' } } } },
  },
  {
    id: 'series-missing',
    advice: (file) => advise('series-missing', file),
    row: 'lists series',
    before: { event: { readOnly: true, occurrences: {} } },
    follow: { gigs: { records: [gig(1, VALUES, { calendar_occurrences: null })] } },
  },
  {
    id: 'series-window',
    advice: () => advise('series-window'),
    row: 'lists series',
    before: {
      gigs: { records: [gig(1, VALUES, { calendar_occurrences: Array(1000).fill({}) })] },
      event: { readOnly: true, occurrences: {} },
    },
    follow: {
      gigs: { records: [gig(1, VALUES, { calendar_occurrences: [{}] })] },
      event: { readOnly: true, occurrences: { futureDays: 7 } },
    },
  },
  {
    id: 'hidden-flag',
    advice: (pluginOptions) =>
      advise('hidden-flag', 'event.hide_from_listings', pluginOptions, [
        'meta.gig_start',
        'meta.gig_end',
        'meta.price',
      ]),
    row: 'event fields hide_from_listings',
    before: { fields: { hide_from_listings: 'meta.secret' } },
    follow: { fields: { hide_from_listings: undefined } },
  },
  {
    id: 'acf-in-rest',
    advice: () => advise('acf-in-rest'),
    row: 'event fields website',
    before: { fields: { website: 'acf.link' } },
    follow: {
      gigs: { acf: { link: 'string' }, records: [gig(1, VALUES, { acf: { link: 'https://tickets.example/' } })] },
    },
  },
  {
    id: 'path',
    advice: () => advise('path', 'gigs', Object.keys(gig(1))),
    row: 'event fields website',
    before: { fields: { website: 'ticket_link' } },
    follow: { fields: { website: 'link' } },
  },
  {
    id: 'codec',
    advice: () => advise('codec', 'event.start_date', false),
    row: 'event fields start_date',
    before: { gigs: { records: [gig(1, { ...VALUES, gig_start: '1. 5. 2031 at 19:30' })] } },
    follow: { fields: { start_date: { at: 'meta.gig_start', as: { 'local-datetime': 'j. n. Y \\a\\t H:i' } } } },
  },
  {
    id: 'codec',
    advice: () => advise('codec', 'event.start_date', true),
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
    id: 'fill-in',
    advice: () => advise('fill-in', false),
    row: 'event fields start_date',
    before: { gigs: { records: [gig(1), gig(2, { ...VALUES, gig_start: '' })] } },
    follow: { gigs: { records: times(2) } },
  },
  {
    id: 'fill-in',
    advice: () => advise('fill-in', true),
    row: 'event fields start_date',
    // A companion plugin that was made for the misspelt key has registered it.
    before: {
      gigs: { meta: { ...META, gig_strat: 'string' }, records: [gig(1, { ...VALUES, gig_strat: '' })] },
      fields: { start_date: 'meta.gig_strat' },
    },
    follow: { fields: { start_date: 'meta.gig_start' } },
  },
  {
    id: 'failed-list',
    advice: () => advise('failed-list'),
    row: 'writes event',
    before: { write: true, ...refuse(isList, 'rest_forbidden') },
    follow: ALLOW,
  },
  {
    id: 'link-target',
    advice: () => advise('link-target'),
    row: 'writes event links',
    before: { write: true, ...withHalls([]) },
    follow: withHalls([gig(4)]),
  },
  {
    id: 'create-refused',
    advice: () => advise('create-refused'),
    row: 'writes event',
    before: { write: true, ...refuse(({ method }) => method === 'POST', 'rest_cannot_create') },
    follow: ALLOW,
  },
  {
    id: 'remove-draft',
    advice: () => advise('remove-draft', 'calendar-gateway check TITLE'),
    row: 'writes event removal',
    before: { write: true, ...refuse(({ method }) => method === 'DELETE', 'rest_cannot_delete') },
    follow: { ...ALLOW, gigs: { records: times(2) } },
  },
  {
    id: 'type-support',
    advice: () => advise('type-support'),
    row: 'writes event.excerpt',
    before: { write: true, gigs: { unsupported: ['excerpt'] } },
    follow: { gigs: { unsupported: [] } },
  },
  {
    id: 'clear-with',
    advice: () => advise('clear-with'),
    row: 'writes event.cost',
    before: {
      write: true,
      gigs: { store: (key, value, before) => (key === 'price' && value === '' ? before : (value ?? '')) },
    },
    follow: { fields: { cost: { at: 'meta.price', clearWith: null } } },
  },
  {
    id: 'number-field',
    advice: () => advise('number-field'),
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
    id: 'required-field',
    advice: () => advise('required-field'),
    row: 'event fields required',
    before: { gigs: { acf: { contact: 'string' }, required: ['contact'] } },
    follow: { gigs: { required: [] } },
  },
  {
    id: 'value-changed',
    advice: () => advise('value-changed'),
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
    id: 'field-refused',
    advice: () => advise('field-refused'),
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
];
