// Writes to which the CMS does not respond: the gateway deletes nothing, and errors and later reads show what
// exists.

import { expect } from 'chai';
import { plainCollection } from '../../src/cms/port.ts';
import { recordCounts } from '../../src/store/records.ts';
import { CREDENTIALS } from '../cms/fake-cms.ts';
import {
  EVENT_CREATE,
  EVENT_WITH_ALL,
  errorOf,
  event,
  LINKED,
  STEPS,
  unknownOutcome,
  writeFixture,
} from './write-fixture.ts';

describe('unknown outcomes', () => {
  const fixture = writeFixture();
  const { write, failAt, namesOf } = fixture;

  describe('after an unknown outcome the gateway deletes nothing, and the error names the created records', () => {
    for (const [at, step] of STEPS.entries()) {
      for (const carriedOut of [false, true]) {
        it(`of ${step.method} ${step.base}, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
          failAt(step, carriedOut, unknownOutcome);
          const error = await errorOf(write('/events', 'create', EVENT_WITH_ALL));
          expect([error.status, error.code]).to.deep.equal([502, 'calendar_outcome_unknown']);
          expect(error.message).to.include('Cache-Control: no-cache');
          expect(fixture.cms.deletes).to.deep.equal([]);
          const before = STEPS.slice(0, at).map(({ base }) => namesOf(base)[0]);
          expect(error.data.created ?? []).to.deep.equal(before);
          // New uploads cannot be distinguished from others.
          const possibly = step.base === 'media' ? [{ kind: 'image' }] : namesOf(step.base);
          expect(error.data.possibly_created ?? []).to.deep.equal(possibly);
        });
      }
    }

    for (const carriedOut of [false, true]) {
      it(`of the second write of an event, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        failAt({ method: 'update', base: 'events' }, carriedOut, unknownOutcome);
        const body = { ...event, ...LINKED, sticky: true, date: '2026-01-01 10:00:00' };
        const error = await errorOf(write('/events', 'create', body));
        expect(fixture.cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members(namesOf());
      });

      it(`of a create with the status trash, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        failAt({ method: 'remove', base: 'events' }, carriedOut, unknownOutcome);
        const error = await errorOf(write('/events', 'create', { ...event, status: 'trash' }));
        expect(error.code).to.equal('calendar_outcome_unknown');
        expect(fixture.cms.all().map(({ id }) => id)).to.deep.equal(
          (error.data.created as { id: number }[]).map(({ id }) => id),
        );
      });

      it(`of an update with new linked records, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        const { id } = await write('/events', 'create', event);
        failAt({ method: 'update', base: 'events' }, carriedOut, unknownOutcome);
        const error = await errorOf(write('/events', 'update', LINKED, { id }));
        expect(fixture.cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members(namesOf().filter((name) => name.id !== id));
      });
    }

    it('of a create: the next list shows the record', async () => {
      failAt(EVENT_CREATE, true, unknownOutcome);
      const json = { ...event };
      const failed = await fixture.gateway.request('/events', { as: 'editor', json });
      expect(failed.status).to.equal(502);
      for (const as of ['editor', undefined]) {
        const { body } = await fixture.gateway.request('/events?start_date=2027-01-01', { as });
        expect(body.total).to.equal(1);
        expect(failed.body.data.possibly_created).to.deep.equal([{ kind: 'event', id: body.events[0].id }]);
      }
    });

    it('of a create: it is no unexpected error of the gateway, and the log has a warning without a stack', async () => {
      failAt(EVENT_CREATE, true, unknownOutcome);
      const { observations } = fixture.gateway;
      await fixture.gateway.request('/events', { as: 'editor', json: { ...event } });
      expect(observations.filter(({ type }) => type === 'request-failed')).to.deep.equal([]);
      const warning = observations.find((each) => each.type === 'message' && each.message.startsWith('request '));
      expect(warning).to.deep.include({ level: 'warn' });
      expect((warning as { message: string }).message).to.match(/^request [\w-]+: No answer within 15 s\.$/);
    });

    it('of a delete: the next list does not show the record', async () => {
      const { id } = await write('/events', 'create', event);
      failAt({ method: 'remove', base: 'events' }, true, unknownOutcome);
      const failed = await fixture.gateway.request(`/events/${id}`, { as: 'editor', method: 'DELETE' });
      expect([failed.status, failed.body.code]).to.deep.equal([502, 'calendar_outcome_unknown']);
      expect((await fixture.gateway.request('/events?start_date=2027-01-01')).body.total).to.equal(0);
    });

    it("and the actor's next read waits for the poll", async () => {
      const { sync, pendingPolls } = fixture.gateway.services;
      const listed = Promise.withResolvers<void>();
      pendingPolls.set(
        5,
        listed.promise.then(() => sync.poll()),
      );
      await fixture.cms.create(
        plainCollection('events', 'posts'),
        { ...event, meta: { start_date: event.start_date } },
        { credentials: CREDENTIALS.admin },
      );
      const read = fixture.gateway.request('/events?start_date=2027-01-01', { as: 'admin' });
      listed.resolve();
      expect((await read).body.total).to.equal(1);
    });

    it('of a create of a term', async () => {
      failAt({ method: 'create', base: 'event_categories' }, true, unknownOutcome);
      const error = await errorOf(write('/categories', 'create', { name: 'New' }));
      expect(error.data.possibly_created).to.deep.equal(namesOf());
      expect(recordCounts(fixture.gateway.services.replica.db).category).to.equal(1);
    });
  });
});
