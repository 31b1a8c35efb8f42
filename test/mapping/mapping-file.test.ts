// Invalid mapping files are refused with location and reason; all bundled mappings are valid.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../src/errors.ts';
import { CMS_RULES } from '../../src/mapping/cms-rules.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import { partsOf } from '../config-fixture.ts';
import { sourceWith } from './samples.ts';

function errorOf(source: unknown): ConfigError {
  try {
    compileMapping(source, 'sample');
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return error as ConfigError;
  }
  throw new Error('the mapping compiled');
}

const payloadWith = (event: object, more: object = {}) => ({
  name: 'sample',
  upstream: 'payload',
  event: { collection: 'events', fields: { start_date: 'start', end_date: 'end' }, ...event },
  ...more,
});
const VENUE_BY_KEY = {
  fields: { start_date: 'start', end_date: 'end', venue: { at: 'place', via: { key: 'number' } } },
};
const PLACES = { venue: { collection: 'places', fields: { venue: 'name' } } };
const PARTS = [
  { at: 'meta.day', format: 'Y-m-d' },
  { at: 'meta.time', format: 'H:i' },
];
const PRESET_OF_PLUGIN = { preset: { title: 'Gigs', wordpress: { plugins: ['gigs'] } } };

const cases: [string, unknown, string, RegExp][] = [
  ['no object', 7, '/', /must be object/],
  ['no event', { name: 'x', upstream: 'wordpress' }, '/', /event/],
  ['another CMS', { ...sourceWith({}), upstream: 'drupal' }, '/upstream', /wordpress/],
  ['an unknown key', { ...sourceWith({}), venues: {} }, '/', /unknown key "venues"/],
  [
    'WordPress settings of a collection of Payload',
    payloadWith({ wordpress: {} }),
    '/event/wordpress',
    /not for the CMS/,
  ],
  ['posts of Payload', payloadWith({ posts: 'events' }), '/event/posts', /not for the CMS/],
  [
    'another key than the id for venues of Payload',
    payloadWith(VENUE_BY_KEY, PLACES),
    '/event/fields/venue/via',
    /not for the CMS/,
  ],
  ...(
    [
      ['venue', { read: 'place', write: { at: 'venue', as: { ids: 'one' } } }],
      ['venue', 'rows[0].venue'],
      ['venue', { at: 'details', json: 'venue' }],
      ['author', { read: 'shownAuthor', write: 'author' }],
      ['image', 'images[0].image'],
    ] as [string, unknown][]
  ).map(([name, spec]): [string, unknown, string, RegExp] => [
    `a reference of Payload at ${JSON.stringify(spec)}`,
    payloadWith({ fields: { start_date: 'start', end_date: 'end', [name]: spec } }, PLACES),
    `/event/fields/${name}`,
    /one path/,
  ]),
  ...(
    [
      ['status.value', /has a status/],
      ['flags[0].status', /one path/],
      [{ at: 'status.of.site' }, /has a status/],
      [{ read: 'workflow', write: ['state', 'workflow'] }, /one path/],
      [{ at: 'workflow', json: 'status' }, /one path/],
      [{ value: 'publish' }, /one path/],
      ['status', /has a status/],
      ['_status', /has a status/],
      ['deletedAt', /has a status/],
    ] as [unknown, RegExp][]
  ).map(([status, reason]): [string, unknown, string, RegExp] => [
    `a status of Payload at ${JSON.stringify(status)}`,
    payloadWith({ fields: { start_date: 'start', end_date: 'end', status } }),
    '/event/fields/status',
    reason,
  ]),
  ...(
    [
      ['status', { value: 'publish' }],
      ['status', 'meta.status'],
      ['status', { read: 'status', write: 'meta.status' }],
      ['author', 'meta.owner'],
      ['protected', { value: false }],
      ['protected', { at: 'content.protected', as: { boolean: [false, true] } }],
    ] as [string, unknown][]
  ).map(([name, spec]): [string, unknown, string, RegExp] => [
    `a WordPress field "${name}" at ${JSON.stringify(spec)}`,
    sourceWith({ [name]: spec }),
    `/event/fields/${name}`,
    /decides who sees a record/,
  ]),
  [
    'a companion plugin for Payload',
    payloadWith({}, { wordpress: { hooks: 'eventon' } }),
    '/wordpress',
    /not for the CMS/,
  ],
  ['plugins of a site of Payload', payloadWith({}, PRESET_OF_PLUGIN), '/preset/wordpress', /not for the CMS/],
  ['settings of Payload for WordPress', sourceWith({}, { payload: { users: 'x' } }), '/payload', /not for the CMS/],
  ['an unknown key of a kind', sourceWith({}, { venue: { posts: 'v', field: {} } }), '/venue', /unknown key "field"/],
  ['events as terms', sourceWith({}, { event: { terms: 'x' } }), '/event/terms', /not for this kind/],
  ['a venue as both', sourceWith({}, { venue: { posts: 'x', terms: 'y' } }), '/venue', /./],
  ...[{}, { terms: 'x' }, { terms: 'x', slug: '_{slug}', key: 'meta.x' }].map(
    (via): [string, object, string, RegExp] => [
      `a link by neither or both: ${Object.keys(via)}`,
      sourceWith({ venue: { at: 'meta.v', via } }),
      '/event/fields/venue/via',
      /must (have required property '(terms|slug)'|NOT have more than 2 properties)/,
    ],
  ),
  ...['via', 'embedded'].map((key): [string, object, string, RegExp] => [
    `a category with "${key}"`,
    sourceWith({ categories: { at: 'meta.v', [key]: { key: 'meta.x' } } }),
    `/event/fields/categories/${key}`,
    /not for this kind or field/,
  ]),
  ...['via', 'embedded'].map((key): [string, object, string, RegExp] => [
    `the name of a venue with "${key}"`,
    sourceWith({}, { venue: { posts: 'v', fields: { venue: { at: 'meta.v', [key]: { key: 'meta.x' } } } } }),
    `/venue/fields/venue/${key}`,
    /not for this kind or field/,
  ]),
  ['a category as posts', sourceWith({}, { category: { posts: 'x' } }), '/category/posts', /not for this kind/],
  ['a collection of Payload for WordPress', sourceWith({}, { tag: { collection: 'x' } }), '/tag/collection', /not for/],
  [
    'posts that are the collection of two kinds',
    sourceWith({}, { organizer: { posts: 'venues' } }),
    '/organizer',
    /"venues" is the collection of "venue" too/,
  ],
  ['terms that are the collection of two kinds', sourceWith({}, { tag: { terms: 'event_categories' } }), '/tag', /too/],
  [
    'a collection of Payload that is that of two kinds',
    payloadWith({}, { venue: { collection: 'events', fields: { venue: 'name' } } }),
    '/venue',
    /"events" is the collection of "event" too/,
  ],
  [
    "the events of Payload in its images' collection",
    payloadWith({}, { payload: { media: 'events' } }),
    '/event',
    /^[^\n]*"events" is the collection of the images too: name another one$/,
  ],
  [
    'venues of Payload in the collection of images that no key names',
    payloadWith({}, { venue: { collection: 'media', fields: { venue: 'name' } } }),
    '/venue',
    /"media" is the collection of the images too/,
  ],
  ...(
    [
      ['', { read: 'meta.ts', as: 'unix' }, /property at when property as/],
      ['', { read: 'meta.x', json: 'start' }, /property at when property json/],
      ['/clearWith', { read: 'meta.x', write: 'meta.x', clearWith: null }, /"write"/],
      ['', { parts: PARTS, as: 'unix' }, /property at when property as/],
      ['/read', { read: { parts: PARTS, json: 'start' } }, /property at when property json/],
    ] as [string, unknown, RegExp][]
  ).map(([pointer, spec, reason]): [string, unknown, string, RegExp] => [
    `a key without a meaning in ${JSON.stringify(spec)}`,
    sourceWith({ start_date: spec }),
    `/event/fields/start_date${pointer}`,
    reason,
  ]),
  ...(
    [
      ['json', { json: 'price', as: { ticket: { option: 'meta.o' } } }],
      ['clearWith', { clearWith: null, as: { currency: { symbol: 'meta.s', position: 'meta.p' } } }],
    ] as [string, object][]
  ).map(([key, spec]): [string, unknown, string, RegExp] => [
    `a key "${key}" beside a codec of several paths`,
    sourceWith({ cost: { at: 'meta.cost', ...spec } }),
    `/event/fields/cost/${key}`,
    /does not go with the codec/,
  ]),
  ['a field the interface lacks', sourceWith({ start: 'meta.x' }), '/event/fields/start', /no such field of events/],
  [
    'a field of another kind',
    sourceWith({}, { venue: { posts: 'v', fields: { email: 'meta.e' } } }),
    '/venue/fields/email',
    /no such field of venues/,
  ],
  [
    'occurrences of a venue',
    sourceWith({}, { venue: { posts: 'v', occurrences: {} } }),
    '/venue/occurrences',
    /not for this kind/,
  ],
  [
    'custom fields of a term',
    sourceWith({}, { tag: { terms: 'tags', custom_fields: { x: 'meta.x' } } }),
    '/tag/custom_fields',
    /not for this kind/,
  ],
  [
    'a custom field with a blank in its name',
    sourceWith({}, {}, { custom_fields: { 'door time': 'meta.x' } }),
    '/event/custom_fields',
    /must match pattern|property name/,
  ],
  [
    'a custom field without a location',
    sourceWith({}, {}, { custom_fields: { x: { filter: true } } }),
    '/event/custom_fields/x',
    /must have required property 'at'/,
  ],
  [
    'a bad path of a custom field',
    sourceWith({}, {}, { custom_fields: { x: { at: 'meta..x' } } }),
    '/event/custom_fields/x/at',
    /is no path/,
  ],
  [
    'a codec that does not fit a custom field',
    sourceWith({}, {}, { custom_fields: { x: { at: 'meta.x', as: 'ids' } } }),
    '/event/custom_fields/x/as',
    /fitting are text/,
  ],
  [
    'too many custom fields',
    sourceWith(
      {},
      {},
      { custom_fields: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`x${n}`, 'meta.x'])) },
    ),
    '/event/custom_fields',
    /50/,
  ],
  ['a missing required field', sourceWith({ start_date: undefined }), '/event/fields/start_date', /is required/],
  ['an unknown codec', sourceWith({ cost: { at: 'meta.c', as: 'money' } }), '/event/fields/cost/as', /one of/],
  [
    'a codec that does not fit',
    sourceWith({ cost: { at: 'meta.c', as: 'unix' } }),
    '/event/fields/cost/as',
    /fitting are text, plain-text, number/,
  ],
  ['a bad path', sourceWith({ cost: 'meta..c' }), '/event/fields/cost', /is no path/],
  ['a path into the prototype', sourceWith({ cost: '__proto__.c' }), '/event/fields/cost', /is no path/],
  [
    'a bad path inside JSON',
    sourceWith({ cost: { at: 'meta.c', json: '[x' } }),
    '/event/fields/cost/json',
    /is no path/,
  ],
  [
    'an unknown date letter',
    sourceWith({ start_date: { at: 'meta.s', as: { 'local-datetime': 'Y-m-d Q' } } }),
    '/event/fields/start_date/as',
    /unknown letter Q/,
  ],
  [
    'a date without a year',
    sourceWith({ start_date: { at: 'meta.s', as: { 'local-datetime': 'm-d' } } }),
    '/event/fields/start_date/as',
    /year, month and day/,
  ],
  [
    'a twelve-hour clock without am and pm',
    sourceWith({ start_date: { at: 'meta.s', as: { 'local-datetime': 'Y-m-d g:i' } } }),
    '/event/fields/start_date/as',
    /am or pm/,
  ],
  [
    'a fixed value of the wrong type',
    sourceWith({ show_map: { value: 'yes' } }),
    '/event/fields/show_map/value',
    /must be a boolean/,
  ],
  [
    'write without read',
    sourceWith({ cost: { at: 'meta.c', write: 'meta.d' } }),
    '/event/fields/cost',
    /must have property read when property write is present/,
  ],
  [
    'a link to a kind that is nowhere',
    sourceWith({ venue: 'meta.v' }, { venue: undefined }),
    '/event/fields/venue',
    /does not say where venues are/,
  ],
  [
    'parts of something that is no date',
    sourceWith({
      cost: {
        parts: [
          { at: 'a', format: 'Y' },
          { at: 'b', format: 'm' },
        ],
      },
    }),
    '/event/fields/cost/parts',
    /only a date/,
  ],
  [
    'an embedded record without a name',
    sourceWith({ venue: { embedded: { city: 'meta.c' } } }),
    '/event/fields/venue/embedded',
    /lacks/,
  ],
  [
    'two spellings alike',
    sourceWith({ featured: { at: 'meta.f', as: { boolean: ['1', '1'] } } }),
    '/event/fields/featured/as/boolean',
    /./,
  ],
];

