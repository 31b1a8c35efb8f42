// Cases for password-protected records, and for the UTC dates of drafts.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import { EVENT_KEYS, expectError, expectInvalid, ZERO_DATE } from '../expectations.ts';
import type { DefineCase, ScenarioContext } from '../gateway-scenario.ts';
import { ALL_ROLES, body, KINDS, passwordRequired, times } from './roles.ts';

/** Adds the protected event to `created` as `locked`. */
export function definePasswordsAndDrafts(define: DefineCase, created: Record<string, Json>): void {
  const protect = async ({ gateway, cms, as }: ScenarioContext, kind: 'event' | 'venue', id: number) => {
    const { mapping, sync } = gateway.services;
    await cms.update(mapping.kinds[kind]!, id, { password: 'sesame' }, { credentials: as.admin });
    await sync.fetchWritten([{ kind, id }]);
  };

  define('a password-protected event is 403 without the password, for every role', async (context) => {
    const { request, create } = context;
    const event = await create(
      '/events',
      { title: 'Locked', description: 'D', cost: '5', categories: 'Hidden cat', ...times },
      'author',
    );
    created.locked = event;
    await protect(context, 'event', event.id);
    for (const as of ALL_ROLES) expectError(await request(`/events/${event.id}`, { as }), passwordRequired);
    expectError(await request(`/events/${event.id}?password=wrong`), passwordRequired);
    expectInvalid(await request(`/events/${event.id}?password=`), 'password');
    for (const path of [`/events/${event.id}`, `/events/by-slug/${event.slug}`]) {
      const { status, body: got } = await request(`${path}?password=sesame`);
      expect(status).to.equal(200);
      expect(got).to.include({ description: '<p>D</p>', cost: '$5' }).and.not.have.property('json_ld');
      expect(got.categories).to.have.length(1);
    }
    for (const as of ['author', 'editor', 'admin'])
      expect((await request(`/events/${event.id}?context=edit`, { as })).body, as)
        .to.include({ description: '<p>D</p>' })
        .and.not.have.property('json_ld');
    for (const as of [undefined, 'subscriber', 'contributor'])
      expectError(await request(`/events/${event.id}?context=edit`, { as }), passwordRequired);
    const updated = await create(`/events/${event.id}`, { cost: '6' }, 'author');
    expect(updated).to.include({ description: '<p>D</p>', cost: '$6' });
  });

  define(
    'lists show a password-protected event without its contents, to the administrator too',
    async ({ request }) => {
      for (const as of [undefined, 'admin']) {
        const {
          events: [record],
        } = (await request(`/events?include=${created.locked.id}`, { as })).body;
        expect(Object.keys(record)).to.have.members(EVENT_KEYS);
        expect(record).to.deep.include({
          id: created.locked.id,
          title: 'Locked',
          description: '',
          excerpt: '',
          cost: '',
          website: '',
          image: false,
          cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
          categories: [],
          tags: [],
          venue: [],
          organizer: [],
          custom_fields: [],
          start_date: times.start_date,
          all_day: null,
          show_map: null,
          show_map_link: null,
          hide_from_listings: null,
          sticky: null,
          featured: null,
        });
      }
    },
  );

  define('a list does not take the password', async ({ request }) => {
    const path = `/events?include=${created.locked.id}&password=sesame`;
    for (const as of [undefined, 'admin'])
      expect((await request(path, { as })).body.events[0]).to.include({ description: '', all_day: null });
  });

  define(
    'the UTC date of a record that was never published is zeros, unless the request has one',
    async ({ create }) => {
      for (const kind of KINDS) {
        let count = 0;
        const createDraft = async (fields: object) => {
          count += 1;
          const draft = body(kind, `Undated ${kind} ${count}`, { status: 'draft', ...fields });
          const { date, date_utc } = await create(`/${kind}s`, draft);
          return { date, date_utc };
        };
        const date = '2020-01-01 05:00:00';
        expect((await createDraft({})).date_utc).to.equal(ZERO_DATE);
        expect(await createDraft({ date })).to.deep.equal({ date, date_utc: ZERO_DATE });
        expect(await createDraft({ date, status: 'pending' })).to.deep.equal({ date, date_utc: ZERO_DATE });
        const dated = { date, date_utc: '2020-01-01 10:00:00' };
        expect(await createDraft(dated)).to.deep.equal(dated);
        expect(await createDraft({ date_utc: dated.date_utc })).to.deep.equal(dated);
      }
    },
  );

  define(
    'a draft gets its UTC date when it is published, and keeps it when it becomes a draft again',
    async ({ create }) => {
      for (const kind of KINDS) {
        const date = '2020-01-01 05:00:00';
        const { id } = await create(`/${kind}s`, body(kind, `Dated ${kind}`, { status: 'draft', date }));
        const path = `/${kind}s/${id}`;
        expect((await create(path, { description: 'Still a draft' })).date_utc).to.equal(ZERO_DATE);
        expect(await create(path, { status: 'publish', date })).to.include({ date, date_utc: '2020-01-01 10:00:00' });
        expect((await create(path, { status: 'draft' })).date_utc).to.equal('2020-01-01 10:00:00');
      }
    },
  );

  define('a password-protected venue has no contents, except with the password or for its editor', async (context) => {
    const { request, create } = context;
    const venue = await create('/venues', { venue: 'Locked hall', description: 'D', city: 'C', phone: '1' }, 'author');
    await protect(context, 'venue', venue.id);
    const event = await create('/events', { title: 'In a locked hall', venue: venue.id, ...times });
    const blank = { venue: [], show_map: null, show_map_link: null, slug: venue.slug };
    for (const path of [`/venues/${venue.id}`, `/venues/${venue.id}?password=wrong`, `/venues/${venue.id}?password=`]) {
      for (const as of [undefined, 'admin']) {
        const { status, body: got } = await request(path, { as });
        expect(status).to.equal(200);
        expect(got).to.deep.include(blank).and.not.have.property('json_ld');
        expect(got).to.not.have.any.keys('address', 'city', 'phone', 'website', 'description');
      }
    }
    const listed = (await request('/venues?search=zzz&per_page=50')).body.total;
    expect(listed).to.equal(0);
    const { venues } = (await request('/venues?per_page=50')).body;
    expect(venues.find(({ id }: Json) => id === venue.id)).to.deep.include(blank);
    expect((await request(`/events/${event.id}`)).body.venue)
      .to.deep.include(blank)
      .and.not.have.property('json_ld');
    const open = await request(`/venues/${venue.id}?password=sesame`);
    expect(open.body).to.include({ venue: 'Locked hall', city: 'C' }).and.have.property('json_ld');
    expect((await request(`/venues/${venue.id}?context=edit`, { as: 'author' })).body).to.include({
      venue: 'Locked hall',
      show_map: true,
    });
  });
}
