// Visibility and permissions of each role.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import { definePasswordsAndDrafts } from '../cases/passwords-and-drafts.ts';
import {
  ALL_ROLES,
  body,
  isOwnerOrEditor,
  KINDS,
  notAccessible,
  PRIVATE_STATUSES,
  STAFF_ROLES,
  times,
} from '../cases/roles.ts';
import { expectError, expectFieldsNamed, expectForbidden, expectInvalid } from '../expectations.ts';
import { gatewayScenario } from '../gateway-scenario.ts';

export const scenario = gatewayScenario('gateway-callers', { service: true }, (define) => {
  const created: Record<string, Json> = {};

  for (const kind of KINDS) {
    for (const status of PRIVATE_STATUSES) {
      const when = status === 'future' ? { date: '2037-01-01 10:00:00' } : {};
      define(
        `a ${status} ${kind} of an author is read by its author and editors, and 403 for all others`,
        async ({ request, create }) => {
          const record = await create(`/${kind}s`, body(kind, `${status} ${kind}`, { status, ...when }), 'author');
          expect(record.status).to.equal(status);
          created[`${status} ${kind}`] = record;
          for (const as of ALL_ROLES) {
            const response = await request(`/${kind}s/${record.id}`, { as });
            if (isOwnerOrEditor('author', as)) expect(response.body, String(as)).to.include({ id: record.id, status });
            else expectError(response, notAccessible(kind));
            if (record.slug === '') continue;
            const bySlug = await request(`/${kind}s/by-slug/${record.slug}`, { as });
            const seen = [bySlug.status, bySlug.body.code ?? bySlug.body.id];
            // The CMS tells a caller of no slug whose record they may not see.
            const expected = response.status === 200 ? [200, record.id] : [400, 'rest_invalid_param'];
            expect(seen, `by slug: ${as}`).to.deep.equal(expected);
          }
        },
      );
    }

    define(`a trashed ${kind}`, async ({ request, create }) => {
      const record = await create(`/${kind}s`, body(kind, `trashed ${kind}`), 'author');
      expect((await request(`/${kind}s/${record.id}`, { as: 'author', method: 'DELETE' })).status).to.equal(200);
      for (const as of ALL_ROLES) {
        const response = await request(`/${kind}s/${record.id}`, { as });
        if (kind === 'event')
          expectError(response, {
            status: 403,
            code: 'event-no-longer-available',
            message: 'This event is no longer available',
          });
        else if (isOwnerOrEditor('author', as)) expect(response.body.status).to.equal('trash');
        else expectError(response, notAccessible(kind));
      }
    });

    define(
      `lists of ${kind}s: the public sees what is published, staff the same as single reads`,
      async ({ request }) => {
        const dates = kind === 'event' ? '&start_date=2027-01-10&end_date=2027-01-10' : '';
        for (const as of ALL_ROLES) {
          const { status, body: list, headers } = await request(`/${kind}s?per_page=50${dates}`, { as });
          expect(status).to.equal(200);
          const shown = new Set(list[`${kind}s`].map(({ id }: Json) => id));
          for (const hidden of PRIVATE_STATUSES) {
            const { id } = created[`${hidden} ${kind}`];
            const record = await request(`/${kind}s/${id}`, { as });
            expect(shown.has(id), `${as} ${hidden}`).to.equal(record.status === 200);
          }
          expect(list.total).to.equal(shown.size);
          expect(headers['x-tec-total']).to.equal(String(list.total));
          const staff = STAFF_ROLES.includes(String(as));
          expect(list.rest_url).to.match(new RegExp(`[?&]status=${staff ? 'any' : 'publish'}(&|$)`));
        }
      },
    );

    define(`lists of ${kind}s: only staff may filter by status, and only by existing ones`, async ({ request }) => {
      const dates = kind === 'event' ? '&start_date=2027-01-10&end_date=2027-01-10' : '';
      for (const as of [undefined, 'subscriber']) {
        for (const status of ['draft', 'publish,draft', 'any', ''])
          expectInvalid(await request(`/${kind}s?status=${status}`, { as }), 'status');
        expect((await request(`/${kind}s?status=publish`, { as })).status).to.equal(200);
      }
      for (const as of STAFF_ROLES) {
        for (const status of ['any', 'bogus', 'publish,bogus', ''])
          expectInvalid(await request(`/${kind}s?status=${status}`, { as }), 'status');
        const { body: list } = await request(`/${kind}s?status=draft,+private&per_page=50${dates}`, { as });
        const statuses = new Set(list[`${kind}s`].map(({ status }: Json) => status));
        expect([...statuses].sort(), as).to.deep.equal(as === 'contributor' ? [] : ['draft', 'private']);
        expect((await request(`/${kind}s?status[]=trash${dates}`, { as })).body.total > 0, `trash ${as}`).to.equal(
          as !== 'contributor',
        );
        for (const status of ['auto-draft', 'inherit'])
          expect((await request(`/${kind}s?status=${status}`, { as })).status).to.equal(200);
      }
    });

    define(`which roles create a ${kind}, with which status`, async ({ request }) => {
      expectForbidden(await request(`/${kind}s`, { json: body(kind, 'x') }), 401);
      expectForbidden(await request(`/${kind}s`, { as: 'subscriber', json: body(kind, 'x') }), 403);
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
          const response = await request(`/${kind}s`, {
            as,
            json: body(kind, `${index} by ${as}`, status === undefined ? {} : { status }),
          });
          expect([response.status, response.body.status], `${as} ${status}`).to.deep.equal([201, wanted]);
        }
      }
      const dated = await request(`/${kind}s`, {
        as: 'contributor',
        json: body(kind, 'Later', { status: 'future', date: '2037-02-03 10:00:00' }),
      });
      expect(dated.body).to.include({ status: 'pending', date: '2037-02-03 10:00:00' });
    });

    define(`which roles update and delete a ${kind}, by id and by slug`, async ({ request, create }) => {
      const published = await create(`/${kind}s`, body(kind, `Published ${kind}`), 'author');
      const draft = await create(`/${kind}s`, body(kind, `Own ${kind}`, { status: 'draft' }), 'contributor');
      for (const path of [`/${kind}s/${published.id}`, `/${kind}s/by-slug/${published.slug}`]) {
        for (const method of ['PATCH', 'DELETE']) {
          const json = method === 'PATCH' ? { json: { description: 'x' } } : {};
          expectForbidden(await request(path, { method, ...json }), 401);
          for (const as of ['subscriber', 'contributor'])
            expectForbidden(await request(path, { as, method, ...json }), 403);
        }
        for (const as of ['author', 'editor', 'admin'])
          expect((await request(path, { as, method: 'PATCH', json: { description: `by ${as}` } })).status).to.equal(
            200,
          );
      }
      expect((await request(`/${kind}s/${published.id}`)).body.status).to.equal('publish');
      const foreign = await create(`/${kind}s`, body(kind, `Foreign ${kind}`), 'editor');
      expectForbidden(await request(`/${kind}s/${foreign.id}`, { as: 'author', method: 'DELETE' }), 403);
      const own = await request(`/${kind}s/${draft.id}`, { as: 'contributor', json: { description: 'mine' } });
      expect([own.status, own.body.status]).to.deep.equal([200, 'draft']);
      expect((await request(`/${kind}s/${draft.id}`, { as: 'contributor', method: 'DELETE' })).status).to.equal(200);
    });

    define(`only editors change the author of a ${kind}`, async ({ request, create }) => {
      const { author: editor } = await create(`/${kind}s`, body(kind, `Of an editor ${kind}`), 'editor');
      for (const as of ['contributor', 'author'])
        expectForbidden(await request(`/${kind}s`, { as, json: body(kind, 'x', { author: editor }) }), 403);
      const own = await create(`/${kind}s`, body(kind, `Given ${kind}`), 'author');
      expect(
        (await request(`/${kind}s/${own.id}`, { as: 'author', json: { author: Number(own.author) } })).status,
      ).to.equal(200);
      expectForbidden(await request(`/${kind}s/${own.id}`, { as: 'author', json: { author: Number(editor) } }), 403);
      expect((await create(`/${kind}s/${own.id}`, { author: Number(editor) }, 'editor')).author).to.equal(editor);
    });
  }

  define('missing and invalid parameters are reported before permissions', async ({ request }) => {
    expect((await request('/events', { json: {} })).status).to.equal(400);
    expectInvalid(await request('/events', { json: { title: '', ...times } }), 'title');
    expectInvalid(await request('/venues/999999', { method: 'DELETE' }), 'id');
    expectForbidden(await request('/events/999999', { method: 'DELETE' }), 401);
    expectForbidden(await request('/events/by-slug/no-such', { json: { title: 'x' } }), 401);
    expectForbidden(await request('/events/by-slug/no-such', { as: 'subscriber', json: { title: 'x' } }), 403);
  });

  define('publishers write categories, editors write tags', async ({ request, create }) => {
    const category = await create('/categories', { name: 'Of admin' });
    const tag = await create('/tags', { name: 'Of admin' });
    for (const [path, id, may] of [
      ['/categories', category.id, ['author', 'editor', 'admin']],
      ['/tags', tag.id, ['editor', 'admin']],
    ] as const) {
      expectForbidden(await request(path, { json: { name: 'x' } }), 401);
      for (const as of ['subscriber', 'contributor', 'author', 'editor']) {
        const allowed = (may as readonly string[]).includes(as);
        const answers = [
          await request(path, { as, json: { name: `By ${as}` } }),
          await request(`${path}/${id}`, { as, json: { description: as } }),
        ];
        if (allowed)
          expect(
            answers.map(({ status }) => status),
            as,
          ).to.deep.equal([201, 200]);
        else for (const response of answers) expectForbidden(response, 403);
        if (!allowed) expectForbidden(await request(`${path}/${id}`, { as, method: 'DELETE' }), 403);
      }
    }
  });

  define('a draft venue of a public event is omitted for actors who may not read it', async ({ request, create }) => {
    const venue = await create('/venues', { venue: 'Secret hall', status: 'draft' }, 'author');
    const organizer = await create('/organizers', { organizer: 'Secret club', status: 'private' }, 'author');
    const event = await create('/events', {
      title: 'With secrets',
      venue: venue.id,
      organizer: organizer.id,
      ...times,
    });
    for (const as of ALL_ROLES) {
      for (const path of [`/events/${event.id}`, `/events?include=${event.id}`]) {
        const { body: got } = await request(path, { as });
        const record = got.events?.[0] ?? got;
        const seen = isOwnerOrEditor('author', as);
        expect(record.venue.id, `${as} ${path}`).to.equal(seen ? venue.id : undefined);
        expect(record.organizer.length, `${as} ${path}`).to.equal(seen ? 1 : 0);
      }
    }
  });

  definePasswordsAndDrafts(define, created);

  define('wrong credentials are 401 on every route, public reads too', async ({ request }) => {
    const message = 'The provided password is an invalid application password.';
    for (const path of ['/events', '/venues/1', '/nowhere', ''])
      expectError(await request(path, { as: 'stranger' }), { status: 401, code: 'incorrect_password', message });
    const nobody = `Basic ${Buffer.from('nobody-here:x').toString('base64')}`;
    expectError(await request('/events', { headers: { authorization: nobody } }), {
      status: 401,
      code: 'invalid_username',
      message: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
    });
    const mail = `Basic ${Buffer.from('nobody@here.example:x').toString('base64')}`;
    expectError(await request('/events', { headers: { authorization: mail } }), {
      status: 401,
      code: 'invalid_email',
      message: '<strong>Error:</strong> Unknown email address. Check again or try your username.',
    });
    const nameless = `Basic ${Buffer.from(':x').toString('base64')}`;
    expectError(await request('/events', { headers: { authorization: nameless } }), {
      status: 401,
      code: 'invalid_username',
      message: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
    });
    const withoutPassword = ['admin:', ':', 'admin'].map((text) => `Basic ${Buffer.from(text).toString('base64')}`);
    for (const authorization of ['Bearer x', 'Basic', 'Basic !!', ...withoutPassword])
      expect((await request('/events', { headers: { authorization } })).status, authorization).to.equal(200);
  });

  define('Allow lists the methods that the actor may use', async ({ request, create }) => {
    const { id } = await create('/events', { title: 'Allowed', ...times }, 'editor');
    const category = await create('/categories', { name: 'Allowed' });
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
      expect((await request(path, { as })).headers.allow, `${as} ${path}`).to.equal(wanted);
      expect((await request(path, { as, method: 'OPTIONS' })).headers.allow, `OPTIONS ${as} ${path}`).to.equal(wanted);
    }
  });

  define('ids: unknown, of another type, with leading zeros, too long', async ({ request, create }) => {
    const event = await create('/events', { title: 'Ids', ...times });
    const venue = await create('/venues', { venue: 'Ids' });
    const missing = (id: number | string) => ({
      status: 404,
      code: 'rest-event-not-found',
      message: `Event with ID ${id} does not exist.`,
    });
    const notOne = { status: 400, code: 'rest-invalid-event-id', message: 'The specified ID is not a valid event.' };
    for (const as of [undefined, 'admin']) {
      expectError(await request('/events/999999', { as }), missing(999_999));
      expectError(await request('/events/0', { as }), missing(0));
      expectError(await request(`/events/${venue.id}`, { as }), notOne);
      for (const path of [
        '/venues/999999',
        '/venues/0',
        `/venues/${event.id}`,
        '/organizers/999999',
        '/categories/999999',
        '/tags/0',
      ])
        expectInvalid(await request(path, { as }), 'id');
      for (const path of ['/events/by-slug/no-such', '/venues/by-slug/no-such', '/organizers/by-slug/123'])
        expectInvalid(await request(path, { as }), 'slug');
    }
    expectError(await request('/events/999999', { as: 'admin', json: { title: 'x' } }), missing(999_999));
    expectError(await request(`/events/${venue.id}`, { as: 'admin', method: 'DELETE' }), notOne);
    expectError(await request('/events/by-slug/no-such', { as: 'admin', json: { title: 'x' } }), missing(0));
    expectInvalid(await request('/venues/by-slug/no-such', { as: 'admin', json: { phone: '1' } }), 'slug');
    expect((await request(`/events/000${event.id}`)).body.id).to.equal(event.id);
    const long = await request('/events/99999999999999999999999');
    expectError(long, missing('9223372036854775807'));
    expectInvalid(await request('/venues/99999999999999999999999'), 'id');
    expect((await request(`/events/${event.id}?id=${venue.id}`)).body.id).to.equal(event.id);
    const other = await create(`/events/${event.id}`, { id: created.locked.id, cost: '8' });
    expect(other).to.include({ id: event.id, cost: '$8' });
    for (const path of [
      '/events/abc',
      '/events/-1',
      '/events/1.5',
      `/events/${event.id}/more`,
      '/categories/by-slug/x',
      '/nowhere',
    ])
      expectError(await request(path), {
        status: 404,
        code: 'rest_no_route',
        message: 'No route was found matching the URL and request method.',
      });
  });

  define('an empty status and blank values are rejected by name', async ({ request }) => {
    expectFieldsNamed(
      await request('/events', { as: 'admin', json: { title: ' ', description: ' ', ...times } }),
      'title',
    );
    expectFieldsNamed(await request('/venues', { as: 'admin', json: { venue: 'x', status: '' } }), 'status');
  });
});