describe('invalid mapping file', () => {
  for (const [name, source, pointer, reason] of cases)
    it(`names location and reason: ${name}`, () => {
      const error = errorOf(JSON.parse(JSON.stringify(source)));
      expect(partsOf(error).location).to.equal(`mapping sample, at ${pointer}`);
      expect(error.message).to.match(reason);
    });

  it('lists the known keys beside an unknown one', () => {
    expect(errorOf(sourceWith({}, {}, { readonly: true })).message).to.match(/known are .*readOnly/);
    expect(errorOf(sourceWith({}, {}, { wordpress: { listparams: {} } })).message).to.include(
      'at /event/wordpress: has the unknown key "listparams"; known are listParams, statuses, resendAfterCreate',
    );
  });

  it('lists the fields of the kind', () => {
    expect(errorOf(sourceWith({ start: 'meta.x' })).message).to.include('start_date, end_date');
  });
});

describe('loadMapping', () => {
  it('may repeat where WordPress has what decides who sees a record, and make it read-only', () => {
    const fields = {
      status: { at: 'status', readOnly: true },
      author: 'author',
      protected: { at: 'content.protected' },
    };
    const { event } = compileMapping(sourceWith(fields), 'sample').kinds;
    expect(event.paths.get('status')).to.equal('status');
    expect(event.writable.has('status')).to.equal(false);
    expect(event.writable.has('author')).to.equal(true);
  });

  it('compiles every bundled mapping', () => {
    expect(mappingNames()).to.include.members(['wordpress-meta', 'acf', 'pods', 'gatherpress', 'eventon']);
    for (const name of mappingNames()) expect(loadMapping(name).name).to.equal(name);
  });

  it('may name each CMS that the gateway knows', () => {
    const path = new URL('../../src/mapping/mapping.schema.json', import.meta.url);
    const { properties, allOf } = JSON.parse(readFileSync(path, 'utf8'));
    const names = Object.keys(CMS_RULES);
    expect(properties.upstream.enum).to.have.members(names);
    // What only a mapping of this CMS may have.
    expect(
      allOf.map((part: { if: { properties: { upstream: { const: string } } } }) => part.if.properties.upstream.const),
    ).to.have.members(names);
  });

  it('lists the bundled mappings for an unknown name', () => {
    expect(() => loadMapping('nothing-such')).to.throw(ConfigError, /wordpress-meta/);
  });

  it('names an upstream that is no text', () => {
    const error = errorOf({ name: 'sample', upstream: { toString: 1 }, event: { posts: 'events' } });
    expect(error.message).to.include('/upstream');
  });

  it('accepts a path, and refuses a file that is not JSON', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mapping-'));
    try {
      const file = join(folder, 'mine.json');
      writeFileSync(file, JSON.stringify(sourceWith({})));
      expect(loadMapping(file).name).to.equal('sample');
      writeFileSync(file, '{ "name": ');
      expect(() => loadMapping(file)).to.throw(ConfigError, /is not JSON/);
      expect(() => loadMapping(join(folder, 'none.json'))).to.throw(ConfigError, /no such file/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
