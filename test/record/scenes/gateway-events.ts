// Events written field by field (interface-behaviour 5.1-5.4, 6, and the departures on updates and dates).

import { expect } from 'chai';
import type { Json } from '../../gateway-under-test.ts';
import {
  EVENT_KEYS,
  expectInvalid,
  expectMissing,
  expectNamed,
  expectRefused,
  lasting,
  MOMENT,
  NEVER,
} from '../expectations.ts';
import { gatewayScene, type Play } from '../gateway-scene.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export const scene = gatewayScene('gateway-events', { service: true }, (rule) => {
  const read = async ({ ask }: Play, id: number): Promise<Json> => (await ask(`/events/${id}`, { as: 'admin' })).body;
  let full: Json;

  rule('a create answers 201 with all forty keys, and none more', async ({ ask, upstream }) => {
    const { url } = await upstream.site();
    const { status, body } = await ask('/events', { as: 'admin', json: { title: 'First event', ...times } });
    expect(status).to.equal(201);
    expect(Object.keys(body)).to.have.members(EVENT_KEYS);
    expect(body).to.deep.include({
      ...{ status: 'publish', title: 'First event', slug: 'first-event', description: '', excerpt: '', image: false },
      ...{ url: `${url}/event/first-event/`, website: `${url}/event/first-event/` },
      ...{ timezone: 'America/New_York', timezone_abbr: 'EST', all_day: false },
      ...{ start_date: times.start_date, end_date: times.end_date },
      ...{ utc_start_date: '2027-01-10 15:00:00', utc_end_date: '2027-01-10 17:00:00' },
      start_date_details: { year: '2027', month: '01', day: '10', hour: '10', minutes: '00', seconds: '00' },
      cost: '',
      cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
      ...{ show_map: false, show_map_link: false, hide_from_listings: false, sticky: false, featured: false },
      ...{ categories: [], tags: [], venue: [], organizer: [], custom_fields: [] },
    });
    expect(body.author).to.be.a('string');
    expect(body.rest_url).to.match(new RegExp(`/calendar/events/v1/events/${body.id}$`));
    expect(body.global_id).to.equal(`${new URL(url).hostname}?id=${body.id}`);
    expect(body.global_id_lineage).to.deep.equal([body.global_id]);
    for (const key of ['date', 'date_utc', 'modified', 'modified_utc']) expect(body[key]).to.match(MOMENT);
  });

  rule('texts come back as the site renders them', async (play) => {
    full = await play.make('/events', {
      title: 'Tom & "Q" -- 2x4...',
      description: "Para one\n\nPara 'two'\nline",
      excerpt: 'Short',
      website: 'https://x.example/?a=1&b=2',
      cost: '10-20',
      ...{ timezone: 'Europe/Paris', show_map: true, show_map_link: 'TRUE', sticky: 1, featured: '1', ...times },
    });
    expect(full).to.deep.include({
      title: 'Tom &#038; &#8220;Q&#8221; &#8212; 2&#215;4&#8230;',
      description: '<p>Para one</p>\n<p>Para &#8216;two&#8217;<br />\nline</p>',
      excerpt: '<p>Short</p>',
      ...{ timezone: 'Europe/Paris', timezone_abbr: 'CET', utc_start_date: '2027-01-10 09:00:00' },
      ...{ show_map: true, show_map_link: true, sticky: true, featured: true, hide_from_listings: false },
      cost: '$10 – $20',
    });
  });

  rule('a website comes back as it was sent, not HTML-escaped', async () => {
    expect(full.website).to.equal('https://x.example/?a=1&b=2');
  });

  rule('an update changes what was sent and nothing else', async (play) => {
    const { status, body } = await play.ask(`/events/${full.id}`, {
      as: 'admin',
      method: 'PATCH',
      json: { title: 'Renamed' },
    });
    expect(status).to.equal(200);
    expect(body.title).to.equal('Renamed');
    expect(body).to.not.have.property('json_ld');
    expect(lasting(body, 'title')).to.deep.equal(lasting(full, 'title'));
  });

  for (const method of ['POST', 'PUT', 'PATCH']) {
    rule(`${method} on an item is the same partial update`, async ({ ask }) => {
      const { status, body } = await ask(`/events/${full.id}`, { as: 'admin', method, json: { cost: method.length } });
      expect(status).to.equal(200);
      expect(body).to.deep.include({ cost: `$${method.length}`, website: full.website, timezone: 'Europe/Paris' });
    });
  }

  rule('start or end alone is applied, and the other stays', async (play) => {
    const { body } = await play.ask(`/events/${full.id}`, { as: 'admin', json: { end_date: '2027-01-10 13:30:00' } });
    expect(body).to.include({
      start_date: times.start_date,
      end_date: '2027-01-10 13:30:00',
      utc_end_date: '2027-01-10 12:30:00',
    });
    const later = await play.ask(`/events/${full.id}`, { as: 'admin', json: { start_date: '2027-01-10 11:00:00' } });
    expect(later.body).to.include({ start_date: '2027-01-10 11:00:00', end_date: '2027-01-10 13:30:00' });
  });

  rule('an end before the start is refused by name, whichever of the two was sent', async ({ ask }) => {
    const item = `/events/${full.id}`;
    expectNamed(await ask(item, { as: 'admin', json: { start_date: '2027-01-11' } }), 'start_date');
    expectNamed(await ask(item, { as: 'admin', json: { end_date: '2027-01-09' } }), 'end_date');
    expectNamed(
      await ask('/events', { as: 'admin', json: { title: 'x', start_date: '2027-01-02', end_date: '2027-01-01' } }),
      'end_date',
    );
  });

  rule('a time zone alone keeps the wall-clock time and recomputes UTC', async ({ ask }) => {
    const { body } = await ask(`/events/${full.id}`, { as: 'admin', json: { timezone: 'Asia/Tokyo' } });
    expect(body).to.include({ timezone: 'Asia/Tokyo', timezone_abbr: 'JST', start_date: '2027-01-10 11:00:00' });
    expect(body).to.include({ utc_start_date: '2027-01-10 02:00:00', utc_end_date: '2027-01-10 04:30:00' });
  });

  rule('all_day alone makes whole days of the stored dates', async ({ ask }) => {
    const { body } = await ask(`/events/${full.id}`, { as: 'admin', json: { all_day: true } });
    expect(body).to.include({ all_day: true, start_date: '2027-01-10 00:00:00', end_date: '2027-01-10 23:59:59' });
    expect(body.utc_start_date).to.equal('2027-01-09 15:00:00');
  });

  rule('an empty website clears, and stays cleared until one is sent', async (play) => {
    const item = `/events/${full.id}`;
    expect((await play.ask(item, { as: 'admin', json: { website: '' } })).body.website).to.equal('');
    expect((await play.ask(item, { as: 'admin', json: { cost: '5' } })).body.website).to.equal('');
    expect((await read(play, full.id)).website).to.equal('');
    const sent = await play.ask(item, { as: 'admin', json: { website: 'http://A.example' } });
    expect(sent.body.website).to.equal('http://A.example');
  });

  for (const website of ['0', 0]) {
    rule(`website ${JSON.stringify(website)} is kept by an update`, async (play) => {
      const item = `/events/${full.id}`;
      expect((await play.ask(item, { as: 'admin', json: { website } })).body.website).to.equal('0');
      expect((await read(play, full.id)).website).to.equal('0');
      const sent = await play.ask(item, { as: 'admin', json: { website: 'http://A.example' } });
      expect(sent.body.website).to.equal('http://A.example');
    });
  }

  for (const cost of ['', null, false, []]) {
    rule(`cost ${JSON.stringify(cost)} clears`, async ({ ask }) => {
      const item = `/events/${full.id}`;
      expect((await ask(item, { as: 'admin', json: { cost: 7 } })).body.cost).to.equal('$7');
      expect((await ask(item, { as: 'admin', json: { cost } })).body.cost).to.equal('');
    });
  }

  const READINGS: [string, Json, Json][] = [
    [
      'a date alone is midnight',
      { start_date: '2027-03-01', end_date: '2027-03-02' },
      { start_date: '2027-03-01 00:00:00', end_date: '2027-03-02 00:00:00' },
    ],
    [
      'a day that does not exist rolls over',
      { start_date: '2027-02-30', end_date: '2027-03-05' },
      { start_date: '2027-03-02 00:00:00' },
    ],
    [
      '24:00:00 is the next day',
      { start_date: '2027-03-01 24:00:00', end_date: '2027-03-05' },
      { start_date: '2027-03-02 00:00:00' },
    ],
    [
      'a time that daylight saving leaves out moves on',
      { start_date: '2027-03-14 02:30:00', end_date: '2027-03-14 05:00:00' },
      { start_date: '2027-03-14 03:30:00', utc_start_date: '2027-03-14 07:30:00' },
    ],
    [
      'a time that comes twice is the first',
      { start_date: '2027-11-07 01:30:00', end_date: '2027-11-07 05:00:00' },
      { utc_start_date: '2027-11-07 05:30:00', timezone_abbr: 'EDT' },
    ],
    [
      'Z names an instant, shown in the zone of the event',
      { start_date: '2027-07-10T10:00:00Z', end_date: '2027-07-10T12:00:00Z', timezone: 'Europe/Paris' },
      { start_date: '2027-07-10 12:00:00', utc_start_date: '2027-07-10 10:00:00' },
    ],
    [
      'an offset names an instant',
      { start_date: '2027-07-10T10:00:00+09:00', end_date: '2027-07-10T12:00:00+09:00' },
      { start_date: '2027-07-09 21:00:00', utc_start_date: '2027-07-10 01:00:00' },
    ],
    [
      'Unix seconds are an instant',
      { start_date: '1799582400', end_date: '1799586000' },
      { utc_start_date: '2027-01-10 12:00:00', start_date: '2027-01-10 07:00:00' },
    ],
    [
      'equal times are fine',
      { start_date: '2027-03-01 10:00', end_date: '2027-03-01 10:00' },
      { start_date: '2027-03-01 10:00:00', end_date: '2027-03-01 10:00:00' },
    ],
    [
      'an all-day event covers whole days',
      { start_date: '2027-03-01 10:00', end_date: '2027-03-03 09:00', all_day: true },
      { start_date: '2027-03-01 00:00:00', end_date: '2027-03-03 23:59:59', all_day: true },
    ],
    [
      'UTC+2 is a fixed offset in summer too',
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC+2' },
      { timezone: 'UTC+2', timezone_abbr: 'UTC+2', utc_start_date: '2027-07-01 08:00:00' },
    ],
    [
      'UTC+14 and UTC-12 are the ends',
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC+14' },
      { utc_start_date: '2027-06-30 20:00:00' },
    ],
    [
      'half hours',
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC-3.5' },
      { utc_start_date: '2027-07-01 13:30:00', timezone_abbr: 'UTC-3.5' },
    ],
    [
      'a zone keeps its letter case',
      { ...times, timezone: 'europe/paris' },
      { timezone: 'europe/paris', timezone_abbr: 'CET' },
    ],
    [
      'an abbreviation is a zone',
      { ...times, timezone: 'est' },
      { timezone: 'est', timezone_abbr: 'EST', utc_start_date: '2027-01-10 15:00:00' },
    ],
    [
      'a bare offset is a zone',
      { ...times, timezone: '+02:00' },
      { timezone: '+02:00', timezone_abbr: 'GMT+0200', utc_start_date: '2027-01-10 08:00:00' },
    ],
    ['an empty zone is the zone of the site', { ...times, timezone: '' }, { timezone: 'America/New_York' }],
  ];
  for (const [name, json, wanted] of READINGS) {
    rule(`dates: ${name}`, async ({ make }) =>
      expect(await make('/events', { title: name, ...json })).to.deep.include(wanted),
    );
  }

  const REFUSED_FIELDS: [string, Json][] = [
    ['start_date', '0'],
    ['start_date', '0000-00-00 00:00:00'],
    ['start_date', 'soon'],
    ['end_date', ''],
    ['end_date', ['2027-01-01']],
    ['title', ''],
    ['title', '0'],
    ['title', 5],
    ['title', '   '],
    ['description', ''],
    ['excerpt', 5],
    ['slug', []],
    ['author', 999_999],
    ['author', 'admin'],
    ['date', 'bad'],
    ['status', 'any'],
    ['status', ''],
    ['status', 'inherit'],
    ['status', 'auto-draft'],
    ['timezone', 'Mars/Base'],
    ['timezone', 'local'],
    ['timezone', 'utc+2'],
    ['website', 'example.com'],
    ['website', 'javascript:alert(1)'],
    ['website', true],
    ['image', 'nothing'],
    ['image', ''],
    ['image', 999_999],
    ['venue', 999_999],
    ['venue', 'Hall'],
    ['venue', { city: 'no name' }],
    ['organizer', { organizer: 'x', website: 'bad' }],
  ];
  for (const [name, value] of REFUSED_FIELDS) {
    rule(`${name} ${JSON.stringify(value)} is refused, on create and on update`, async ({ ask }) => {
      expectNamed(await ask('/events', { as: 'admin', json: { title: 'x', ...times, [name]: value } }), name);
      expectNamed(await ask(`/events/${full.id}`, { as: 'admin', json: { [name]: value } }), name);
    });
  }

  rule('what is required is asked for first, all at once, in declared order', async ({ ask }) => {
    expectMissing(await ask('/events', { method: 'POST', json: {} }), 'title', 'start_date', 'end_date');
    expectMissing(
      await ask('/events', { as: 'admin', json: { title: null, end_date: 'bad', all_day: 'zz' } }),
      'title',
      'start_date',
    );
  });

  rule('forms, multipart bodies and the query say the same as JSON', async ({ ask }) => {
    const form = new URLSearchParams({ title: 'By form', ...times, featured: 'true' }).toString();
    const bodies = [
      { form },
      { method: 'POST', query: `?${form}` },
      {
        headers: { 'content-type': 'multipart/form-data; boundary=xx' },
        body: Object.entries({ title: 'By form', ...times, featured: 'true' })
          .map(([name, value]) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
          .join('')
          .concat('--xx--\r\n'),
      },
      {
        headers: { 'content-type': 'application/vnd.api+json; charset=utf-8' },
        body: JSON.stringify({ title: 'By form', ...times, featured: true }),
      },
    ];
    for (const { query = '', ...request } of bodies as (Json & { query?: string })[]) {
      const { status, body } = await ask(`/events${query}`, { as: 'admin', ...request });
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body).to.include({ title: 'By form', featured: true, start_date: times.start_date });
    }
  });

  rule('the body goes before the query', async ({ ask }) => {
    const { body } = await ask('/events?title=Query&cost=3', { as: 'admin', json: { title: 'Body', ...times } });
    expect(body).to.include({ title: 'Body', cost: '$3' });
  });

  for (const [what, request] of Object.entries({
    'a text body': { body: JSON.stringify({ title: 'x', ...times }), headers: { 'content-type': 'text/plain' } },
    'a JSON list': { json: [] },
    'a JSON text': { json: 'title' },
    'JSON null': { json: null },
    'an empty JSON body': { body: '', headers: { 'content-type': 'application/json' } },
  })) {
    rule(`${what} holds no parameters`, async ({ ask }) =>
      expectMissing(await ask('/events', { as: 'admin', ...request }), 'title', 'start_date', 'end_date'),
    );
  }

  rule('a slug is made plain, counted on when it is taken, and a slug in an update renames', async (play) => {
    const one = await play.make('/events', { title: 'Slugged', slug: 'My Slug!', ...times });
    const two = await play.make('/events', { title: 'Slugged', slug: 'my-slug', ...times });
    expect([one.slug, two.slug]).to.deep.equal(['my-slug', 'my-slug-2']);
    const moved = await play.ask('/events/by-slug/my-slug-2', {
      as: 'admin',
      method: 'PUT',
      json: { slug: 'renamed', id: one.id },
    });
    expect(moved.status).to.equal(200);
    expect(moved.body).to.include({ id: two.id, slug: 'renamed' });
    expect((await play.ask('/events/by-slug/renamed')).body.id).to.equal(two.id);
    expectInvalid(await play.ask('/events/by-slug/my-slug-2'), 'slug');
  });

  rule(
    'a slug that is not Latin is kept in percent signs, and found by either spelling and case',
    async ({ ask, make }) => {
      const made = await make('/events', { title: '日本 Fest', ...times });
      expect(made.slug).to.equal('%e6%97%a5%e6%9c%ac-fest');
      for (const slug of ['%E6%97%A5%E6%9C%AC-fest', '%e6%97%a5%e6%9c%ac-FEST', '%25e6%2597%25a5%25e6%259c%25ac-fest'])
        expect((await ask(`/events/by-slug/${slug}`)).body.id, slug).to.equal(made.id);
    },
  );

  rule('backslashes survive', async ({ make }) => {
    const made = await make('/events', { title: 'a\\b', description: 'c\\d', excerpt: 'e\\f', ...times });
    expect(made.title).to.equal('a\\b');
    expect(made.description).to.equal('<p>c\\d</p>');
    expect(made.excerpt).to.equal('<p>e\\f</p>');
  });

  rule('website "0" is none for an event that never had one', async ({ make }) => {
    const made = await make('/events', { title: 'Nowhere', website: '0', ...times });
    expect(made.website).to.equal(made.url);
  });

  rule('a draft has no slug, no UTC date and a plain address', async ({ make, upstream }) => {
    const { url } = await upstream.site();
    const made = await make('/events', { title: 'Drafty', status: 'draft', ...times });
    expect(made).to.include({ slug: '', date_utc: NEVER, status: 'draft' });
    expect(made.url).to.match(new RegExp(`^${url}/\\?post_type=\\w+&p=${made.id}$`));
    expect(made.website).to.equal(made.url);
  });

  rule(
    'a publication date to come makes a published event future; date_utc follows',
    async ({ make, ask, upstream }) => {
      const { url } = await upstream.site();
      const made = await make('/events', { title: 'To come', date: '2037-07-01 10:00:00', ...times });
      expect(made).to.include({ status: 'future', date: '2037-07-01 10:00:00', date_utc: '2037-07-01 14:00:00' });
      expect(made.url.startsWith(`${url}/?post_type=`)).to.equal(true);
      expect((await ask(`/events/${made.id}`)).status).to.equal(403);
      const past = await make('/events', { title: 'Long ago', date_utc: '2020-01-01 12:00:00', ...times });
      expect(past).to.include({ status: 'publish', date: '2020-01-01 07:00:00', date_utc: '2020-01-01 12:00:00' });
    },
  );

  rule('a publication date with an offset, or in Unix seconds, is an instant in site time', async ({ make }) => {
    const offset = await make('/events', { title: 'Dated', date: '2020-01-01T12:00:00+00:00', ...times });
    expect(offset).to.include({ date: '2020-01-01 07:00:00', date_utc: '2020-01-01 12:00:00' });
    const seconds = await make('/events', { title: 'Dated', date: '1577880000', ...times });
    expect(seconds).to.include({ date: '2020-01-01 07:00:00' });
  });

  rule('statuses are stored as a publisher sends them, and kept when none is sent', async (play) => {
    for (const status of ['draft', 'pending', 'private', 'publish']) {
      const made = await play.make('/events', { title: `Is ${status}`, status, ...times });
      expect(made.status).to.equal(status);
      expect((await play.make(`/events/${made.id}`, { cost: 3 })).status).to.equal(status);
    }
  });

  rule('deleting moves to the trash: the record as it is there, without json_ld', async ({ ask, make, upstream }) => {
    const { url } = await upstream.site();
    const made = await make('/events', { title: 'Goes away', ...times });
    const { status, body } = await ask(`/events/${made.id}?force=true`, { as: 'admin', method: 'DELETE' });
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.have.members(EVENT_KEYS);
    expect(body).to.include({ id: made.id, status: 'trash', slug: 'goes-away__trashed' });
    expect(body.url.startsWith(`${url}/?post_type=`)).to.equal(true);
    const again = { status: 410, code: 'event-is-in-trash', message: 'The event is already trashed' };
    expectRefused(await ask(`/events/${made.id}`, { as: 'admin', method: 'DELETE' }), again);
    expectInvalid(await ask('/events/by-slug/goes-away', { as: 'admin', method: 'DELETE' }), 'slug');
    expectRefused(await ask('/events/by-slug/goes-away__trashed', { as: 'admin', method: 'DELETE' }), again);
    const gone = { status: 403, code: 'event-no-longer-available', message: 'This event is no longer available' };
    expectRefused(await ask(`/events/${made.id}`, { as: 'admin' }), gone);
    expectRefused(await ask(`/events/${made.id}`), gone);
  });

  rule('a trashed event stays in the trash until a status is sent', async ({ ask, make }) => {
    const made = await make('/events', { title: 'Comes back', ...times });
    await ask(`/events/${made.id}`, { as: 'admin', method: 'DELETE' });
    expect(await make(`/events/${made.id}`, { cost: 4 })).to.include({ status: 'trash', cost: '$4' });
    expect(await make(`/events/${made.id}`, { status: 'publish' })).to.include({
      status: 'publish',
      slug: 'comes-back',
    });
  });

  rule('status trash in an update moves to the trash', async ({ make }) => {
    const made = await make('/events', { title: 'By status', ...times });
    expect(await make(`/events/${made.id}`, { status: 'trash' })).to.include({
      status: 'trash',
      slug: 'by-status__trashed',
    });
  });

  rule('status trash on create keeps a plain slug', async ({ make }) => {
    expect(await make('/events', { title: 'Born trashed', status: 'trash', ...times })).to.include({
      status: 'trash',
      slug: 'born-trashed',
    });
  });
});
