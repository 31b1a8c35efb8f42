// Nothing is deleted in the CMS without proof, and no error hides a record that a failed write left there.

import { expect } from 'chai';
import type { Asked } from '../../src/calendar/asked.ts';
import { createImages } from '../../src/calendar/images.ts';
import { type GatewayError, UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { validate } from '../../src/interface/validate.ts';
import type { Lookups } from '../../src/interface/value-kind.ts';
import { redirected } from '../../src/upstream/answer.ts';
import { createImageFetches } from '../../src/upstream/image-fetches.ts';
import { BASE, type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, type FakeCms, fakeCms, type Role, type Step, userIdOf } from './fake-cms.ts';

const NOW_MS = Date.UTC(2027, 0, 1);
const HOUR_MS = 3_600_000;
const event = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00', status: 'publish' };
const LINKED = {
  categories: ['New category'],
  tags: ['New tag'],
  venue: { venue: 'New venue' },
  organizer: [{ organizer: 'New organizer' }],
};
/** Each part is a write of its own, in the CMS. */
const EVERYTHING = { ...event, ...LINKED, image: 'https://elsewhere.example/a.png' };
const STEPS: Step[] = [
  { method: 'create', base: 'event_categories' },
  { method: 'create', base: 'tags' },
  { method: 'create', base: 'venues' },
  { method: 'create', base: 'organizers' },
  { method: 'upload', base: 'media' },
  { method: 'create', base: 'events' },
];
const KIND_OF: Record<string, string> = {
  ...{ event_categories: 'category', tags: 'tag', venues: 'venue', organizers: 'organizer' },
  ...{ media: 'image', events: 'event' },
};
const refused = (code = 'rest_meta_database_error', status = 400) => new UpstreamRefused(status, code, 'No.');
const unknownOutcome = () => new UpstreamAway('timeout', 'No answer within 15 s.', { outcomeUnknown: true });
const yes = async () => true;
const lookups: Lookups = { staff: true, exists: yes, slug: yes, term: async () => undefined, user: yes, image: yes };

describe('a delete needs proof', () => {
  let cms: FakeCms;
  let cmsMs: number;
  let gateway: GatewayUnderTest;

  beforeEach(async () => {
    cmsMs = NOW_MS;
    cms = fakeCms(() => cmsMs);
    gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS, nowMs: () => NOW_MS });
  });
  afterEach(() => gateway.close());

  /** One request as routing runs it, with pictures from a network that is not there. */
  async function write(
    path: string,
    operation: 'create' | 'update',
    body: Record<string, unknown>,
    { id = 0, as = 'admin' }: { id?: number; as?: Role } = {},
  ): Promise<{ id: number }> {
    const caller = { credentials: AS[as], account: await cms.account({ credentials: AS[as] }) };
    const png = { bytes: new Uint8Array(1), mimeType: 'image/png', filename: 'a.png' };
    const fetches = createImageFetches({ fetchFrom: async () => png });
    const asked: Asked = { caller, base: BASE, images: createImages(gateway.backing, { caller }, fetches) };
    const route = ROUTES.find((one) => one.path === (operation === 'create' ? path : `${path}/{id}`));
    const endpoint = route!.endpoints.find((one) => one.operation === operation)!;
    if (typeof body.image === 'string') await asked.images.usable(body.image);
    const input = await validate(endpoint, { path: { id: String(id) }, query: {}, body }, lookups);
    const operations = { '/events': 'event', '/venues': 'venue', '/categories': 'category' } as const;
    const chosen = gateway.operations[operations[path as keyof typeof operations]];
    const answer = await (operation === 'create' ? chosen.create(input, asked) : chosen.update(id, input, asked));
    return answer.body as { id: number };
  }

  const thrown = async (call: Promise<unknown>): Promise<GatewayError> =>
    call.then(
      (answer) => expect.fail(`was accepted: ${JSON.stringify(answer)}`),
      (error: unknown) => error as GatewayError,
    );

  /** At this step, before or after the CMS carries it out. */
  const failAt = (at: Step, carriedOut: boolean, error: () => Error) => {
    cms.refuse = (step, inserted) => {
      if (step.method === at.method && step.base === at.base && inserted === carriedOut) throw error();
    };
  };

  /** Of three creates refuses one before and one after the insert; they arrive and leave in another order. */
  const everyThird = (): NonNullable<FakeCms['refuse']> => {
    const numbers = new Map<Step, number>();
    return async (step, inserted) => {
      if (step.method !== 'create') return;
      const number = numbers.get(step) ?? numbers.size;
      numbers.set(step, number);
      for (let turns = 0; turns < (number * 7) % 5; turns += 1) await new Promise(setImmediate);
      if (number % 3 === 0 && !inserted) throw refused('my_rule');
      if (number % 3 === 1 && inserted) throw refused();
    };
  };

  /** What the CMS shows: neither in the trash nor deleted. */
  const shown = (base?: string) =>
    [...cms.stored.values()].filter((one) => one.status !== 'trash' && (base === undefined || one.base === base));
  const namesOf = (base?: string) => shown(base).map((one) => ({ kind: KIND_OF[one.base], id: Number(one.id) }));
  const EVENT = { method: 'create', base: 'events' } as const;

  it('writes everything in these steps when nothing is refused', async () => {
    await write('/events', 'create', EVERYTHING);
    expect(cms.steps).to.deep.equal(STEPS);
    expect(cms.deletes).to.deep.equal([]);
    expect(gateway.backing.replica.counts()).to.deep.equal({ event: 1, venue: 1, organizer: 1, category: 1, tag: 1 });
  });

  describe('after a refusal, a same-titled record stays', () => {
    const CODES = [
      ...['my_rule', 'spam_detected', 'invalid_date', 'db_insert_error', 'rest_invalid_json', 'rest_no_route'],
      ...['rest_upstream_error', 'rest_forbidden', 'rest_meta_database_error'],
    ];
    for (const offMs of [0, HOUR_MS, -HOUR_MS]) {
      for (const code of CODES) {
        it(`refused before the insert with ${code}, the clock of the CMS off by ${offMs / HOUR_MS} h`, async () => {
          cmsMs = NOW_MS + offMs;
          const mine = await write('/events', 'create', event);
          cms.edit(mine.id, { content: 'edited a moment ago' });
          failAt(EVENT, false, () => refused(code, 403));
          const error = await thrown(write('/events', 'create', event));
          expect(cms.deletes).to.deep.equal([]);
          expect(namesOf()).to.deep.equal([{ kind: 'event', id: mine.id }]);
          expect(error.data).not.to.have.any.keys('created', 'possibly_created');
        });
      }
    }

    it('one that an editor created in the CMS itself, and that the replica lacks', async () => {
      const mine = await cms.create('events', { title: 'Party', status: 'publish' }, { credentials: AS.admin });
      failAt(EVENT, false, () => refused('my_rule'));
      const error = await thrown(write('/events', 'create', event));
      expect(cms.deletes).to.deep.equal([]);
      expect(error.data.possibly_created).to.deep.equal([{ kind: 'event', id: mine.id }]);
    });
  });

  for (const base of ['venues', 'organizers', 'events']) {
    const kind = KIND_OF[base];
    describe(`a create of ${base} refused once the record was inserted`, () => {
      it('without the companion plugin: the record stays, the error names it, and the replica has it', async () => {
        failAt({ method: 'create', base }, true, refused);
        const error = await thrown(write('/events', 'create', EVERYTHING));
        const [orphan] = namesOf(base);
        expect(cms.deletes.filter((one) => one.base === base)).to.deep.equal([]);
        expect(error.data.possibly_created).to.deep.equal([orphan]);
        expect(gateway.backing.replica.kindOf(orphan!.id)).to.equal(kind);
      });

      it('with the companion plugin: the record goes to the trash', async () => {
        cms.companion = true;
        failAt({ method: 'create', base }, true, refused);
        const error = await thrown(write('/events', 'create', { ...EVERYTHING, image: undefined }));
        expect(shown()).to.deep.equal([]);
        expect(cms.deletes.filter((one) => one.base === base)).to.have.length(1);
        expect(cms.deletes.filter(({ base }) => base in { venues: 1, organizers: 1, events: 1 })).to.satisfy(
          (deletes: { force: boolean }[]) => deletes.every(({ force }) => !force),
        );
        expect(error.data).not.to.have.any.keys('created', 'possibly_created');
      });
    });
  }

  describe('an error names records that its own request did not create', () => {
    for (const [what, createId] of Object.entries({
      'without an id': undefined,
      'with the id of another call': 'f'.repeat(32),
    })) {
      it(`${what}: they stay`, async () => {
        const mine = await write('/events', 'create', { ...event, title: 'Another' });
        failAt(EVENT, false, () => {
          const error = refused('my_rule');
          const replayed = { calendar_created: [{ collection: 'events', id: mine.id }], calendar_create: createId };
          Object.assign(error.data, replayed);
          return error;
        });
        const error = await thrown(write('/events', 'create', event));
        expect(cms.deletes).to.deep.equal([]);
        expect(namesOf('events')).to.deep.equal([{ kind: 'event', id: mine.id }]);
        expect(error.data).not.to.have.any.keys('created', 'possibly_created');
      });
    }
  });

  describe('the answer to another create, which a cache before the CMS repeats', () => {
    for (const [what, more] of Object.entries({
      'to be moved to the trash': { status: 'trash' },
      'to be written once more': { sticky: true, date: '2026-12-01 10:00:00' },
    })) {
      it(`shows no record of this create, which is ${what}: the outcome is unknown`, async () => {
        await write('/events', 'create', event);
        const old = { ...shown('events')[0]! };
        cms.create = async () => ({ ...old });
        const steps = cms.steps.length;
        const error = await thrown(write('/events', 'create', { ...event, ...more }));
        expect(error).to.include({ status: 502, code: 'calendar_outcome_unknown' });
        expect(cms.steps).to.have.length(steps);
        expect(shown('events')).to.deep.equal([old]);
      });
    }

    for (const base of ['venues', 'event_categories']) {
      it(`is no proof: a rollback leaves what it shows, ${base}`, async () => {
        await write('/events', 'create', { ...event, categories: ['Old'], venue: { venue: 'Old' } });
        const old = shown(base)[0]!;
        const before = shown().length;
        const { create } = cms;
        cms.create = async (at, body, options) => (at === base ? { ...old } : create(at, body, options));
        failAt(EVENT, false, refused);
        const other = { categories: ['New'], venue: { venue: 'New' } };
        const error = await thrown(write('/events', 'create', { ...event, ...other }));
        expect(shown()).to.have.length(before);
        expect(shown(base)).to.deep.equal([old]);
        expect(error.data.created).to.deep.include({ kind: KIND_OF[base], id: old.id });
      });
    }
  });

  for (const [what, page] of Object.entries({
    'a web page': () => new UpstreamAway('not-json', 'a web page instead of JSON (status 403)', { status: 403 }),
    'a redirect': () => redirected('https://cms.example/wp-admin/'),
  })) {
    for (const base of ['events', 'venues', 'event_categories']) {
      it(`a create of ${base} that is answered with ${what}: the error names a record that was inserted`, async () => {
        failAt({ method: 'create', base }, true, page);
        const error = await thrown(write('/events', 'create', EVERYTHING));
        const named = [error.data.possibly_created, error.data.created ?? []].flat();
        expect(named).to.deep.include(namesOf(base)[0]);
        expect(cms.deletes.filter((one) => one.base === base)).to.deep.equal([]);
      });

      it(`and none when there is none: ${base}, ${what}`, async () => {
        failAt({ method: 'create', base }, false, page);
        const error = await thrown(write('/events', 'create', { ...event, venue: LINKED.venue, categories: ['New'] }));
        expect(error.data?.possibly_created).to.equal(undefined);
      });
    }
  }

  for (const base of ['events', 'venues', 'event_categories']) {
    it(`an answer to a create of ${base} that lacks fields: the error names the record`, async () => {
      const { create } = cms;
      cms.create = async (at, body, options) => {
        const native = await create(at, body, options);
        return at === base ? { id: native.id } : native;
      };
      const error = await thrown(write('/events', 'create', { ...event, venue: LINKED.venue, categories: ['New'] }));
      expect(error.data?.created).to.deep.include(namesOf(base)[0]);
    });
  }

  it('with the companion plugin, only the record of the refused request goes: same titles, many at once', async () => {
    cms.companion = true;
    cms.refuse = everyThird();
    const answers = await Promise.allSettled(Array.from({ length: 30 }, () => write('/events', 'create', event)));
    const acknowledged = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
    expect(acknowledged).to.have.length(10);
    expect(shown('events').map(({ id }) => id)).to.have.members(acknowledged);
  });

  it('without it, every record of concurrent same-titled creates is acknowledged or named', async () => {
    cms.refuse = everyThird();
    const answers = await Promise.allSettled(Array.from({ length: 30 }, () => write('/events', 'create', event)));
    const acknowledged = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
    const named = answers.flatMap((one) =>
      one.status === 'rejected'
        ? ((one.reason.data.possibly_created ?? []) as { id: number }[]).map(({ id }) => id)
        : [],
    );
    expect(cms.deletes).to.deep.equal([]);
    expect(acknowledged).to.have.length(10);
    expect([...new Set([...acknowledged, ...named])]).to.have.members(shown('events').map(({ id }) => id));
  });

  it('names a record that was to belong to another author', async () => {
    for (const failure of [refused, unknownOutcome]) {
      failAt(EVENT, true, failure);
      const error = await thrown(write('/events', 'create', { ...event, author: userIdOf('author') }));
      expect(error.data.possibly_created).to.deep.include(namesOf('events').at(-1));
    }
  });

  it('says that there may be a record when the CMS does not show the newest ones', async () => {
    failAt(EVENT, true, refused);
    cms.list = async () => {
      throw new UpstreamAway('refused', 'connect ECONNREFUSED');
    };
    const error = await thrown(write('/events', 'create', event));
    expect(error.data.possibly_created).to.deep.equal([{ kind: 'event' }]);
  });

  describe('after an unknown outcome nothing is deleted, and the error names what was created', () => {
    for (const [at, step] of STEPS.entries()) {
      for (const carriedOut of [false, true]) {
        it(`${step.method} of ${step.base}, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
          failAt(step, carriedOut, unknownOutcome);
          const error = await thrown(write('/events', 'create', EVERYTHING));
          expect([error.status, error.code]).to.deep.equal([502, 'calendar_outcome_unknown']);
          expect(error.message).to.include('Cache-Control: no-cache');
          expect(cms.deletes).to.deep.equal([]);
          const before = STEPS.slice(0, at).map(({ base }) => namesOf(base)[0]);
          expect(error.data.created ?? []).to.deep.equal(before);
          // New uploads cannot be told from others.
          const possibly = step.base === 'media' ? [{ kind: 'image' }] : namesOf(step.base);
          expect(error.data.possibly_created ?? []).to.deep.equal(possibly);
        });
      }
    }

    for (const carriedOut of [false, true]) {
      it(`the second write of an event, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        failAt({ method: 'update', base: 'events' }, carriedOut, unknownOutcome);
        const body = { ...event, ...LINKED, sticky: true, date: '2026-01-01 10:00:00' };
        const error = await thrown(write('/events', 'create', body));
        expect(cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members(namesOf());
      });

      it(`a create in the trash, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        failAt({ method: 'remove', base: 'events' }, carriedOut, unknownOutcome);
        const error = await thrown(write('/events', 'create', { ...event, status: 'trash' }));
        expect(error.code).to.equal('calendar_outcome_unknown');
        expect([...cms.stored.keys()]).to.deep.equal((error.data.created as { id: number }[]).map(({ id }) => id));
      });

      it(`an update with new linked records, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        const { id } = await write('/events', 'create', event);
        failAt({ method: 'update', base: 'events' }, carriedOut, unknownOutcome);
        const error = await thrown(write('/events', 'update', LINKED, { id }));
        expect(cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members(namesOf().filter((one) => one.id !== id));
      });
    }

    it('and the next list shows the record', async () => {
      failAt(EVENT, true, unknownOutcome);
      const json = { ...event };
      const failed = await gateway.ask('/events', { as: 'editor', json });
      expect(failed.status).to.equal(502);
      for (const as of ['editor', undefined]) {
        const { body } = await gateway.ask('/events?start_date=2027-01-01', { as });
        expect(body.total).to.equal(1);
        expect(failed.body.data.possibly_created).to.deep.equal([{ kind: 'event', id: body.events[0].id }]);
      }
    });

    it('of a delete that was asked for: the next list does not show the record', async () => {
      const { id } = await write('/events', 'create', event);
      failAt({ method: 'remove', base: 'events' }, true, unknownOutcome);
      const failed = await gateway.ask(`/events/${id}`, { as: 'editor', method: 'DELETE' });
      expect([failed.status, failed.body.code]).to.deep.equal([502, 'calendar_outcome_unknown']);
      expect((await gateway.ask('/events?start_date=2027-01-01')).body.total).to.equal(0);
    });

    it('and a read of the same caller waits for a poll that takes long', async () => {
      const { sync, unsettled } = gateway.backing;
      const listed = Promise.withResolvers<void>();
      unsettled.set(
        5,
        listed.promise.then(() => sync.look()),
      );
      await cms.create('events', { ...event, meta: { start_date: event.start_date } }, { credentials: AS.admin });
      const read = gateway.ask('/events?start_date=2027-01-01', { as: 'admin' });
      listed.resolve();
      expect((await read).body.total).to.equal(1);
    });

    it('of a term that is not part of an event, too', async () => {
      failAt({ method: 'create', base: 'event_categories' }, true, unknownOutcome);
      const error = await thrown(write('/categories', 'create', { name: 'New' }));
      expect(error.data.possibly_created).to.deep.equal(namesOf());
      expect(gateway.backing.replica.counts().category).to.equal(1);
    });
  });

  describe('after a refusal, what this request created is removed', () => {
    const UNDOABLE = { ...event, ...LINKED };

    it('when the event is refused before the insert', async () => {
      failAt(EVENT, false, refused);
      const error = await thrown(write('/events', 'create', UNDOABLE));
      expect(shown()).to.deep.equal([]);
      expect(error.data).not.to.have.any.keys('created', 'possibly_created');
      expect(cms.deletes.map(({ base, force }) => [base, force])).to.deep.equal([
        ...[
          ['organizers', false],
          ['venues', false],
          ['tags', true],
          ['event_categories', true],
        ],
      ]);
    });

    it('when the CMS is away before the event was sent', async () => {
      failAt(EVENT, false, () => new UpstreamAway('refused', 'connect ECONNREFUSED'));
      await thrown(write('/events', 'create', UNDOABLE));
      expect(shown()).to.deep.equal([]);
    });

    it('but an uploaded image stays and is named: nothing tells what shows it', async () => {
      failAt(EVENT, false, refused);
      const error = await thrown(write('/events', 'create', EVERYTHING));
      expect(error.data.created).to.deep.equal(namesOf());
      expect(namesOf()).to.deep.equal(namesOf('media'));
    });

    it('when the second write of a sticky event is refused', async () => {
      failAt({ method: 'update', base: 'events' }, false, refused);
      await thrown(write('/events', 'create', { ...UNDOABLE, sticky: true, date: '2026-01-01 10:00:00' }));
      expect(shown()).to.deep.equal([]);
    });

    it('when an update is refused, and the event stays as it was', async () => {
      const { id } = await write('/events', 'create', event);
      const before = structuredClone(shown());
      failAt({ method: 'update', base: 'events' }, false, refused);
      await thrown(write('/events', 'update', LINKED, { id }));
      expect(shown()).to.deep.equal(before);
    });

    it('for good, where the site has no trash', async () => {
      failAt(EVENT, false, refused);
      const { remove } = cms;
      cms.remove = async (base, id, how, options) => {
        if (!how.force) throw refused('rest_trash_not_supported', 501);
        return remove(base, id, how, options);
      };
      await thrown(write('/events', 'create', { ...event, venue: { venue: 'New venue' } }));
      expect(cms.stored.size).to.equal(0);
    });

    it('and the error names what could not be removed', async () => {
      failAt(EVENT, false, refused);
      cms.remove = async () => {
        throw new UpstreamAway('refused', 'connect ECONNREFUSED');
      };
      const error = await thrown(write('/events', 'create', UNDOABLE));
      expect(error.data.created).to.deep.equal(STEPS.slice(0, 4).map(({ base }) => namesOf(base)[0]));
    });
  });

  describe('a rollback leaves and names what anything else refers to', () => {
    const linkedOf = (one: { base: string }) => one.base !== 'events';

    it('records that an update wrote into the event before the CMS refused it', async () => {
      const { id } = await write('/events', 'create', event);
      failAt({ method: 'update', base: 'events' }, true, refused);
      const error = await thrown(write('/events', 'update', LINKED, { id }));
      expect(cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(namesOf().filter((one) => one.id !== id));
    });

    it('records of an event that stays because no request provably created it', async () => {
      failAt(EVENT, true, refused);
      const error = await thrown(write('/events', 'create', { ...event, ...LINKED }));
      expect(cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(
        shown()
          .filter(linkedOf)
          .map((one) => ({ kind: KIND_OF[one.base], id: one.id })),
      );
    });

    it('a record that an editor changed meanwhile', async () => {
      cms.refuse = (step, inserted) => {
        if (step.base !== 'events' || inserted) return;
        cms.edit(Number(shown('venues')[0]!.id), { content: 'Parking behind the house.' });
        throw refused();
      };
      const error = await thrown(write('/events', 'create', { ...event, venue: { venue: 'Hall' } }));
      expect(cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.deep.equal(namesOf('venues'));
    });

    for (const status of ['publish', 'draft']) {
      it(`a venue and a category that an event made in the CMS refers to, itself a ${status}`, async () => {
        cms.refuse = async (step, inserted) => {
          if (step.base !== 'events' || inserted) return;
          cms.refuse = undefined;
          const [venue] = shown('venues');
          const [category] = shown('event_categories');
          const body = { title: 'Theirs', status, meta: { venue_ids: [venue!.id] }, event_categories: [category!.id] };
          await cms.create('events', body, { credentials: AS.editor });
          throw refused();
        };
        const body = { ...event, venue: { venue: 'Hall' }, categories: ['Talks'] };
        const error = await thrown(write('/events', 'create', body));
        expect(cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members([...namesOf('venues'), ...namesOf('event_categories')]);
      });
    }

    it('a venue and terms that another request in flight resolved: the other one keeps them', async () => {
      const shared = { ...event, venue: { venue: 'Shared hall' }, categories: ['Shared'], tags: ['Common'] };
      const othersCreate = Promise.withResolvers<void>();
      const firstIsRefused = Promise.withResolvers<void>();
      let other: Promise<{ id: number }> | undefined;
      cms.refuse = async (step, inserted, { title }) => {
        if (step.base !== 'events' || inserted) return;
        if (title === 'Other') {
          othersCreate.resolve();
          await firstIsRefused.promise;
          return;
        }
        other = write('/events', 'create', { ...shared, title: 'Other' }, { as: 'editor' });
        await othersCreate.promise;
        throw refused();
      };
      const error = await thrown(write('/events', 'create', shared));
      firstIsRefused.resolve();
      const { id } = await other!;
      expect(cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(namesOf().filter((one) => one.id !== id));
      const record = gateway.backing.replica.get('event', id)!;
      expect([record.venues.length, record.categories.length, record.tags.length]).to.deep.equal([1, 1, 1]);
    });

    it('a request that names a record while a rollback removes it gets a new one', async () => {
      const shared = { ...event, categories: ['Shared'], venue: { venue: 'Shared hall' } };
      let other: Promise<{ id: number }> | undefined;
      const { remove } = cms;
      cms.remove = async (base, id, how, options) => {
        const answer = await remove(base, id, how, options);
        other ??= write('/events', 'create', { ...shared, title: 'Other' }, { as: 'editor' });
        await new Promise(setImmediate);
        return answer;
      };
      cms.refuse = (step, inserted, { title }) => {
        if (step.base === 'events' && !inserted && title === 'Party') throw refused();
      };
      await thrown(write('/events', 'create', shared));
      const { id } = await other!;
      const record = gateway.backing.replica.get('event', id)!;
      expect(record.venues.map((venue) => cms.stored.get(venue)?.status)).to.deep.equal(['publish']);
      expect(record.categories.map((category) => cms.stored.get(category)?.base)).to.deep.equal(['event_categories']);
    });
  });

  it('an end before the start is refused before anything is made', async () => {
    const error = await thrown(write('/events', 'create', { ...EVERYTHING, end_date: '2027-01-09' }));
    expect(error.code).to.equal('rest_invalid_param');
    expect(cms.stored.size).to.equal(0);
  });

  describe('an update of some times combines them with the times of the CMS, not of the replica', () => {
    it('uses the end that an editor changed in the CMS', async () => {
      const { id } = await write('/events', 'create', event);
      cms.edit(id, { meta: { end_date: '2027-01-10 22:00:00' } });
      await write('/events', 'update', { start_date: '2027-01-10 20:00:00' }, { id });
      expect(gateway.backing.replica.get('event', id)).to.include({
        ...{ start: '2027-01-10 20:00:00', end: '2027-01-10 22:00:00' },
      });
      const late = await thrown(write('/events', 'update', { start_date: '2027-01-10 23:00:00' }, { id }));
      expect(late.code).to.equal('rest_invalid_param');
    });

    it('uses the zone that an editor changed in the CMS', async () => {
      const { id } = await write('/events', 'create', event);
      cms.edit(id, { meta: { timezone: 'Asia/Tokyo' } });
      await write(
        '/events',
        'update',
        { start_date: '2027-01-10T03:00:00Z', end_date: '2027-01-10T04:00:00Z' },
        { id },
      );
      expect(gateway.backing.replica.get('event', id)!.start).to.equal('2027-01-10 12:00:00');
    });
  });
});
