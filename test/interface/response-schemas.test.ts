// The response schemas agree with responses of The Events Calendar.

import { Ajv } from 'ajv';
import { expect } from 'chai';
import { BODY_PARAMETERS } from '../../src/interface/fields.ts';
import { RECORD_SCHEMAS, type SchemaName } from '../../src/interface/response-schemas.ts';

describe('response schemas', () => {
  const ajv = new Ajv({
    schemas: [{ $id: 'doc', components: { schemas: RECORD_SCHEMAS } }],
    strict: false,
    validateFormats: false,
  });
  const problems = (name: SchemaName, value: unknown) => {
    const validate = ajv.compile({ $ref: `doc#/components/schemas/${name}` });
    return validate(value) ? [] : validate.errors;
  };
  const post = {
    id: 5,
    author: '1',
    status: 'publish',
    date: '2026-11-20 21:44:08',
    date_utc: '2026-11-21 02:44:08',
    modified: '2026-11-20 21:44:08',
    modified_utc: '2026-11-21 02:44:08',
    url: 'https://example.org/event/first-event/',
    global_id: 'example.org?id=5',
    global_id_lineage: ['example.org?id=5'],
  };
  const details = { year: '2027', month: '01', day: '10', hour: '10', minutes: '00', seconds: '00' };
  const venue = { ...post, venue: 'Hall', slug: 'hall', show_map: true, show_map_link: false };
  const image = { url: 'https://example.org/big.png', id: 258, extension: 'png', width: 8, height: 6, filesize: 3236 };
  const term = {
    name: 'Sub &amp; more',
    slug: 'sub',
    term_group: 0,
    term_taxonomy_id: 5,
    taxonomy: 'calendar_events_cat',
    description: '',
    parent: 4,
    count: 7,
    filter: 'raw',
    id: 5,
    urls: { self: 'https://example.org/5', collection: 'https://example.org', up: 'https://example.org/4' },
  };
  const event = {
    ...post,
    rest_url: 'https://example.org/events/5',
    title: 'First',
    description: '<p>One</p>',
    excerpt: '',
    slug: 'first',
    image: false,
    all_day: false,
    start_date: '2027-01-10 10:00:00',
    start_date_details: details,
    end_date: '2027-01-10 12:00:00',
    end_date_details: details,
    utc_start_date: '2027-01-10 15:00:00',
    utc_start_date_details: details,
    utc_end_date: '2027-01-10 17:00:00',
    utc_end_date_details: details,
    timezone: 'America/New_York',
    timezone_abbr: 'EST',
    cost: '',
    cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
    website: '',
    show_map: false,
    show_map_link: false,
    hide_from_listings: false,
    sticky: false,
    featured: false,
    categories: [],
    tags: [],
    venue: [],
    organizer: [],
    custom_fields: [],
  };

  it('accept responses of The Events Calendar', () => {
    expect(problems('Event', event)).to.deep.equal([]);
    expect(problems('Event', { ...event, venue, image, categories: [term], json_ld: {} })).to.deep.equal([]);
    expect(problems('Event', { ...event, venue: [venue, venue] })).to.deep.equal([]);
    expect(problems('Venue', { ...venue, json_ld: {}, image, zip: '10001' })).to.deep.equal([]);
    expect(problems('Organizer', { ...post, organizer: 'Ann', slug: 'ann', email: 'a@b.c' })).to.deep.equal([]);
    const sizes = { medium: { width: 3, height: 2, 'mime-type': 'image/png', filesize: 845, url: image.url } };
    expect(problems('Image', { ...image, sizes })).to.deep.equal([]);
  });

  it('require 40 properties of an event, and have json_ld and the additions', () => {
    expect(Object.keys(event)).to.have.length(40);
    expect(RECORD_SCHEMAS.Event.required).to.have.members(Object.keys(event));
    // `custom_fields` is among the forty: the original has it too.
    const added = BODY_PARAMETERS.event.filter(({ addition, name }) => addition && name !== 'custom_fields');
    const all = [...Object.keys(event), 'json_ld', ...added.map(({ name }) => name), 'source', 'also_at'];
    expect(Object.keys(RECORD_SCHEMAS.Event.properties!)).to.have.members(all);
  });

  it('reject wrong types', () => {
    expect(problems('Event', { ...event, author: 1 })).not.to.be.empty;
    expect(problems('Event', { ...event, image: true })).not.to.be.empty;
    expect(problems('DateDetails', { ...details, year: 2027 })).not.to.be.empty;
  });
});
