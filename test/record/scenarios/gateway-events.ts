// Writes of events, field by field.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import { defineEventDates } from '../cases/event-dates.ts';
import { defineEventRequests } from '../cases/event-requests.ts';
import { EVENT_KEYS, expectFieldsNamed, TIMESTAMP, withoutVolatileFields } from '../expectations.ts';
import { gatewayScenario, type ScenarioContext } from '../gateway-scenario.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export const scenario = gatewayScenario('gateway-events', { service: true }, (define) => {
  const read = async ({ request }: ScenarioContext, id: number): Promise<Json> =>
    (await request(`/events/${id}`, { as: 'admin' })).body;
  let full: Json;

  define('a create responds with 201 and exactly forty keys', async ({ request, cms }) => {
    const { url } = await cms.site();
    const { status, body } = await request('/events', { as: 'admin', json: { title: 'First event', ...times } });
    expect(status).to.equal(201);
    expect(Object.keys(body)).to.have.members(EVENT_KEYS);
    expect(body).to.deep.include({
      status: 'publish',
      title: 'First event',
      slug: 'first-event',
      description: '',
      excerpt: '',
      image: false,
      url: `${url}/event/first-event/`,
      website: `${url}/event/first-event/`,
      timezone: 'America/New_York',
      timezone_abbr: 'EST',
      all_day: false,
      start_date: times.start_date,
      end_date: times.end_date,
      utc_start_date: '2027-01-10 15:00:00',
      utc_end_date: '2027-01-10 17:00:00',
      start_date_details: { year: '2027', month: '01', day: '10', hour: '10', minutes: '00', seconds: '00' },
      cost: '',
      cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
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
    });
    expect(body.author).to.be.a('string');
    expect(body.rest_url).to.match(new RegExp(`/calendar/events/v1/events/${body.id}$`));
    expect(body.global_id).to.equal(`${new URL(url).hostname}?id=${body.id}`);
    expect(body.global_id_lineage).to.deep.equal([body.global_id]);
    for (const key of ['date', 'date_utc', 'modified', 'modified_utc']) expect(body[key]).to.match(TIMESTAMP);
  });

  define('texts are rendered by the site', async (context) => {
    full = await context.create('/events', {
      title: 'Tom & "Q" -- 2x4...',
      description: "Para one\n\nPara 'two'\nline",
      excerpt: 'Short',
      website: 'https://x.example/?a=1&b=2',
      cost: '10-20',
      timezone: 'Europe/Paris',
      show_map: true,
      show_map_link: 'TRUE',
      sticky: 1,
      featured: '1',
      ...times,
    });
    expect(full).to.deep.include({
      title: 'Tom &#038; &#8220;Q&#8221; &#8212; 2&#215;4&#8230;',
      description: '<p>Para one</p>\n<p>Para &#8216;two&#8217;<br />\nline</p>',
      excerpt: '<p>Short</p>',
      timezone: 'Europe/Paris',
      timezone_abbr: 'CET',
      utc_start_date: '2027-01-10 09:00:00',
      show_map: true,
      show_map_link: true,
      sticky: true,
      featured: true,
      hide_from_listings: false,
      cost: '$10 – $20',
    });
  });

  define('a website is not HTML-escaped', async () => {
    expect(full.website).to.equal('https://x.example/?a=1&b=2');
  });

  define('an update changes only the fields in the request', async (context) => {
    const { status, body } = await context.request(`/events/${full.id}`, {
      as: 'admin',
      method: 'PATCH',
      json: { title: 'Renamed' },
    });
    expect(status).to.equal(200);
    expect(body.title).to.equal('Renamed');
    expect(body).to.not.have.property('json_ld');
    expect(withoutVolatileFields(body, 'title')).to.deep.equal(withoutVolatileFields(full, 'title'));
  });

  for (const method of ['POST', 'PUT', 'PATCH']) {
    define(`${method} on an item is the same partial update`, async ({ request }) => {
      const { status, body } = await request(`/events/${full.id}`, {
        as: 'admin',
        method,
        json: { cost: method.length },
      });
      expect(status).to.equal(200);
      expect(body).to.deep.include({ cost: `$${method.length}`, website: full.website, timezone: 'Europe/Paris' });
    });
  }

  define('an update of only start or end keeps the other', async (context) => {
    const { body } = await context.request(`/events/${full.id}`, {
      as: 'admin',
      json: { end_date: '2027-01-10 13:30:00' },
    });
    expect(body).to.include({
      start_date: times.start_date,
      end_date: '2027-01-10 13:30:00',
      utc_end_date: '2027-01-10 12:30:00',
    });
    const later = await context.request(`/events/${full.id}`, {
      as: 'admin',
      json: { start_date: '2027-01-10 11:00:00' },
    });
    expect(later.body).to.include({ start_date: '2027-01-10 11:00:00', end_date: '2027-01-10 13:30:00' });
  });

  define('an end before the start is rejected by the name of the field that was sent', async ({ request }) => {
    const item = `/events/${full.id}`;
    expectFieldsNamed(await request(item, { as: 'admin', json: { start_date: '2027-01-11' } }), 'start_date');
    expectFieldsNamed(await request(item, { as: 'admin', json: { end_date: '2027-01-09' } }), 'end_date');
    expectFieldsNamed(
      await request('/events', { as: 'admin', json: { title: 'x', start_date: '2027-01-02', end_date: '2027-01-01' } }),
      'end_date',
    );
  });

  define('an update of only the time zone keeps the local time and recomputes UTC', async ({ request }) => {
    const { body } = await request(`/events/${full.id}`, { as: 'admin', json: { timezone: 'Asia/Tokyo' } });
    expect(body).to.include({ timezone: 'Asia/Tokyo', timezone_abbr: 'JST', start_date: '2027-01-10 11:00:00' });
    expect(body).to.include({ utc_start_date: '2027-01-10 02:00:00', utc_end_date: '2027-01-10 04:30:00' });
  });

  define('an update of only all_day extends the stored dates to whole days', async ({ request }) => {
    const { body } = await request(`/events/${full.id}`, { as: 'admin', json: { all_day: true } });
    expect(body).to.include({ all_day: true, start_date: '2027-01-10 00:00:00', end_date: '2027-01-10 23:59:59' });
    expect(body.utc_start_date).to.equal('2027-01-09 15:00:00');
  });

  define('an empty website clears it until a request has another one', async (context) => {
    const item = `/events/${full.id}`;
    expect((await context.request(item, { as: 'admin', json: { website: '' } })).body.website).to.equal('');
    expect((await context.request(item, { as: 'admin', json: { cost: '5' } })).body.website).to.equal('');
    expect((await read(context, full.id)).website).to.equal('');
    const sent = await context.request(item, { as: 'admin', json: { website: 'http://A.example' } });
    expect(sent.body.website).to.equal('http://A.example');
  });

  for (const website of ['0', 0]) {
    define(`website ${JSON.stringify(website)} is kept by an update`, async (context) => {
      const item = `/events/${full.id}`;
      expect((await context.request(item, { as: 'admin', json: { website } })).body.website).to.equal('0');
      expect((await read(context, full.id)).website).to.equal('0');
      const sent = await context.request(item, { as: 'admin', json: { website: 'http://A.example' } });
      expect(sent.body.website).to.equal('http://A.example');
    });
  }

  for (const cost of ['', null, false, []]) {
    define(`cost ${JSON.stringify(cost)} clears`, async ({ request }) => {
      const item = `/events/${full.id}`;
      expect((await request(item, { as: 'admin', json: { cost: 7 } })).body.cost).to.equal('$7');
      expect((await request(item, { as: 'admin', json: { cost } })).body.cost).to.equal('');
    });
  }

  defineEventDates(define);

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
    define(`${name} ${JSON.stringify(value)} is rejected, on create and on update`, async ({ request }) => {
      expectFieldsNamed(await request('/events', { as: 'admin', json: { title: 'x', ...times, [name]: value } }), name);
      expectFieldsNamed(await request(`/events/${full.id}`, { as: 'admin', json: { [name]: value } }), name);
    });
  }

  defineEventRequests(define);
});
