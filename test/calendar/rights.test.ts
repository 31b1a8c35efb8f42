// Each kind has its own rights, by the names that its collection gives them; no actor has any while these names are unknown.

import { expect } from 'chai';
import { UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import type { CollectionFacts, Upstream } from '../../src/upstream/port.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { event, organizer, venue } from '../replica/samples.ts';
import { AS, type FakeCms, fakeCms } from './fake-cms.ts';
import { NOW_MS } from './filled-gateway.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
const ALL = ['edit_posts', 'edit_others_posts', 'read_private_posts', 'edit_private_posts', 'publish_posts'];
/** `edit_posts` -> `edit_venues`. */
const rightsOf = (base: string) => Object.fromEntries(ALL.map((name) => [name, name.replace('posts', base)]));
const told = (capabilities: Record<string, string>): CollectionFacts => ({
  capabilities,
  statuses: [],
  writable: undefined,
});

describe('rights', () => {
  let cms: FakeCms;
  let gateway: GatewayUnderTest;
  afterEach(() => gateway.close());

  /** A public event with a draft venue and a private organizer, and one draft of each kind. */
  async function start(changes: Partial<Upstream>, service: string | undefined = AS.admin): Promise<void> {
    cms = fakeCms(() => NOW_MS);
    Object.assign(cms, changes);
    gateway = await gatewayUnderTest({ upstream: cms, ...(service ? { service } : {}), as: AS, nowMs: () => NOW_MS });
    const start = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00', startUtc: '2027-01-10 15:00:00' };
    gateway.backing.replica.put([
      ...[event(1, { ...start, venues: [11], organizers: [12] }), event(2, { ...start, status: 'draft', author: 9 })],
      ...[venue(11, { status: 'draft', author: 9 }), organizer(12, { status: 'private', author: 9 })],
    ]);
  }
  const ids = async (path: string, as?: string) => {
    const { status, body } = await gateway.ask(path, { as });
    return status === 200
      ? Object.values(body).flatMap((one) => (Array.isArray(one) ? one.map(({ id }) => id) : []))
      : status;
  };
  const linked = async (as?: string) => {
    const { body } = await gateway.ask('/events/1', { as });
    const [inList] = (await gateway.ask('/events?include=1', { as })).body.events;
    for (const one of [body, inList])
      expect([one.venue.id, one.organizer.length]).to.deep.equal([body.venue.id, body.organizer.length]);
    return { venue: body.venue.id === 11, organizer: body.organizer.length === 1 };
  };

  for (const [only, seen] of [
    ['events', { drafts: [1, 2], venues: [], organizers: [], venue: false, organizer: false }],
    ['venues', { drafts: [1], venues: [11], organizers: [], venue: true, organizer: false }],
    ['organizers', { drafts: [1], venues: [], organizers: [12], venue: false, organizer: true }],
  ] as const) {
    it(`to ${only} alone show unpublished ${only} and nothing else, inside an event too`, async () => {
      await start({
        facts: async (base) => told(rightsOf(base)),
        account: async () => ({
          userId: 3,
          roles: ['custom'],
          capabilities: new Set(['read', ...Object.values(rightsOf(only))]),
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

  it('to posts are no rights to events, venues or organizers', async () => {
    await start({
      facts: async (base) => told(rightsOf(base)),
      account: async () => ({ userId: 3, roles: ['editor'], capabilities: new Set(['read', ...ALL]) }),
    });
    expect(await ids('/events?start_date=2027-01-01', 'editor')).to.deep.equal([1]);
    expect(await ids('/events?status=draft', 'editor')).to.equal(400);
    expect(await linked('editor')).to.deep.equal({ venue: false, organizer: false });
    expect((await gateway.ask('/events', { as: 'editor', json: { title: 'x', ...times } })).status).to.equal(403);
  });

  const away = () => Promise.reject(new UpstreamAway('busy', 'The CMS does not answer.'));
  for (const [what, facts] of [
    ['the CMS does not answer', away],
    ['the CMS refuses to tell', () => Promise.reject(new UpstreamRefused(403, 'rest_forbidden', 'No.'))],
    ['the CMS tells nothing', async () => told({})],
  ] as const) {
    it(`are granted to no actor while ${what}: an editor sees what anonymous callers see`, async () => {
      await start({ facts });
      expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal([1]);
      expect(await ids('/venues', 'admin')).to.deep.equal([]);
      expect(await ids('/events?status=draft', 'admin')).to.equal(400);
      expect(await linked('admin')).to.deep.equal({ venue: false, organizer: false });
      const { status } = await gateway.ask('/events', { as: 'admin', json: { title: 'x', ...times } });
      expect(status).to.equal(facts === away ? 503 : 403);
      expect(cms.steps).to.deep.equal([]);
    });
  }

  it('are asked once for each kind, however many requests of one account need them', async () => {
    const bases: string[] = [];
    await start({
      facts: async (base) => {
        bases.push(base);
        await new Promise((done) => setImmediate(done));
        return told(rightsOf(base));
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => gateway.ask('/events/1', { as: 'admin' })));
    expect(bases.sort()).to.deep.equal(['events', 'organizers', 'venues']);
  });

  it('that were known go on to hold while the CMS does not answer', async () => {
    await start({});
    expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal([1, 2]);
    cms.facts = away;
    expect(await ids('/events?start_date=2027-01-01', 'admin')).to.deep.equal([1, 2]);
  });

  it('are read with the caller’s own credentials where the service account is not told them', async () => {
    const asked: (string | undefined)[] = [];
    await start({
      async facts(_base, options) {
        asked.push(options?.credentials);
        return told(options?.credentials === AS.editor ? Object.fromEntries(ALL.map((name) => [name, name])) : {});
      },
    });
    expect(await ids('/venues', 'editor')).to.deep.equal([11]);
    expect(new Set(asked)).to.deep.equal(new Set([AS.admin, AS.editor]));
  });
});
