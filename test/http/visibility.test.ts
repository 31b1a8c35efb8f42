// Lists, searches, filters, counts and links show an actor no more than single reads do: the whole gateway
// over sockets.

import { expect } from 'chai';
import { authorization, PASSWORD } from '../faults/fake-wordpress.ts';
import { type HttpRequestOptions, type SocketGateway, sendRequest, startGateway } from '../start-gateway.ts';
import {
  ACCOUNTS,
  type Base,
  commonWordOf,
  idsIn,
  readEach,
  readList,
  type Seen,
  startVisibilityFixture,
  type VisibilityFixture,
  wordOf,
  wordsFor,
  wordsIn,
} from './visibility-fixture.ts';

type Json = Record<string, unknown>;

for (const { title, service, part } of [
  { title: '', service: { user: 'admin', password: PASSWORD }, part: 1 / 2 },
  // Without a service account the gateway fetches private records with each actor's own credentials, which
  // takes longer.
  { title: ' without a service account', service: undefined, part: 1 / 8 },
])
  describe(`visibility in lists, searches, filters, counts and links${title}`, () => {
    let world: VisibilityFixture;
    let gateway: SocketGateway;
    const actors: Seen[] = [];

    before(async function () {
      this.timeout(60_000);
      world = await startVisibilityFixture();
      gateway = await startGateway({ transport: 'socket', cmsUrl: world.wordpress.url.href, service });
      for (const account of [undefined, ...ACCOUNTS]) actors.push(await readEach(gateway, world.posts, account));
    });
    after(async () => {
      await gateway?.stop();
      await world?.wordpress.close();
    });

    const shownOf = ({ shown }: Seen, base: Base): Json[] =>
      world.of(base).flatMap(({ id }) => {
        const record = shown.get(id);
        return record && record.status !== 'trash' ? [record] : [];
      });
    const idOf = (record: Json): number => record.id as number;
    const listed = (observed: Seen): Json[] =>
      shownOf(observed, 'events').filter((item) => item.hide_from_listings !== true);
    const isHidden = (id: number) => world.posts.some((post) => post.id === id && post.hidden);
    const lockedAndListed = ({ locked }: Seen): number[] => [...locked].filter((id) => !isHidden(id));

    /**
     * Runs a check for each account. `isKnown`: false if the path names an unpublished record. After a few of those, the
     * gateway does not ask the CMS for visitors whether there is one.
     */
    async function all(path: string, expected: (observed: Seen) => number[], isKnown = true): Promise<void> {
      for (const observed of actors.filter(({ account }) => isKnown || account !== undefined)) {
        const ids = [...new Set(expected(observed))].sort((a, b) => a - b);
        expect(await readList(gateway, observed, path), `${observed.account} ${path}`).to.deep.equal(ids);
      }
    }

    const EVER = 'start_date=1990-01-01';
    /** The fixture has each state of an event twice. */
    const eachState = () => world.of('events').slice(0, world.of('events').length * part);
    const some = (base: Base) =>
      world.of(base).filter((_, n, all) => service !== undefined || n % 5 === 0 || n === all.length - 6);

    it('single reads show what the CMS would show, and of linked records what their own reads show', () => {
      for (const { account, shown, locked } of actors) {
        for (const post of world.posts) {
          const { id, base, status, password } = post;
          const record = shown.get(id);
          const may =
            world.maySee(account, post) && !(base === 'events' && (status === 'trash' || password !== undefined));
          expect(record !== undefined, `${account} ${status} ${base} ${id}`).to.equal(may);
          if (locked.has(id)) expect([base, world.maySee(account, post)]).to.deep.equal(['events', true]);
          for (const { word, id: owner, field } of wordsIn(JSON.stringify(record ?? {}))) {
            const from = `${account} ${status} ${base} ${id} tells ${word}`;
            if (owner === id) expect(password === undefined || field === 'slug', from).to.equal(true);
            else expect(JSON.stringify(shown.get(owner) ?? {}), from).to.include(word);
          }
        }
      }
      // The fixture must contain hidden records: a protected and a draft venue of public events.
      const inside = [...actors[0]!.shown.values()].flatMap(({ venue }) => idsIn(venue));
      expect(inside.some((id) => world.posts.find((post) => post.id === id)!.password !== undefined)).to.equal(true);
    });

    it('reads by slug show the same as reads by id', async function () {
      this.timeout(60_000);
      for (const { account, headers, shown, locked } of actors) {
        for (const { id, base, status } of [...eachState(), ...some('venues'), ...some('organizers')]) {
          const slug = `${wordOf(id, 'slug')}${status === 'trash' ? '__trashed' : ''}`;
          const reply = await gateway.request(`/${base}/by-slug/${slug}`, { headers });
          const body = JSON.parse(reply.text) as Json;
          expect(body.id, `${account} ${base} ${id}`).to.equal(shown.has(id) ? id : undefined);
          if (!shown.has(id)) expect(wordsIn(reply.text)).to.deep.equal([]);
          if (locked.has(id)) expect(body.code).to.equal('event-password-protected');
        }
      }
    });

    it('lists show what single reads do, protected events without content, and no hidden events', async () => {
      await all(`/events?${EVER}`, (observed) => [...listed(observed).map(idOf), ...lockedAndListed(observed)]);
      await all(
        '/events?include=' +
          world
            .of('events')
            .map(({ id }) => id)
            .join(','),
        (observed) => [...listed(observed).map(idOf), ...lockedAndListed(observed)],
      );
      for (const base of ['venues', 'organizers'] as const)
        await all(`/${base}`, (observed) => shownOf(observed, base).map(idOf));
    });

    it('filters of events find only by visible fields', async function () {
      this.timeout(60_000);
      for (const [name, base] of [
        ['venue', 'venues'],
        ['organizer', 'organizers'],
      ] as const) {
        for (const { id, status } of some(base))
          await all(
            `/events?${EVER}&${name}=${id}`,
            (observed) =>
              listed(observed)
                .filter((item) => idsIn(item[name]).includes(id))
                .map(idOf),
            status === 'publish',
          );
      }
      for (const [name, ids] of [
        ['categories', [1, 2, 3, 4, 5]],
        ['tags', [6, 7, 8, 9]],
      ] as const) {
        for (const id of ids)
          await all(`/events?${EVER}&${name}=${id}`, (observed) =>
            listed(observed)
              .filter((item) => idsIn(item[name]).includes(id))
              .map(idOf),
          );
      }
      await all(`/events?${EVER}&featured=true`, (observed) =>
        listed(observed)
          .filter(({ featured }) => featured)
          .map(idOf),
      );
    });

    it('searches find only visible text, and no protected record', async function () {
      this.timeout(60_000);
      await all(`/events?${EVER}&search=${commonWordOf('content')}`, (observed) => listed(observed).map(idOf));
      await all(`/events?${EVER}&search=${commonWordOf('title')}`, (observed) => listed(observed).map(idOf));
      for (const [base, fields] of [
        ['venues', ['title', 'content', 'address', 'city', 'phone']],
        ['organizers', ['title', 'content', 'phone', 'email']],
      ] as const) {
        for (const field of fields)
          await all(`/${base}?search=${commonWordOf(field)}`, (observed) =>
            shownOf(observed, base)
              .filter((item) => JSON.stringify(item).includes(wordOf(idOf(item), field)))
              .map(idOf),
          );
        for (const { id, password } of some(base)) {
          if (password !== undefined) await all(`/${base}?search=${wordOf(id, 'slug')}`, () => []);
        }
      }
    });

    it('venues, organizers, categories and tags of an event are those that its record shows', async function () {
      this.timeout(60_000);
      for (const { id, status } of eachState()) {
        for (const [path, name] of [
          ['/venues?event=', 'venue'],
          ['/organizers?event=', 'organizer'],
          ['/categories?hide_empty=0&event=', 'categories'],
          ['/tags?hide_empty=0&post=', 'tags'],
        ] as const) {
          await all(path + id, ({ shown }) => idsIn(shown.get(id)?.[name]), status === 'publish');
        }
      }
    });

    it('only_with_upcoming and has_events count visible events without a password', async () => {
      for (const [base, name] of [
        ['venues', 'venue'],
        ['organizers', 'organizer'],
      ] as const) {
        const has = (expected: boolean) => (observed: Seen) => {
          const used = shownOf(observed, 'events').flatMap((item) => idsIn(item[name]));
          return shownOf(observed, base)
            .map(idOf)
            .filter((id) => used.includes(id) === expected);
        };
        await all(`/${base}?has_events=true`, has(true));
        await all(`/${base}?has_events=false`, has(false));
        await all(`/${base}?only_with_upcoming=true`, (observed) =>
          listed(observed).flatMap((item) => idsIn(item[name])),
        );
      }
    });

    it('counts of terms count public events', async () => {
      const open = shownOf(actors[0]!, 'events');
      for (const [base, name] of [
        ['categories', 'categories'],
        ['tags', 'tags'],
      ] as const) {
        const counts = new Map<number, number>();
        for (const id of open.flatMap((item) => idsIn(item[name]))) counts.set(id, (counts.get(id) ?? 0) + 1);
        await all(`/${base}`, () => [...counts.keys()]);
        for (const { headers } of actors) {
          const { text } = await gateway.request(`/${base}?hide_empty=0`, { headers });
          for (const { id, count } of (JSON.parse(text) as Record<string, { id: number; count: number }[]>)[base]!)
            expect(count, `${base} ${id}`).to.equal(counts.get(id) ?? 0);
        }
      }
    });

    const landing = (query: string) => sendRequest(gateway.port, `/${query}`);

    it('the landing page shows what the public lists and single reads show, and finds no other event', async () => {
      const open = actors[0]!;
      const allowed = wordsFor(open);
      const month = String(listed(open)[0]!.start_date).slice(0, 7);
      const queries = [
        '',
        `?view=month&month=${month}`,
        `?view=list&month=${month}`,
        ...world.posts.map(({ id }) => `?event=${id}`),
      ];
      const seen = new Set<number>();
      const statuses = new Map<string, number>();
      for (const query of queries) {
        const { status, text } = await landing(query);
        statuses.set(query, status);
        for (const { word } of wordsIn(text)) expect(allowed.has(word), `${query} shows ${word}`).to.equal(true);
        for (const [, id] of text.matchAll(/data-event="(\d+)"/g)) seen.add(Number(id));
      }
      const expected = [...listed(open).map(idOf), ...lockedAndListed(open)];
      expect([...seen].sort((a, b) => a - b)).to.deep.equal(expected.sort((a, b) => a - b));
      for (const { id, base } of world.posts) {
        const isShown = base === 'events' && open.shown.has(id);
        expect(statuses.get(`?event=${id}`), `${base} ${id}`).to.equal(isShown ? 200 : open.locked.has(id) ? 403 : 404);
      }
    });

    it('a create never reuses a protected venue, whose content the response would show', async () => {
      const locked = world.of('venues').find(({ status, password }) => status === 'publish' && password !== undefined)!;
      // A search finds it only by the words of its slug, which is visible.
      const body = JSON.stringify({ venue: wordOf(locked.id, 'slug') });
      const editor = { authorization: authorization('editor'), 'content-type': 'application/json' };
      const renamed = await gateway.request(`/venues/${locked.id}`, { method: 'POST', body, headers: editor });
      expect(renamed.status).to.equal(200);
      for (const account of ['contributor', 'author2', 'editor']) {
        const headers = { authorization: authorization(account), 'content-type': 'application/json' };
        const { status, text } = await gateway.request('/venues', { method: 'POST', body, headers });
        expect(status).to.equal(201);
        expect((JSON.parse(text) as Json).id, account).to.not.equal(locked.id);
        expect(text).to.not.include(wordOf(locked.id, 'address'));
      }
    });

    it('a change of a non-public record changes neither version, ETag nor body of public responses', async () => {
      const [draft] = world.of('events').filter(({ status }) => status === 'draft');
      const venue = world.of('venues').find(({ status, password }) => status === 'draft' && password === undefined)!;
      const organizer = world.of('organizers').find(({ status }) => status === 'pending')!;
      const event = world.of('events').find(({ meta }) => String(meta.venue_ids) === String(venue.id))!;
      const paths = [`/events/${event.id}`, `/events?${EVER}`, '/venues', '/organizers', '/categories', '/tags'];
      const received = async () => {
        const answers = [];
        for (const path of paths) {
          const { headers, text } = await gateway.request(path);
          answers.push([path, headers.etag, text]);
        }
        const { headers, text } = await landing('');
        return [...answers, headers.etag, text];
      };
      const before = await received();
      for (const { base, id } of [draft!, venue, organizer]) {
        const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
        const body = JSON.stringify({ [base === 'events' ? 'title' : base.slice(0, -1)]: 'Renamed unseen' });
        expect((await gateway.request(`/${base}/${id}`, { method: 'POST', body, headers })).status).to.equal(200);
      }
      expect(await received()).to.deep.equal(before);
    });

    for (const [what, sent] of Object.entries({
      'a body': { body: '{"per_page":1}', headers: { 'content-type': 'application/json' } },
      'a body in chunks': {
        body: '{"per_page":1}',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      },
      'a body of another type': { body: 'per_page=1', headers: { 'content-type': 'text/plain' } },
      'a form': { body: 'per_page=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      'a method in a header': { headers: { 'x-http-method-override': 'GET' } },
      'another method than its own': { method: 'POST', headers: { 'x-http-method-override': 'GET' } },
      'credentials that are not looked at': { headers: { authorization: 'Bearer x' } },
      credentials: { headers: { authorization: authorization('author') } },
    } as Record<string, HttpRequestOptions>)) {
      it(`no cache may store the response to a request with ${what}`, async () => {
        for (const path of ['/events', '/venues', '/categories', '/events/148', '', '/doc'])
          for (const more of [{}, { 'cache-control': 'no-cache' }]) {
            const headers = { ...sent.headers, ...more };
            const reply = await gateway.request(path, { ...sent, headers });
            expect(reply.headers['cache-control'], `${path} ${reply.status}`).to.match(/no-store, private$/);
            expect(reply.headers).to.not.have.any.keys('surrogate-key', 'cache-tag', 'etag');
          }
        expect((await gateway.request('/events')).headers['cache-control']).to.match(/^public/);
      });
    }
  });
