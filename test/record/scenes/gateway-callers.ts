// Who may see and do what (interface-behaviour 0, 3.3, 3.4, 4, 7, and the departures on permission).

import { expect } from 'chai';
import type { Json } from '../../gateway-under-test.ts';
import { EVENT_KEYS, expectForbidden, expectInvalid, expectNamed, expectRefused, NEVER } from '../expectations.ts';
import { gatewayScene, type Play } from '../gateway-scene.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
const EVERYBODY = [undefined, 'subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
const STAFF = ['contributor', 'author', 'editor', 'admin'];
const HIDDEN = ['draft', 'pending', 'private', 'future'] as const;
const title = { event: 'title', venue: 'venue', organizer: 'organizer' } as const;
type Kind = keyof typeof title;
const KINDS: Kind[] = ['event', 'venue', 'organizer'];

const blocked = (kind: Kind) => ({
  ...{ status: 403, code: `${kind}-not-accessible` },
  message: `The requested ${kind} is not accessible`,
});
const locked = {
  ...{ status: 403, code: 'event-password-protected' },
  message: 'The requested event is not accessible without a password',
};

export const scene = gatewayScene('gateway-callers', { service: true }, (rule) => {
  const made: Record<string, Json> = {};
  const body = (kind: Kind, name: string, more: object = {}) => ({
    [title[kind]]: name,
    ...(kind === 'event' ? times : {}),
    ...more,
  });
  const only = (owner: string, as: string | undefined) => as === owner || as === 'editor' || as === 'admin';

  for (const kind of KINDS) {
    for (const status of HIDDEN) {
      const when = status === 'future' ? { date: '2037-01-01 10:00:00' } : {};
      rule(
        `a ${status} ${kind} of an author is read by its author and editors, and 403 for all others`,
        async ({ ask, make }) => {
          const one = await make(`/${kind}s`, body(kind, `${status} ${kind}`, { status, ...when }), 'author');
          expect(one.status).to.equal(status);
          made[`${status} ${kind}`] = one;
          for (const as of EVERYBODY) {
            const answer = await ask(`/${kind}s/${one.id}`, { as });
            if (only('author', as)) expect(answer.body, String(as)).to.include({ id: one.id, status });
            else expectRefused(answer, blocked(kind));
            if (one.slug === '') continue;
            const bySlug = await ask(`/${kind}s/by-slug/${one.slug}`, { as });
            expect([bySlug.status, bySlug.body.code ?? bySlug.body.id], `by slug: ${as}`).to.deep.equal([
              answer.status,
              answer.body.code ?? answer.body.id,
            ]);
          }
        },
      );
    }

    rule(`a trashed ${kind}`, async ({ ask, make }) => {
      const one = await make(`/${kind}s`, body(kind, `trashed ${kind}`), 'author');
      expect((await ask(`/${kind}s/${one.id}`, { as: 'author', method: 'DELETE' })).status).to.equal(200);
      for (const as of EVERYBODY) {
        const answer = await ask(`/${kind}s/${one.id}`, { as });
        if (kind === 'event')
          expectRefused(answer, {
            status: 403,
            code: 'event-no-longer-available',
            message: 'This event is no longer available',
          });
        else if (only('author', as)) expect(answer.body.status).to.equal('trash');
        else expectRefused(answer, blocked(kind));
      }
    });

    rule(`lists of ${kind}s: the public sees what is published, staff what single reads show them`, async ({ ask }) => {
      const dates = kind === 'event' ? '&start_date=2027-01-10&end_date=2027-01-10' : '';
      for (const as of EVERYBODY) {
        const { status, body: list, headers } = await ask(`/${kind}s?per_page=50${dates}`, { as });
        expect(status).to.equal(200);
        const shown = new Set(list[`${kind}s`].map(({ id }: Json) => id));
        for (const hidden of HIDDEN) {
          const { id } = made[`${hidden} ${kind}`];
          const one = await ask(`/${kind}s/${id}`, { as });
          expect(shown.has(id), `${as} ${hidden}`).to.equal(one.status === 200);
        }
        expect(list.total).to.equal(shown.size);
        expect(headers['x-tec-total']).to.equal(String(list.total));
        const staff = STAFF.includes(String(as));
        expect(list.rest_url).to.match(new RegExp(`[?&]status=${staff ? 'any' : 'publish'}(&|$)`));
      }
    });

    rule(`lists of ${kind}s: statuses by name are for staff, and only those that exist`, async ({ ask }) => {
      const dates = kind === 'event' ? '&start_date=2027-01-10&end_date=2027-01-10' : '';
      for (const as of [undefined, 'subscriber']) {
        for (const status of ['draft', 'publish,draft', 'any', ''])
          expectInvalid(await ask(`/${kind}s?status=${status}`, { as }), 'status');
        expect((await ask(`/${kind}s?status=publish`, { as })).status).to.equal(200);
      }
      for (const as of STAFF) {
        for (const status of ['any', 'bogus', 'publish,bogus', ''])
          expectInvalid(await ask(`/${kind}s?status=${status}`, { as }), 'status');
        const { body: list } = await ask(`/${kind}s?status=draft,+private&per_page=50${dates}`, { as });
        const statuses = new Set(list[`${kind}s`].map(({ status }: Json) => status));
        expect([...statuses].sort(), as).to.deep.equal(as === 'contributor' ? [] : ['draft', 'private']);
        expect((await ask(`/${kind}s?status[]=trash${dates}`, { as })).body.total > 0, `trash ${as}`).to.equal(
          as !== 'contributor',
        );
        for (const status of ['auto-draft', 'inherit'])
          expect((await ask(`/${kind}s?status=${status}`, { as })).status).to.equal(200);
      }
    });

    rule(`who creates a ${kind}, with which status`, async ({ ask }) => {
      expectForbidden(await ask(`/${kind}s`, { json: body(kind, 'x') }), 401);
      expectForbidden(await ask(`/${kind}s`, { as: 'subscriber', json: body(kind, 'x') }), 403);
      const table: [string | undefined, string, string][] = [
        [undefined, 'publish', 'draft'],
        ['publish', 'publish', 'pending'],
        ['draft', 'draft', 'draft'],
        ['pending', 'pending', 'pending'],
        ['private', 'private', 'pending'],
        ['future', 'publish', 'pending'],
      ];
      for (const [index, [status, publisher, contributor]] of table.entries()) {
        for (const [as, wanted] of [
          ['author', publisher],
          ['contributor', contributor],
        ] as const) {
          const answer = await ask(`/${kind}s`, {
            as,
            json: body(kind, `${index} by ${as}`, status === undefined ? {} : { status }),
          });
          expect([answer.status, answer.body.status], `${as} ${status}`).to.deep.equal([201, wanted]);
        }
      }
      const dated = await ask(`/${kind}s`, {
        as: 'contributor',
        json: body(kind, 'Later', { status: 'future', date: '2037-02-03 10:00:00' }),
      });
      expect(dated.body).to.include({ status: 'pending', date: '2037-02-03 10:00:00' });
    });

    rule(`who changes and deletes a ${kind}: by slug the same as by id`, async ({ ask, make }) => {
      const published = await make(`/${kind}s`, body(kind, `Published ${kind}`), 'author');
      const draft = await make(`/${kind}s`, body(kind, `Own ${kind}`, { status: 'draft' }), 'contributor');
      for (const path of [`/${kind}s/${published.id}`, `/${kind}s/by-slug/${published.slug}`]) {
        for (const method of ['PATCH', 'DELETE']) {
          const json = method === 'PATCH' ? { json: { description: 'x' } } : {};
          expectForbidden(await ask(path, { method, ...json }), 401);
          for (const as of ['subscriber', 'contributor'])
            expectForbidden(await ask(path, { as, method, ...json }), 403);
        }
        for (const as of ['author', 'editor', 'admin'])
          expect((await ask(path, { as, method: 'PATCH', json: { description: `by ${as}` } })).status).to.equal(200);
      }
      expect((await ask(`/${kind}s/${published.id}`)).body.status).to.equal('publish');
      const foreign = await make(`/${kind}s`, body(kind, `Foreign ${kind}`), 'editor');
      expectForbidden(await ask(`/${kind}s/${foreign.id}`, { as: 'author', method: 'DELETE' }), 403);
      const own = await ask(`/${kind}s/${draft.id}`, { as: 'contributor', json: { description: 'mine' } });
      expect([own.status, own.body.status]).to.deep.equal([200, 'draft']);
      expect((await ask(`/${kind}s/${draft.id}`, { as: 'contributor', method: 'DELETE' })).status).to.equal(200);
    });

    rule(`only editors give a ${kind} another author`, async ({ ask, make }) => {
      const { author: editor } = await make(`/${kind}s`, body(kind, `Of an editor ${kind}`), 'editor');
      for (const as of ['contributor', 'author'])
        expectForbidden(await ask(`/${kind}s`, { as, json: body(kind, 'x', { author: editor }) }), 403);
      const own = await make(`/${kind}s`, body(kind, `Given ${kind}`), 'author');
      expect(
        (await ask(`/${kind}s/${own.id}`, { as: 'author', json: { author: Number(own.author) } })).status,
      ).to.equal(200);
      expectForbidden(await ask(`/${kind}s/${own.id}`, { as: 'author', json: { author: Number(editor) } }), 403);
      expect((await make(`/${kind}s/${own.id}`, { author: Number(editor) }, 'editor')).author).to.equal(editor);
    });
  }

  rule('what is missing or wrong is told before who is asking', async ({ ask }) => {
    expect((await ask('/events', { json: {} })).status).to.equal(400);
    expectInvalid(await ask('/events', { json: { title: '', ...times } }), 'title');
    expectInvalid(await ask('/venues/999999', { method: 'DELETE' }), 'id');
    expectForbidden(await ask('/events/999999', { method: 'DELETE' }), 401);
    expectForbidden(await ask('/events/by-slug/no-such', { json: { title: 'x' } }), 401);
    expectForbidden(await ask('/events/by-slug/no-such', { as: 'subscriber', json: { title: 'x' } }), 403);
  });

  rule('categories are for publishers to write, tags for editors', async ({ ask, make }) => {
    const category = await make('/categories', { name: 'Of admin' });
    const tag = await make('/tags', { name: 'Of admin' });
    for (const [path, id, may] of [
      ['/categories', category.id, ['author', 'editor', 'admin']],
      ['/tags', tag.id, ['editor', 'admin']],
    ] as const) {
      expectForbidden(await ask(path, { json: { name: 'x' } }), 401);
      for (const as of ['subscriber', 'contributor', 'author', 'editor']) {
        const allowed = (may as readonly string[]).includes(as);
        const answers = [
          await ask(path, { as, json: { name: `By ${as}` } }),
          await ask(`${path}/${id}`, { as, json: { description: as } }),
        ];
        if (allowed)
          expect(
            answers.map(({ status }) => status),
            as,
          ).to.deep.equal([201, 200]);
        else for (const answer of answers) expectForbidden(answer, 403);
        if (!allowed) expectForbidden(await ask(`${path}/${id}`, { as, method: 'DELETE' }), 403);
      }
    }
  });

  rule('a draft venue of a public event is left out for those who could not read it', async ({ ask, make }) => {
    const venue = await make('/venues', { venue: 'Secret hall', status: 'draft' }, 'author');
    const organizer = await make('/organizers', { organizer: 'Secret club', status: 'private' }, 'author');
    const event = await make('/events', { title: 'With secrets', venue: venue.id, organizer: organizer.id, ...times });
    for (const as of EVERYBODY) {
      for (const path of [`/events/${event.id}`, `/events?include=${event.id}`]) {
        const { body: got } = await ask(path, { as });
        const one = got.events?.[0] ?? got;
        const seen = only('author', as);
        expect(one.venue.id, `${as} ${path}`).to.equal(seen ? venue.id : undefined);
        expect(one.organizer.length, `${as} ${path}`).to.equal(seen ? 1 : 0);
      }
    }
  });

  const protect = async ({ gateway, upstream, as }: Play, kind: 'event' | 'venue', id: number) => {
    const { mapping, replica, site } = gateway.backing;
    const { base, read } = mapping.kinds[kind]!;
    const native = await upstream.update(base, id, { password: 'sesame' }, { credentials: as.admin });
    replica.put([read(native, site())]);
  };

  rule('a password-protected event: refused without the password, whoever asks', async (play) => {
    const { ask, make } = play;
    const event = await make(
      '/events',
      { title: 'Locked', description: 'D', cost: '5', categories: 'Hidden cat', ...times },
      'author',
    );
    made.locked = event;
    await protect(play, 'event', event.id);
    for (const as of EVERYBODY) expectRefused(await ask(`/events/${event.id}`, { as }), locked);
    expectRefused(await ask(`/events/${event.id}?password=wrong`), locked);
    expectInvalid(await ask(`/events/${event.id}?password=`), 'password');
    for (const path of [`/events/${event.id}`, `/events/by-slug/${event.slug}`]) {
      const { status, body: got } = await ask(`${path}?password=sesame`);
      expect(status).to.equal(200);
      expect(got).to.include({ description: '<p>D</p>', cost: '$5' }).and.not.have.property('json_ld');
      expect(got.categories).to.have.length(1);
    }
    for (const as of ['author', 'editor', 'admin'])
      expect((await ask(`/events/${event.id}?context=edit`, { as })).body, as)
        .to.include({ description: '<p>D</p>' })
        .and.not.have.property('json_ld');
    for (const as of [undefined, 'subscriber', 'contributor'])
      expectRefused(await ask(`/events/${event.id}?context=edit`, { as }), locked);
    const updated = await make(`/events/${event.id}`, { cost: '6' }, 'author');
    expect(updated).to.include({ description: '<p>D</p>', cost: '$6' });
  });

  rule('a password-protected event is listed with its contents blanked, for admin too', async ({ ask }) => {
    for (const as of [undefined, 'admin']) {
      const {
        events: [one],
      } = (await ask(`/events?include=${made.locked.id}`, { as })).body;
      expect(Object.keys(one)).to.have.members(EVENT_KEYS);
      expect(one).to.deep.include({
        ...{ id: made.locked.id, title: 'Locked', description: '', excerpt: '', cost: '', website: '', image: false },
        cost_details: { currency_symbol: '', currency_code: '', currency_position: '', values: [] },
        ...{ categories: [], tags: [], venue: [], organizer: [], custom_fields: [], start_date: times.start_date },
        ...{
          all_day: null,
          show_map: null,
          show_map_link: null,
          hide_from_listings: null,
          sticky: null,
          featured: null,
        },
      });
    }
  });

  rule('a list shows staff in full what the password they send opens', async ({ ask }) => {
    const path = `/events?include=${made.locked.id}&password=`;
    expect((await ask(`${path}sesame`, { as: 'admin' })).body.events[0]).to.include({
      description: '<p>D</p>',
      all_day: false,
    });
    expect((await ask(`${path}wrong`, { as: 'admin' })).body.events[0]).to.include({ description: '', all_day: null });
    expect((await ask(`${path}sesame`)).body.events[0]).to.include({ description: '', all_day: null });
  });

  rule('the UTC date of what was never published is zeros, unless one was sent', async ({ make }) => {
    for (const kind of KINDS) {
      const dates = async (path: string, sent: object) => {
        const { date, date_utc } = await make(path, sent);
        return { date, date_utc };
      };
      let made = 0;
      const create = (sent: object) => {
        made += 1;
        return dates(`/${kind}s`, body(kind, `Undated ${kind} ${made}`, { status: 'draft', ...sent }));
      };
      const date = '2020-01-01 05:00:00';
      expect((await create({})).date_utc).to.equal(NEVER);
      expect(await create({ date })).to.deep.equal({ date, date_utc: NEVER });
      expect(await create({ date, status: 'pending' })).to.deep.equal({ date, date_utc: NEVER });
      const dated = { date, date_utc: '2020-01-01 10:00:00' };
      expect(await create(dated)).to.deep.equal(dated);
      expect(await create({ date_utc: dated.date_utc })).to.deep.equal(dated);
    }
  });

  rule('the UTC date of a draft comes with its publication, and stays when that is taken back', async ({ make }) => {
    for (const kind of KINDS) {
      const date = '2020-01-01 05:00:00';
      const { id } = await make(`/${kind}s`, body(kind, `Dated ${kind}`, { status: 'draft', date }));
      const path = `/${kind}s/${id}`;
      expect((await make(path, { description: 'Still a draft' })).date_utc).to.equal(NEVER);
      expect(await make(path, { status: 'publish', date })).to.include({ date, date_utc: '2020-01-01 10:00:00' });
      expect((await make(path, { status: 'draft' })).date_utc).to.equal('2020-01-01 10:00:00');
    }
  });

  rule('a password-protected venue is blanked, full with the password or for its editor', async (play) => {
    const { ask, make } = play;
    const venue = await make('/venues', { venue: 'Locked hall', description: 'D', city: 'C', phone: '1' }, 'author');
    await protect(play, 'venue', venue.id);
    const event = await make('/events', { title: 'In a locked hall', venue: venue.id, ...times });
    const blank = {
      venue: [],
      description: '',
      city: '',
      phone: '',
      show_map: null,
      show_map_link: null,
      slug: venue.slug,
    };
    for (const path of [`/venues/${venue.id}`, `/venues/${venue.id}?password=wrong`, `/venues/${venue.id}?password=`]) {
      for (const as of [undefined, 'admin']) {
        const { status, body: got } = await ask(path, { as });
        expect(status).to.equal(200);
        expect(got).to.deep.include(blank).and.not.have.property('json_ld');
        expect(got).to.not.have.any.keys('address', 'website');
      }
    }
    const listed = (await ask('/venues?search=zzz&per_page=50')).body.total;
    expect(listed).to.equal(0);
    const { venues } = (await ask('/venues?per_page=50')).body;
    expect(venues.find(({ id }: Json) => id === venue.id)).to.deep.include(blank);
    expect((await ask(`/events/${event.id}`)).body.venue)
      .to.deep.include(blank)
      .and.not.have.property('json_ld');
    const open = await ask(`/venues/${venue.id}?password=sesame`);
    expect(open.body).to.include({ venue: 'Locked hall', city: 'C' }).and.have.property('json_ld');
    expect((await ask(`/venues/${venue.id}?context=edit`, { as: 'author' })).body).to.include({
      venue: 'Locked hall',
      show_map: true,
    });
  });

  rule('wrong credentials are told on every route, also on public reads', async ({ ask }) => {
    const message = 'The provided password is an invalid application password.';
    for (const path of ['/events', '/venues/1', '/nowhere', ''])
      expectRefused(await ask(path, { as: 'stranger' }), { status: 401, code: 'incorrect_password', message });
    const nobody = `Basic ${Buffer.from('nobody-here:x').toString('base64')}`;
    expectRefused(await ask('/events', { headers: { authorization: nobody } }), {
      ...{ status: 401, code: 'invalid_username' },
      message: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
    });
    const mail = `Basic ${Buffer.from('nobody@here.example:x').toString('base64')}`;
    expectRefused(await ask('/events', { headers: { authorization: mail } }), {
      ...{ status: 401, code: 'invalid_email' },
      message: '<strong>Error:</strong> Unknown email address. Check again or try your username.',
    });
    const nameless = `Basic ${Buffer.from(':x').toString('base64')}`;
    expectRefused(await ask('/events', { headers: { authorization: nameless } }), {
      ...{ status: 401, code: 'invalid_username' },
      message: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
    });
    const withoutPassword = ['admin:', ':', 'admin'].map((text) => `Basic ${Buffer.from(text).toString('base64')}`);
    for (const authorization of ['Bearer x', 'Basic', 'Basic !!', ...withoutPassword])
      expect((await ask('/events', { headers: { authorization } })).status, authorization).to.equal(200);
  });

  rule('Allow says what the caller may do there', async ({ ask, make }) => {
    const { id } = await make('/events', { title: 'Allowed', ...times }, 'editor');
    const category = await make('/categories', { name: 'Allowed' });
    const ITEM = 'GET, DELETE, POST, PUT, PATCH';
    const TERM = 'GET, POST, PUT, PATCH, DELETE';
    const table: [string, string | undefined, string][] = [
      ['/events', undefined, 'GET'],
      ['/events', 'subscriber', 'GET'],
      ['/events', 'contributor', 'GET, POST'],
      ['/events', 'admin', 'GET, POST'],
      [`/events/${id}`, undefined, 'GET'],
      [`/events/${id}`, 'contributor', 'GET'],
      [`/events/${id}`, 'author', 'GET'],
      [`/events/${id}`, 'admin', ITEM],
      ['/categories', 'author', 'GET, POST'],
      ['/tags', 'author', 'GET'],
      ['/tags', 'editor', 'GET, POST'],
      [`/categories/${category.id}`, 'admin', TERM],
      [`/categories/${category.id}`, 'contributor', 'GET'],
    ];
    for (const [path, as, wanted] of table) {
      expect((await ask(path, { as })).headers.allow, `${as} ${path}`).to.equal(wanted);
      expect((await ask(path, { as, method: 'OPTIONS' })).headers.allow, `OPTIONS ${as} ${path}`).to.equal(wanted);
    }
  });

  rule('ids: unknown, of another type, with leading zeros, too long', async ({ ask, make }) => {
    const event = await make('/events', { title: 'Ids', ...times });
    const venue = await make('/venues', { venue: 'Ids' });
    const missing = (id: number | string) => ({
      status: 404,
      code: 'rest-event-not-found',
      message: `Event with ID ${id} does not exist.`,
    });
    const notOne = { status: 400, code: 'rest-invalid-event-id', message: 'The specified ID is not a valid event.' };
    for (const as of [undefined, 'admin']) {
      expectRefused(await ask('/events/999999', { as }), missing(999_999));
      expectRefused(await ask('/events/0', { as }), missing(0));
      expectRefused(await ask(`/events/${venue.id}`, { as }), notOne);
      for (const path of [
        '/venues/999999',
        '/venues/0',
        `/venues/${event.id}`,
        '/organizers/999999',
        '/categories/999999',
        '/tags/0',
      ])
        expectInvalid(await ask(path, { as }), 'id');
      for (const path of ['/events/by-slug/no-such', '/venues/by-slug/no-such', '/organizers/by-slug/123'])
        expectInvalid(await ask(path, { as }), 'slug');
    }
    expectRefused(await ask('/events/999999', { as: 'admin', json: { title: 'x' } }), missing(999_999));
    expectRefused(await ask(`/events/${venue.id}`, { as: 'admin', method: 'DELETE' }), notOne);
    expectRefused(await ask('/events/by-slug/no-such', { as: 'admin', json: { title: 'x' } }), missing(0));
    expectInvalid(await ask('/venues/by-slug/no-such', { as: 'admin', json: { phone: '1' } }), 'slug');
    expect((await ask(`/events/000${event.id}`)).body.id).to.equal(event.id);
    const long = await ask('/events/99999999999999999999999');
    expectRefused(long, missing('9223372036854775807'));
    expectInvalid(await ask('/venues/99999999999999999999999'), 'id');
    expect((await ask(`/events/${event.id}?id=${venue.id}`)).body.id).to.equal(event.id);
    const other = await make(`/events/${event.id}`, { id: made.locked.id, cost: '8' });
    expect(other).to.include({ id: event.id, cost: '$8' });
    for (const path of [
      '/events/abc',
      '/events/-1',
      '/events/1.5',
      `/events/${event.id}/more`,
      '/categories/by-slug/x',
      '/nowhere',
    ])
      expectRefused(await ask(path), {
        status: 404,
        code: 'rest_no_route',
        message: 'No route was found matching the URL and request method.',
      });
  });

  rule('an empty status, and blanks all over, are refused by name', async ({ ask }) => {
    expectNamed(await ask('/events', { as: 'admin', json: { title: ' ', description: ' ', ...times } }), 'title');
    expectNamed(await ask('/venues', { as: 'admin', json: { venue: 'x', status: '' } }), 'status');
  });
});
