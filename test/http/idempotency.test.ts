// `Idempotency-Key`: a retry of a create gets the same record, and creates no second one.

import { expect } from 'chai';
import { GatewayError, UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import { AS, type FakeCms, fakeCms } from '../calendar/fake-cms.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';

const event = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00', status: 'publish' };
const BODIES = {
  ...{ '/events': event, '/venues': { venue: 'Hall' }, '/organizers': { organizer: 'Ann' } },
  ...{ '/categories': { name: 'Talks' }, '/tags': { name: 'free' } },
};
const unknownOutcome = () => new UpstreamAway('timeout', 'No answer within 15 s.', { outcomeUnknown: true });

describe('Idempotency-Key on creates', () => {
  let cms: FakeCms;
  let gateway: GatewayUnderTest;
  let nowMs: number;

  beforeEach(async () => {
    nowMs = Date.UTC(2027, 0, 1);
    cms = fakeCms(() => nowMs);
    gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS, nowMs: () => nowMs });
  });
  afterEach(() => gateway.close());

  const create = (path: string, json: unknown, key: string, as = 'admin') =>
    gateway.ask(path, { as, json, headers: { 'idempotency-key': key } });

  for (const [path, body] of Object.entries(BODIES)) {
    it(`a retry of POST ${path} gets the first answer`, async () => {
      const first = await create(path, body, 'key-1');
      const again = await create(path, body, 'key-1');
      expect([first.status, first.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true']);
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers.location).to.equal(first.headers.location);
      expect(cms.steps).to.have.length(1);
    });
  }

  it('the order of the fields does not make another body', async () => {
    await create('/events', event, 'k');
    const again = await create('/events', Object.fromEntries(Object.entries(event).reverse()), 'k');
    expect(again.headers['idempotent-replayed']).to.equal('true');
  });

  it('the same key with another body is 422, and nothing is created', async () => {
    await create('/events', event, 'k');
    const other = await create('/events', { ...event, title: 'Other' }, 'k');
    expect([other.status, other.body.code]).to.deep.equal([422, 'calendar_idempotency_key_reused']);
    expect(cms.steps).to.have.length(1);
  });

  it('keys of two users, and of two kinds, have nothing to do with each other', async () => {
    const answers = [
      await create('/events', event, 'k'),
      await create('/events', event, 'k', 'editor'),
      await create('/venues', { venue: 'Hall' }, 'k'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['idempotent-replayed']])).to.deep.equal(
      answers.map(() => [201, undefined]),
    );
  });

  it('a retry while the first request is in progress is 409', async () => {
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    cms.refuse = async () => {
      arrived.resolve();
      await goOn.promise;
    };
    const first = create('/events', event, 'k');
    await arrived.promise;
    const again = await create('/events', event, 'k');
    expect([again.status, again.body.code]).to.deep.equal([409, 'calendar_create_in_progress']);
    expect(Number(again.headers['retry-after'])).to.be.greaterThan(0);
    goOn.resolve();
    expect((await first).status).to.equal(201);
    expect((await create('/events', event, 'k')).status).to.equal(201);
    expect(cms.steps).to.have.length(1);
  });

  for (const key of ['', 'two words', 'ü', 'x'.repeat(256)]) {
    it(`a malformed key is 400: ${JSON.stringify(key.slice(0, 20))}`, async () => {
      const { status, body } = await create('/events', event, key);
      expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
      expect(Object.keys(body.data.params)).to.deep.equal(['Idempotency-Key']);
      expect(cms.steps).to.have.length(0);
    });
  }

  it('every visible ASCII character may be in a key', async () => {
    const key = Array.from({ length: 0x7e - 0x20 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
    await create('/events', event, key);
    expect((await create('/events', event, key)).headers['idempotent-replayed']).to.equal('true');
  });

  it('an anonymous create is refused as without a key', async () => {
    const { status } = await gateway.ask('/events', { json: event, headers: { 'idempotency-key': 'k' } });
    expect(status).to.equal(401);
  });

  it('a refusal of what was sent is the answer of a retry too; one that passes is not', async () => {
    const bad = await create('/events', { ...event, end_date: '2026-01-01' }, 'bad');
    const again = await create('/events', { ...event, end_date: '2026-01-01' }, 'bad');
    expect([bad.status, again.status, again.headers['idempotent-replayed']]).to.deep.equal([400, 400, 'true']);
    cms.refuse = () => {
      throw new UpstreamAway('refused', 'connect ECONNREFUSED');
    };
    expect((await create('/events', event, 'away')).status).to.equal(503);
    cms.refuse = undefined;
    const later = await create('/events', event, 'away');
    expect([later.status, later.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
  });

  it('a refusal that may have left a record is the answer of a retry: no second one is made', async () => {
    cms.refuse = (_step, inserted) => {
      if (inserted) throw new UpstreamRefused(500, 'rest_meta_database_error', 'No.');
    };
    const first = await create('/events', event, 'k');
    cms.refuse = undefined;
    const again = await create('/events', event, 'k');
    expect([first.status, again.status]).to.deep.equal([502, 502]);
    expect(again.body).to.deep.equal(first.body);
    expect(cms.stored.size).to.equal(1);
  });

  describe('after an unknown outcome', () => {
    const failOnce = (carriedOut: boolean) => {
      cms.refuse = (_step, inserted) => {
        if (inserted !== carriedOut) return;
        cms.refuse = undefined;
        throw unknownOutcome();
      };
    };

    for (const carriedOut of [true, false]) {
      it(`without the companion plugin a retry gets the same error again, the create ${carriedOut ? '' : 'not '}carried out`, async () => {
        failOnce(carriedOut);
        const first = await create('/events', event, 'k');
        nowMs += 3_600_000;
        const again = await create('/events', event, 'k');
        expect([first.status, again.status]).to.deep.equal([502, 502]);
        expect(again.body).to.deep.equal(first.body);
        expect(cms.steps).to.have.length(1);
      });
    }

    for (const [path, body] of Object.entries(BODIES)) {
      it(`with the companion plugin a retry of POST ${path} gets the record that was created`, async () => {
        cms.companion = true;
        failOnce(true);
        expect((await create(path, body, 'k')).status).to.equal(502);
        for (let retry = 0; retry < 2; retry += 1) {
          const again = await create(path, body, 'k');
          expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true']);
          expect([...cms.stored.keys()]).to.deep.equal([again.body.id]);
        }
        expect(cms.steps).to.have.length(1);
      });
    }

    it('with the companion plugin a retry creates the record once the first request has surely ended', async () => {
      cms.companion = true;
      failOnce(false);
      expect((await create('/events', event, 'k')).status).to.equal(502);
      expect((await create('/events', event, 'k')).status).to.equal(502);
      nowMs += 120_001;
      const answers = await Promise.all([create('/events', event, 'k'), create('/events', event, 'k')]);
      expect(answers.map(({ status }) => status)).to.have.members([201, 409]);
      expect(cms.stored.size).to.equal(1);
    });
  });

  it('a retry of a create with a long answer is answered from the record', async () => {
    const long = { ...event, description: 'x'.repeat(20_000) };
    const first = await create('/events', long, 'k');
    const again = await create('/events', long, 'k');
    expect([again.status, again.headers['idempotent-replayed'], again.body.id]).to.deep.equal([
      201,
      'true',
      first.body.id,
    ]);
    expect(cms.steps).to.have.length(1);
  });

  describe('a retry is shown no more than its actor may see now', () => {
    /** From now on the CMS refuses to show this account records for editing. */
    function takeRights(role: keyof typeof AS): void {
      const read = cms.read.bind(cms);
      cms.read = async (base, id, query, options) => {
        if (options?.credentials === AS[role] && query?.context === 'edit')
          throw new UpstreamRefused(403, 'rest_forbidden_context', 'No.');
        if (options?.credentials === AS[role] && cms.stored.get(id)?.status === 'private')
          throw new UpstreamRefused(403, 'rest_forbidden', 'No.');
        return read(base, id, query, options);
      };
    }

    for (const [path, body] of Object.entries(BODIES).slice(0, 3)) {
      it(`POST ${path}, whose record is another's private one by now`, async () => {
        const first = await create(path, body, 'k', 'author');
        await gateway.ask(`${path}/${first.body.id}`, { as: 'admin', json: { status: 'private', author: 5 } });
        takeRights('author');
        const again = await create(path, body, 'k', 'author');
        expect([first.status, again.status]).to.deep.equal([201, 403]);
        expect(again.text).to.not.match(/Party|Hall|Ann/);
        expect(cms.steps.filter(({ method }) => method === 'create')).to.have.length(1);
      });

      it(`POST ${path}, whose actor may read the record and no longer edit it`, async () => {
        const first = await create(path, { ...body, status: 'publish' }, 'k', 'author');
        takeRights('author');
        const again = await create(path, { ...body, status: 'publish' }, 'k', 'author');
        expect([again.status, again.body.id]).to.deep.equal([201, first.body.id]);
        expect(again.headers['idempotent-replayed']).to.equal('true');
      });
    }

    it('an event, whose venue is another’s draft by now', async () => {
      const venue = (await gateway.ask('/venues', { as: 'admin', json: { venue: 'Hall', status: 'publish' } })).body.id;
      const first = await create('/events', { ...event, venue }, 'k', 'author');
      await gateway.ask(`/venues/${venue}`, { as: 'admin', json: { status: 'draft' } });
      const again = await create('/events', { ...event, venue }, 'k', 'author');
      expect([first.body.venue.venue, again.status, again.body.venue]).to.deep.equal(['Hall', 201, []]);
    });

    it('an event that was changed since: as it is now', async () => {
      const first = await create('/events', event, 'k');
      await gateway.ask(`/events/${first.body.id}`, { as: 'editor', json: { title: 'Changed' } });
      const again = await create('/events', event, 'k');
      expect([again.status, again.body.id, again.body.title]).to.deep.equal([201, first.body.id, 'Changed']);
    });

    it('a record that the CMS no longer has is not created again', async () => {
      const first = await create('/events', event, 'k');
      cms.stored.delete(first.body.id);
      expect((await create('/events', event, 'k')).status).to.equal(404);
      expect(cms.steps).to.have.length(1);
    });
  });

  it('a refusal that is very long is not kept', async () => {
    const long = Array.from({ length: 12 }, (_, i) => [`${i}`.padEnd(200, 'n'), 'x'.repeat(70_000)]);
    const body = { ...event, ...Object.fromEntries(long) };
    const answers = [await create('/events', body, 'k'), await create('/events', body, 'k')];
    expect(answers.map(({ status, headers }) => [status, headers['idempotent-replayed']])).to.deep.equal([
      [400, undefined],
      [400, undefined],
    ]);
  });

  it('a gateway whose key another one took over, since the steps before took long, does not create', async () => {
    const { createKeys } = gateway.backing.replica;
    const { create: creating } = cms;
    cms.create = async (base, body, options) => {
      const native = await creating(base, body, options);
      if (base !== 'venues') return native;
      // What another gateway makes of the entry of one that it believes to have ended.
      const { replace } = createKeys;
      createKeys.replace = async (name, old, next) => {
        createKeys.replace = replace;
        await replace(name, old, { ...old, by: 'another' });
        return replace(name, old, next);
      };
      return native;
    };
    const { status, body } = await create('/events', { ...event, venue: { venue: 'Hall' } }, 'k');
    expect([status, body.code]).to.deep.equal([409, 'calendar_create_in_progress']);
    expect(
      [...cms.stored.values()].filter(({ base, status }) => base === 'events' || status !== 'trash'),
    ).to.deep.equal([]);
    cms.create = creating;
    expect((await create('/events', { ...event, venue: { venue: 'Hall' } }, 'k')).status).to.equal(502);
  });

  it('a temporary refusal is not the answer of a retry even if a venue stays, which the retry uses', async () => {
    // With several gateways a rollback leaves venues.
    gateway.backing.others = { version: () => '', reached: async () => true };
    cms.refuse = ({ base }) => {
      if (base === 'events') throw new UpstreamAway('refused', 'connect ECONNREFUSED');
    };
    const body = { ...event, venue: { venue: 'Hall' } };
    const first = await create('/events', body, 'k');
    expect([first.status, first.body.data.created.length]).to.deep.equal([503, 1]);
    cms.refuse = undefined;
    const again = await create('/events', body, 'k');
    expect([again.status, again.body.venue.id]).to.deep.equal([201, first.body.data.created[0].id]);
    expect(cms.stored.size).to.equal(2);
  });

  it('a key that was taken unheard is free for a retry, and that of an unknown outcome is not', async () => {
    const { createKeys } = gateway.backing.replica;
    const { take, set } = createKeys;
    const silent = async (): Promise<never> => {
      throw new GatewayError(503, 'calendar_keys_unavailable', 'No.');
    };
    createKeys.take = async (...entry) => {
      await take(...entry);
      return silent();
    };
    expect((await create('/events', event, 'k')).status).to.equal(503);
    createKeys.take = take;
    expect((await create('/events', event, 'k')).status).to.equal(201);

    cms.refuse = () => {
      throw unknownOutcome();
    };
    createKeys.set = silent;
    expect((await create('/events', event, 'other')).status).to.equal(502);
    [cms.refuse, createKeys.set, createKeys.take] = [undefined, set, silent];
    expect((await create('/events', event, 'other')).status).to.equal(503);
    createKeys.take = take;
    expect((await create('/events', event, 'other')).status).to.equal(502);
    expect(cms.stored.size).to.equal(1);
  });

  it('a key that could not be released after a temporary refusal is free for a retry', async () => {
    const { createKeys } = gateway.backing.replica;
    const { drop } = createKeys;
    createKeys.drop = async () => {
      throw new Error('no answer within 1000 ms');
    };
    cms.refuse = () => {
      throw new UpstreamAway('refused', 'connect ECONNREFUSED');
    };
    expect((await create('/events', event, 'k')).status).to.equal(503);
    [cms.refuse, createKeys.drop] = [undefined, drop];
    for (const isReplay of [undefined, 'true']) {
      const { status, headers } = await create('/events', event, 'k');
      expect([status, headers['idempotent-replayed']]).to.deep.equal([201, isReplay]);
    }
    expect(cms.stored.size).to.equal(1);
  });

  it('a key is forgotten after a day', async () => {
    await create('/events', event, 'k');
    nowMs += 24 * 3_600_000 + 1;
    expect((await create('/events', event, 'k')).headers['idempotent-replayed']).to.equal(undefined);
  });

  it('browsers on other origins may send the key', async () => {
    const { headers } = await gateway.ask('/events', {
      method: 'OPTIONS',
      headers: { origin: 'https://other.example' },
    });
    expect(headers['access-control-allow-headers']).to.contain('Idempotency-Key');
  });
});
