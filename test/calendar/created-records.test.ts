// A failed write deletes nothing in the CMS, and its error names what it had created.

import { expect } from 'chai';
import type { Services } from '../../src/calendar/services.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { userIdOf } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import {
  EVENT_CREATE,
  EVENT_WITH_ALL,
  errorOf,
  event,
  LINKED,
  rejection,
  STEPS,
  writeFixture,
} from './write-fixture.ts';

describe('a failed write', () => {
  const fixture = writeFixture();
  const { write, failAt, existing, namesOf } = fixture;

  afterEach(() => expect(fixture.cms.deletes).to.deep.equal([]));

  it('that does not fail creates a record with each step', async () => {
    await write('/events', 'create', EVENT_WITH_ALL);
    expect(fixture.cms.writes).to.deep.equal(STEPS);
    const one = { event: 1, venue: 1, organizer: 1, category: 1, tag: 1 };
    expect(recordCounts(fixture.gateway.services.replica.db)).to.deep.equal(one);
  });

  describe('names the records of the steps before', () => {
    for (const [at, step] of STEPS.entries()) {
      it(`if the CMS refuses ${step.method} ${step.base}`, async () => {
        failAt(step, false, rejection);
        const error = await errorOf(write('/events', 'create', EVENT_WITH_ALL));
        const before = STEPS.slice(0, at).map(({ base }) => namesOf(base)[0]);
        expect(error.data.created ?? []).to.deep.equal(before);
      });
    }

    it('if the CMS is away when the event is sent', async () => {
      failAt(EVENT_CREATE, false, () => new CmsUnavailable('refused', 'connect ECONNREFUSED'));
      const error = await errorOf(write('/events', 'create', { ...event, ...LINKED }));
      expect([error.status, error.data.created]).to.deep.equal([503, namesOf()]);
    });

    it('if the CMS refuses the second write of a sticky event', async () => {
      failAt({ method: 'update', base: 'events' }, false, rejection);
      const error = await errorOf(write('/events', 'create', { ...event, sticky: true, date: '2026-01-01 10:00:00' }));
      expect(error.data.created).to.deep.equal(namesOf('events'));
    });

    it('if the CMS refuses an update: the event stays as it was', async () => {
      const { id } = await write('/events', 'create', event);
      const before = structuredClone(existing('events'));
      failAt({ method: 'update', base: 'events' }, false, rejection);
      const error = await errorOf(write('/events', 'update', LINKED, { id }));
      expect(existing('events')).to.deep.equal(before);
      expect(error.data.created).to.have.deep.members(namesOf().filter((name) => name.id !== id));
    });

    it('if the response to a create lacks fields', async () => {
      const { create } = fixture.cms;
      fixture.cms.create = async (...args) => ({ id: (await create(...args)).id });
      const error = await errorOf(write('/events', 'create', { ...event, venue: LINKED.venue }));
      expect(error.data.created).to.deep.equal(namesOf('venues'));
    });

    it('if the response cannot be built: 500, with the cause for the log', async () => {
      // Only the response needs it: the body has no cost.
      Object.defineProperty(fixture.gateway.services, 'defaultCurrency' satisfies keyof Services, {
        enumerable: false,
        get() {
          throw new TypeError('Invalid URL');
        },
      });
      const error = await errorOf(write('/events', 'create', event));
      expect([error.status, error.data.created]).to.deep.equal([500, namesOf('events')]);
      expect(error.cause).to.be.instanceOf(TypeError);
    });
  });

  it('names them in the log too', async () => {
    failAt(EVENT_CREATE, false, rejection);
    await errorOf(write('/events', 'create', { ...event, venue: LINKED.venue }));
    const [venue] = existing('venues');
    const message = `a failed write left records in the CMS: venue ${venue!.id}`;
    expect(fixture.gateway.observations).to.deep.include({ type: 'message', level: 'warn', message });
  });

  it('names nothing if it created nothing: validation comes first', async () => {
    const error = await errorOf(write('/events', 'create', { ...EVENT_WITH_ALL, end_date: '2027-01-09' }));
    expect(error.code).to.equal('rest_invalid_param');
    expect(error.data).not.to.have.property('created');
    expect(fixture.cms.all()).to.deep.equal([]);
  });

  for (const status of ['publish', 'draft']) {
    it(`doubles nothing when it is repeated with the status ${status}: its venue, organizer and terms are found`, async () => {
      const body = { ...event, ...LINKED, status };
      failAt(EVENT_CREATE, false, rejection);
      const error = await errorOf(write('/events', 'create', body));
      fixture.cms.onWrite = undefined;
      const { id } = await write('/events', 'create', body);
      expect(namesOf().filter(({ kind }) => kind !== 'event')).to.deep.equal(error.data.created);
      expect(namesOf('events')).to.deep.equal([{ kind: 'event', id }]);
    });
  }

  describe('of an event that the CMS keeps although it refuses it', () => {
    for (const hasCompanion of [true, false]) {
      it(`${hasCompanion ? 'names' : 'cannot name'} the event ${hasCompanion ? 'with' : 'without'} the companion plugin`, async () => {
        fixture.cms.hasCompanion = hasCompanion;
        await write('/events', 'create', event);
        failAt(EVENT_CREATE, true, rejection);
        const error = await errorOf(write('/events', 'create', { ...event, author: userIdOf('author') }));
        expect(existing('events')).to.have.length(2);
        expect(error.data.created).to.deep.equal(hasCompanion ? [namesOf('events')[1]] : undefined);
      });

      it(`does not create it again for its Idempotency-Key, ${hasCompanion ? 'with' : 'without'} the plugin`, async () => {
        fixture.cms.hasCompanion = hasCompanion;
        failAt(EVENT_CREATE, true, () => rejection('db_error', 500));
        const options = { as: 'editor', json: event, headers: { 'idempotency-key': 'k' } };
        const first = await fixture.gateway.request('/events', options);
        fixture.cms.onWrite = undefined;
        const again = await fixture.gateway.request('/events', options);
        expect([first.status, again.body]).to.deep.equal([502, first.body]);
        expect(first.body.data.created).to.deep.equal(hasCompanion ? namesOf('events') : undefined);
        expect(existing('events')).to.have.length(1);
      });
    }
  });
});
