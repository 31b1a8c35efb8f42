// Cases for the forms of requests, slugs, publication dates, statuses and deletes of events.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import { EVENT_KEYS, expectError, expectInvalid, expectMissingFields, ZERO_DATE } from '../expectations.ts';
import type { DefineCase } from '../gateway-scenario.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export function defineEventRequests(define: DefineCase): void {
  define('missing parameters are reported first, all together, in declared order', async ({ request }) => {
    expectMissingFields(await request('/events', { method: 'POST', json: {} }), 'title', 'start_date', 'end_date');
    expectMissingFields(
      await request('/events', { as: 'admin', json: { title: null, end_date: 'bad', all_day: 'zz' } }),
      'title',
      'start_date',
    );
  });

  define('forms, multipart bodies and the query are equivalent to JSON', async ({ request }) => {
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
    for (const { query = '', ...options } of bodies as (Json & { query?: string })[]) {
      const { status, body } = await request(`/events${query}`, { as: 'admin', ...options });
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body).to.include({ title: 'By form', featured: true, start_date: times.start_date });
    }
  });

  define('the body takes precedence over the query', async ({ request }) => {
    const { body } = await request('/events?title=Query&cost=3', { as: 'admin', json: { title: 'Body', ...times } });
    expect(body).to.include({ title: 'Body', cost: '$3' });
  });

  for (const [what, options] of Object.entries({
    'a text body': { body: JSON.stringify({ title: 'x', ...times }), headers: { 'content-type': 'text/plain' } },
    'a JSON list': { json: [] },
    'a JSON text': { json: 'title' },
    'JSON null': { json: null },
    'an empty JSON body': { body: '', headers: { 'content-type': 'application/json' } },
  })) {
    define(`${what} has no parameters`, async ({ request }) =>
      expectMissingFields(await request('/events', { as: 'admin', ...options }), 'title', 'start_date', 'end_date'),
    );
  }

  define('a slug is normalized, made unique, and changed by an update', async (context) => {
    const first = await context.create('/events', { title: 'Slugged', slug: 'My Slug!', ...times });
    const second = await context.create('/events', { title: 'Slugged', slug: 'my-slug', ...times });
    expect([first.slug, second.slug]).to.deep.equal(['my-slug', 'my-slug-2']);
    const moved = await context.request('/events/by-slug/my-slug-2', {
      as: 'admin',
      method: 'PUT',
      json: { slug: 'renamed', id: first.id },
    });
    expect(moved.status).to.equal(200);
    expect(moved.body).to.include({ id: second.id, slug: 'renamed' });
    expect((await context.request('/events/by-slug/renamed')).body.id).to.equal(second.id);
    expectInvalid(await context.request('/events/by-slug/my-slug-2'), 'slug');
  });

  define('a non-Latin slug is percent-encoded, and found in either form and case', async ({ request, create }) => {
    const created = await create('/events', { title: '日本 Fest', ...times });
    expect(created.slug).to.equal('%e6%97%a5%e6%9c%ac-fest');
    for (const slug of ['%E6%97%A5%E6%9C%AC-fest', '%e6%97%a5%e6%9c%ac-FEST', '%25e6%2597%25a5%25e6%259c%25ac-fest'])
      expect((await request(`/events/by-slug/${slug}`)).body.id, slug).to.equal(created.id);
  });

  define('backslashes are kept', async ({ create }) => {
    const created = await create('/events', { title: 'a\\b', description: 'c\\d', excerpt: 'e\\f', ...times });
    expect(created.title).to.equal('a\\b');
    expect(created.description).to.equal('<p>c\\d</p>');
    expect(created.excerpt).to.equal('<p>e\\f</p>');
  });

  define('website "0" counts as none for an event that never had one', async ({ create }) => {
    const created = await create('/events', { title: 'Nowhere', website: '0', ...times });
    expect(created.website).to.equal(created.url);
  });

  define('a draft has no slug, no UTC date and a plain URL', async ({ create, cms }) => {
    const { url } = await cms.site();
    const created = await create('/events', { title: 'Drafty', status: 'draft', ...times });
    expect(created).to.include({ slug: '', date_utc: ZERO_DATE, status: 'draft' });
    expect(created.url).to.match(new RegExp(`^${url}/\\?post_type=\\w+&p=${created.id}$`));
    expect(created.website).to.equal(created.url);
  });

  define(
    'a published event with a future publication date gets status future; date_utc follows',
    async ({ create, request, cms }) => {
      const { url } = await cms.site();
      const created = await create('/events', { title: 'To come', date: '2037-07-01 10:00:00', ...times });
      expect(created).to.include({ status: 'future', date: '2037-07-01 10:00:00', date_utc: '2037-07-01 14:00:00' });
      expect(created.url.startsWith(`${url}/?post_type=`)).to.equal(true);
      expect((await request(`/events/${created.id}`)).status).to.equal(403);
      const past = await create('/events', { title: 'Long ago', date_utc: '2020-01-01 12:00:00', ...times });
      expect(past).to.include({ status: 'publish', date: '2020-01-01 07:00:00', date_utc: '2020-01-01 12:00:00' });
    },
  );

  define(
    'a publication date with an offset or in Unix seconds is converted to the site’s time zone',
    async ({ create }) => {
      const offset = await create('/events', { title: 'Dated', date: '2020-01-01T12:00:00+00:00', ...times });
      expect(offset).to.include({ date: '2020-01-01 07:00:00', date_utc: '2020-01-01 12:00:00' });
      const seconds = await create('/events', { title: 'Dated', date: '1577880000', ...times });
      expect(seconds).to.include({ date: '2020-01-01 07:00:00' });
    },
  );

  define('statuses are stored, and kept by updates without one', async (context) => {
    for (const status of ['draft', 'pending', 'private', 'publish']) {
      const created = await context.create('/events', { title: `Is ${status}`, status, ...times });
      expect(created.status).to.equal(status);
      expect((await context.create(`/events/${created.id}`, { cost: 3 })).status).to.equal(status);
    }
  });

  define(
    'a delete moves to the trash and responds with the trashed record, without json_ld',
    async ({ request, create, cms }) => {
      const { url } = await cms.site();
      const created = await create('/events', { title: 'Goes away', ...times });
      const { status, body } = await request(`/events/${created.id}?force=true`, { as: 'admin', method: 'DELETE' });
      expect(status).to.equal(200);
      expect(Object.keys(body)).to.have.members(EVENT_KEYS);
      expect(body).to.include({ id: created.id, status: 'trash', slug: 'goes-away__trashed' });
      expect(body.url.startsWith(`${url}/?post_type=`)).to.equal(true);
      const again = { status: 410, code: 'event-is-in-trash', message: 'The event is already trashed' };
      expectError(await request(`/events/${created.id}`, { as: 'admin', method: 'DELETE' }), again);
      expectInvalid(await request('/events/by-slug/goes-away', { as: 'admin', method: 'DELETE' }), 'slug');
      expectError(await request('/events/by-slug/goes-away__trashed', { as: 'admin', method: 'DELETE' }), again);
      const unavailable = {
        status: 403,
        code: 'event-no-longer-available',
        message: 'This event is no longer available',
      };
      expectError(await request(`/events/${created.id}`, { as: 'admin' }), unavailable);
      expectError(await request(`/events/${created.id}`), unavailable);
    },
  );

  define('a trashed event stays in the trash until an update has a status', async ({ request, create }) => {
    const created = await create('/events', { title: 'Comes back', ...times });
    await request(`/events/${created.id}`, { as: 'admin', method: 'DELETE' });
    expect(await create(`/events/${created.id}`, { cost: 4 })).to.include({ status: 'trash', cost: '$4' });
    expect(await create(`/events/${created.id}`, { status: 'publish' })).to.include({
      status: 'publish',
      slug: 'comes-back',
    });
  });

  define('an update to status trash moves to the trash', async ({ create }) => {
    const created = await create('/events', { title: 'By status', ...times });
    expect(await create(`/events/${created.id}`, { status: 'trash' })).to.include({
      status: 'trash',
      slug: 'by-status__trashed',
    });
  });

  define('a create with status trash keeps a plain slug', async ({ create }) => {
    expect(await create('/events', { title: 'Born trashed', status: 'trash', ...times })).to.include({
      status: 'trash',
      slug: 'born-trashed',
    });
  });
}
