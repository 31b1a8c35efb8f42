// Each kind has its own permissions, by its collection's names for them. No actor has any while these names
// are unknown.

import { expect } from 'chai';
import type { ActionPermissions, Cms, CollectionInfo } from '../../src/cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, type Role, SAME_NAMES, userIdOf } from '../cms/fake-cms.ts';
import { type RequestOptions, startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, organizer, venue } from '../store/sample-records.ts';
import { addUnpublished, NOW_MS } from './seeded-gateway.ts';

const TIMES = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00', startUtc: '2027-01-10 15:00:00' };
const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
/** `edit` -> `edit venues`. */
const permissionsOf = (collection: string) =>
  Object.fromEntries(
    Object.keys(SAME_NAMES).map((action) => [action, `${action} ${collection}`]),
  ) as ActionPermissions & object;
const collectionInfoOf = (permissions: ActionPermissions | undefined): CollectionInfo => ({
  permissions,
  writableFields: undefined,
});

describe('permissions', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  /** A public event with a draft venue and a private organizer, and a draft of each kind. */
  async function start(changes: Partial<Cms>, service: string | undefined = CREDENTIALS.admin): Promise<void> {
    cms = createFakeCms(() => NOW_MS);
    Object.assign(cms, changes);
    gateway = await startGateway({
      cms,
      ...(service ? { service } : {}),
      as: CREDENTIALS,
      nowMs: () => NOW_MS,
    });
    upsert(gateway.services.replica, [event(1, { ...TIMES, venues: [11], organizers: [12] })]);
    for (const record of [
      event(2, { ...TIMES, status: 'draft', author: 9 }),
      venue(11, { status: 'draft', author: 9 }),
      organizer(12, { status: 'private', author: 9 }),
    ])
      addUnpublished(cms, gateway.mapping, record);
  }
  const ids = async (path: string, as?: string) => {
    const { status, body } = await gateway.request(path, { as });
    return status === 200
      ? Object.values(body).flatMap((value) => (Array.isArray(value) ? value.map(({ id }) => id) : []))
      : status;
  };
  const linked = async (as?: string) => {
    const { body } = await gateway.request('/events/1', { as });
    const [inList] = (await gateway.request('/events?include=1', { as })).body.events;
    for (const event of [body, inList])
      expect([event.venue.id, event.organizer.length]).to.deep.equal([body.venue.id, body.organizer.length]);
    return { venue: body.venue.id === 11, organizer: body.organizer.length === 1 };
  };

  for (const [only, seen] of [
    ['events', { drafts: [1, 2], venues: [], organizers: [], venue: false, organizer: false }],
    ['venues', { drafts: [1], venues: [11], organizers: [], venue: true, organizer: false }],
    ['organizers', { drafts: [1], venues: [], organizers: [12], venue: false, organizer: true }],
  ] as const) {
    it(`for ${only} alone show unpublished ${only} and nothing else, in events too`, async () => {
      await start({
        collectionInfo: async ({ collection }) => collectionInfoOf(permissionsOf(collection)),
        account: async () => ({
          userId: 3,
          roles: ['custom'],
          permissions: new Set(Object.values(permissionsOf(only))),
          mayUpload: false,
        }),
      });
      expect(await ids('/events?start_date=2027-01-01', 'editor')).to.deep.equal(seen.drafts);
      expect(await ids('/venues', 'editor')).to.deep.equal(seen.venues);
      expect(await ids('/organizers', 'editor')).to.deep.equal(seen.organizers);
      expect(await linked('editor')).to.deep.equal({ venue: seen.venue, organizer: seen.organizer });
      expect(await ids('/events?venue=11', 'editor')).to.deep.equal(seen.venue ? [1] : []);
      expect(await ids('/events?organizer=12', 'editor')).to.deep.equal(seen.organizer ? [1] : []);
    });
  }

  it('are in the header Allow, also of a draft, whatever the response is', async () => {
    await start({});
    addUnpublished(cms, gateway.mapping, event(3, { ...TIMES, status: 'draft', author: userIdOf('author') }));
    const ALL = 'GET, DELETE, POST, PUT, PATCH';
    const allowed = async (path: string, as: Role, request: RequestOptions = {}) =>
      (await gateway.request(path, { as, ...request })).headers.allow;
    for (const as of ['admin', 'editor'] as const) {
      expect(await allowed('/events/2', as, { method: 'PUT', json: { title: '' } })).to.equal(ALL);
      expect(await allowed('/events/999', as)).to.equal(ALL);
      expect(await allowed('/events/by-slug/nowhere', as)).to.equal(ALL);
    }
    for (const method of ['GET', 'OPTIONS']) {
      expect(await allowed('/events/2', 'author', { method }), method).to.equal('GET');
      expect(await allowed('/events/3', 'author', { method }), method).to.equal(ALL);
      expect(await allowed('/events/by-slug/event-3', 'author', { method }), method).to.equal(ALL);
    }
    const calls = cms.requests.length;
    expect(await allowed('/events/2.ics', 'author', { method: 'OPTIONS' })).to.equal('GET');
    expect(cms.requests.length).to.equal(calls);
  });

  it('come before the kind: an author who names the venue of another as an event gets a 403', async () => {
    await start({});
    upsert(gateway.services.replica, [venue(21, { author: 9 }), venue(22, { author: userIdOf('author') })]);
    for (const request of [{ method: 'DELETE' }, { method: 'PUT', json: { title: 'x' } }]) {
      const answer = async (id: number, as: Role) => {
        const { status, body } = await gateway.request(`/events/${id}`, { as, ...request });
        return [status, body.code];
      };
      expect(await answer(21, 'author')).to.deep.equal([403, 'rest_forbidden']);
      expect(await answer(21, 'editor')).to.deep.equal([400, 'rest-invalid-event-id']);
      expect(await answer(22, 'author')).to.deep.equal([400, 'rest-invalid-event-id']);
      // The CMS has deleted this event, and the replica does not know it yet.
      expect(await answer(1, 'author')).to.deep.equal([400, 'rest-invalid-event-id']);
    }
  });

  it('to edit posts are no permissions for events, venues or organizers', async () => {
    await start({
      collectionInfo: async ({ collection }) => collectionInfoOf(permissionsOf(collection)),
      account: async () => ({
        userId: 3,
        roles: ['editor'],
        permissions: new Set(Object.values(permissionsOf('posts'))),
        mayUpload: false,
      }),
    });
    expect(await ids('/events?start_date=2027-01-01', 'editor')).to.deep.equal([1]);
    expect(await ids('/events?status=draft', 'editor')).to.equal(400);
    expect(await linked('editor')).to.deep.equal({ venue: false, organizer: false });
    expect((await gateway.request('/events', { as: 'editor', json: { title: 'x', ...times } })).status).to.equal(403);
  });

  const unavailable = () => Promise.reject(new CmsUnavailable('busy', 'The CMS does not answer.'));
  for (const [what, collectionInfo] of [
    ['the CMS does not answer', unavailable],
    ['the CMS refuses to tell', () => Promise.reject(new CmsRejected('forbidden', 'No.'))],
    ['the CMS does not show them', async () => collectionInfoOf(undefined)],
  ] as const) {
    const isAway = collectionInfo === unavailable;
    it(`are granted to no actor while ${what}: an editor gets ${isAway ? 'no list' : 'what visitors get'}`, async () => {
      await start({ collectionInfo });
      expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal(isAway ? 503 : [1]);
      expect(await ids('/events?start_date=2027-01-01')).to.deep.equal([1]);
      expect(await ids('/venues', 'admin')).to.deep.equal(isAway ? 503 : []);
      expect(await ids('/events?status=draft', 'admin')).to.equal(isAway ? 503 : 400);
      if (!isAway) expect(await linked('admin')).to.deep.equal({ venue: false, organizer: false });
      const { status } = await gateway.request('/events', { as: 'admin', json: { title: 'x', ...times } });
      expect(status).to.equal(isAway ? 503 : 403);
      expect(cms.writes).to.deep.equal([]);
    });
  }

  it('are read once per kind, for concurrent requests of one account (single-flight)', async () => {
    const bases: string[] = [];
    await start({
      collectionInfo: async ({ collection }) => {
        bases.push(collection);
        await new Promise((done) => setImmediate(done));
        return collectionInfoOf(permissionsOf(collection));
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => gateway.request('/events/1', { as: 'admin' })));
    expect(bases.sort()).to.deep.equal(['events', 'organizers', 'venues']);
  });

  it('stay valid while the CMS does not answer', async () => {
    await start({});
    expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal([1, 2]);
    cms.collectionInfo = unavailable;
    expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal([1, 2]);
  });

  it('are read with the actor’s own credentials if the service account does not see them', async () => {
    const credentialsUsed: (string | undefined)[] = [];
    await start({
      async collectionInfo(_base, options) {
        credentialsUsed.push(options?.credentials);
        return collectionInfoOf(options?.credentials === CREDENTIALS.editor ? SAME_NAMES : undefined);
      },
    });
    expect(await ids('/venues', 'editor')).to.deep.equal([11]);
    expect(new Set(credentialsUsed)).to.deep.equal(new Set([CREDENTIALS.admin, CREDENTIALS.editor]));
  });
});
