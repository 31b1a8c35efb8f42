// `Idempotency-Key`: a retry of a create returns the same record and creates no second one.

import { expect } from 'chai';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, unavailable } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const event = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00', status: 'publish' };
const BODIES = {
  ...{ '/events': event, '/venues': { venue: 'Hall' }, '/organizers': { organizer: 'Ann' } },
  ...{ '/categories': { name: 'Talks' }, '/tags': { name: 'free' } },
};
const unknownOutcome = () => new CmsUnavailable('timeout', 'No answer within 15 s.', { outcomeUnknown: true });

describe('Idempotency-Key on creates', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  let nowMs: number;

  beforeEach(async () => {
    nowMs = Date.UTC(2027, 0, 1);
    cms = createFakeCms(() => nowMs);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => nowMs });
  });
  afterEach(() => gateway.stop());

  const create = (path: string, json: unknown, key: string, as = 'admin') =>
    gateway.request(path, { as, json, headers: { 'idempotency-key': key } });

  for (const [path, body] of Object.entries(BODIES)) {
    it(`a retry of POST ${path} gets the first response`, async () => {
      const first = await create(path, body, 'key-1');
      const again = await create(path, body, 'key-1');
      expect([first.status, first.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true']);
      expect(again.body).to.deep.equal(first.body);
      expect(again.headers.location).to.equal(first.headers.location);
      expect(cms.writes).to.have.length(1);
    });
  }

  it('a retry may send the fields in another order', async () => {
    await create('/events', event, 'k');
    const again = await create('/events', Object.fromEntries(Object.entries(event).reverse()), 'k');
    expect(again.headers['idempotent-replayed']).to.equal('true');
  });

  it('the same key with another body is 422, and nothing is created', async () => {
    await create('/events', event, 'k');
    const other = await create('/events', { ...event, title: 'Other' }, 'k');
    expect([other.status, other.body.code]).to.deep.equal([422, 'calendar_idempotency_key_reused']);
    expect(cms.writes).to.have.length(1);
  });

  it('keys of different users, and of different kinds, are independent', async () => {
    const responses = [
      await create('/events', event, 'k'),
      await create('/events', event, 'k', 'editor'),
      await create('/venues', { venue: 'Hall' }, 'k'),
    ];
    expect(responses.map(({ status, headers }) => [status, headers['idempotent-replayed']])).to.deep.equal(
      responses.map(() => [201, undefined]),
    );
  });

  it('a retry while the first request is in progress is 409', async () => {
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    cms.onWrite = async () => {
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
    expect(cms.writes).to.have.length(1);
  });

  for (const key of ['', 'two words', 'ü', 'x'.repeat(256)]) {
    it(`a malformed key is 400: ${JSON.stringify(key.slice(0, 20))}`, async () => {
      const { status, body } = await create('/events', event, key);
      expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
      expect(Object.keys(body.data.params)).to.deep.equal(['Idempotency-Key']);
      expect(cms.writes).to.have.length(0);
    });
  }

  it('a key may contain every visible ASCII character', async () => {
    const key = Array.from({ length: 0x7e - 0x20 }, (_, at) => String.fromCharCode(0x21 + at)).join('');
    await create('/events', event, key);
    expect((await create('/events', event, key)).headers['idempotent-replayed']).to.equal('true');
  });

  it('an anonymous create is rejected as without a key', async () => {
    const { status } = await gateway.request('/events', { json: event, headers: { 'idempotency-key': 'k' } });
    expect(status).to.equal(401);
  });

  it('a request after an error that left no record is executed, with another body too', async () => {
    expect((await create('/events', { ...event, end_date: '2026-01-01' }, 'bad')).status).to.equal(400);
    const corrected = await create('/events', event, 'bad');
    expect([corrected.status, corrected.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
    cms.onWrite = () => {
      throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
    };
    expect((await create('/events', event, 'away')).status).to.equal(503);
    cms.onWrite = undefined;
    const later = await create('/events', event, 'away');
    expect([later.status, later.headers['idempotent-replayed']]).to.deep.equal([201, undefined]);
  });

  it('a retry gets the same error if the CMS refuses to move the new record to the trash', async () => {
    cms.onWrite = ({ method }) => {
      if (method === 'remove') throw new CmsRejected('no-trash', 'No trash.', { written: 'no' });
    };
    const first = await create('/events', { ...event, status: 'trash' }, 'trash');
    expect([first.status, first.body.data.created.length]).to.deep.equal([502, 1]);
    const again = await create('/events', { ...event, status: 'trash' }, 'trash');
    expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([502, 'true']);
    expect(again.body).to.deep.equal(first.body);
    expect([...cms.posts.values()].filter(({ base }) => base === 'events')).to.have.length(1);
  });

  it('a retry gets the record if the CMS was away when it was to move it to the trash', async () => {
    cms.onWrite = ({ method }) => {
      if (method === 'remove') throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
    };
    const first = await create('/events', { ...event, status: 'trash' }, 'away');
    expect([first.status, first.body.data.created.length]).to.deep.equal([503, 1]);
    cms.onWrite = undefined;
    const again = await create('/events', { ...event, status: 'trash' }, 'away');
    expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true']);
    expect(again.body.id).to.equal(first.body.data.created[0].id);
    expect(cms.all().length).to.equal(1);
  });

  it('a retry gets the same error if that may have left a record', async () => {
    cms.onWrite = (_step, inserted) => {
      if (inserted) throw new CmsRejected('failed', 'No.', { written: 'unknown' });
    };
    const first = await create('/events', event, 'k');
    cms.onWrite = undefined;
    const again = await create('/events', event, 'k');
    expect([first.status, again.status]).to.deep.equal([502, 502]);
    expect(again.body).to.deep.equal(first.body);
    expect(cms.all().length).to.equal(1);
  });

  describe('after an unknown outcome', () => {
    const failOnce = (carriedOut: boolean) => {
      cms.onWrite = (_step, inserted) => {
        if (inserted !== carriedOut) return;
        cms.onWrite = undefined;
        throw unknownOutcome();
      };
    };

    for (const carriedOut of [true, false]) {
      it(`without the companion plugin a retry gets the same error again; the CMS did ${carriedOut ? '' : 'not '}execute the create`, async () => {
        failOnce(carriedOut);
        const first = await create('/events', event, 'k');
        nowMs += 3_600_000;
        const again = await create('/events', event, 'k');
        expect([first.status, again.status]).to.deep.equal([502, 502]);
        expect(again.body).to.deep.equal(first.body);
        expect(cms.writes).to.have.length(1);
      });
    }

    for (const [path, body] of Object.entries(BODIES)) {
      it(`with the companion plugin a retry of POST ${path} gets the record that was created`, async () => {
        cms.hasCompanion = true;
        failOnce(true);
        // The gateway may have ended meanwhile: no poll has found the record.
        cms.beforeRequest = ({ order }) => (order === undefined ? undefined : unavailable());
        expect((await create(path, body, 'k')).status).to.equal(502);
        for (let retry = 0; retry < 2; retry += 1) {
          const again = await create(path, body, 'k');
          expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true']);
          expect(cms.all().map(({ id }) => id)).to.deep.equal([again.body.id]);
          const collection = path.slice(1);
          const { body: list } = await gateway.request(`${path}?hide_empty=0`);
          expect(list[collection].map(({ id }: { id: number }) => id)).to.deep.equal([again.body.id]);
        }
        expect(cms.writes).to.have.length(1);
      });
    }

    it('with the companion plugin a retry gets the record also if its outcome cannot be stored', async () => {
      cms.hasCompanion = true;
      failOnce(true);
      expect((await create('/events', event, 'k')).status).to.equal(502);
      gateway.idempotencyKeys.compareAndSet = () => Promise.reject(new Error('the disk is full'));
      const again = await create('/events', event, 'k');
      expect([again.status, cms.all().map(({ id }) => id)]).to.deep.equal([201, [again.body.id]]);
    });

    it('with the companion plugin a retry creates the record after the first request must have ended', async () => {
      cms.hasCompanion = true;
      failOnce(false);
      expect((await create('/events', event, 'k')).status).to.equal(502);
      expect((await create('/events', event, 'k')).status).to.equal(502);
      nowMs += 120_001;
      const responses = await Promise.all([create('/events', event, 'k'), create('/events', event, 'k')]);
      expect(responses.map(({ status }) => status)).to.have.members([201, 409]);
      expect(cms.all().length).to.equal(1);
    });
  });

  it('a retry of a create with a long response gets the record', async () => {
    const long = { ...event, description: 'x'.repeat(20_000) };
    const first = await create('/events', long, 'k');
    const again = await create('/events', long, 'k');
    expect([again.status, again.headers['idempotent-replayed'], again.body.id]).to.deep.equal([
      201,
      'true',
      first.body.id,
    ]);
    expect(cms.writes).to.have.length(1);
  });

  it('a gateway does not create if another gateway took its key over meanwhile', async () => {
    const { idempotencyKeys: idempotency } = gateway;
    const { create: creating } = cms;
    cms.create = async (spec, body, options) => {
      const cmsRecord = await creating(spec, body, options);
      if (spec.collection !== 'venues') return cmsRecord;
      // The entry that another gateway writes if it believes that this one has crashed.
      const { compareAndSet } = idempotency;
      idempotency.compareAndSet = async (name, old, next) => {
        idempotency.compareAndSet = compareAndSet;
        await compareAndSet(name, old, { ...old, holder: 'another' });
        return compareAndSet(name, old, next);
      };
      return cmsRecord;
    };
    const { status, body } = await create('/events', { ...event, venue: { venue: 'Hall' } }, 'k');
    expect([status, body.code]).to.deep.equal([409, 'calendar_create_in_progress']);
    const [venue, ...others] = [...cms.posts.values()];
    expect(others).to.deep.equal([]);
    expect(body.data.created).to.deep.equal([{ kind: 'venue', id: venue!.id }]);
    cms.create = creating;
    expect((await create('/events', { ...event, venue: { venue: 'Hall' } }, 'k')).status).to.equal(502);
  });

  it('a retry after a temporary error is executed, and reuses a venue that was left', async () => {
    // In a cluster a rollback leaves venues.
    gateway.services.peers = {
      tell: async (_records, read) => read(),
      consistencyToken: () => ({ id: '0-0', isTold: true }),
      reaches: async () => true,
    };
    cms.onWrite = ({ base }) => {
      if (base === 'events') throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
    };
    const body = { ...event, venue: { venue: 'Hall' } };
    const first = await create('/events', body, 'k');
    expect([first.status, first.body.data.created.length]).to.deep.equal([503, 1]);
    cms.onWrite = undefined;
    const again = await create('/events', body, 'k');
    expect([again.status, again.body.venue.id]).to.deep.equal([201, first.body.data.created[0].id]);
    expect(cms.all().length).to.equal(2);
  });

  it('a key expires after a day', async () => {
    await create('/events', event, 'k');
    nowMs += 24 * 3_600_000 + 1;
    expect((await create('/events', event, 'k')).headers['idempotent-replayed']).to.equal(undefined);
  });

  it('CORS allows the header', async () => {
    const { headers } = await gateway.request('/events', {
      method: 'OPTIONS',
      headers: { origin: 'https://other.example' },
    });
    expect(headers['access-control-allow-headers']).to.contain('Idempotency-Key');
  });
});
