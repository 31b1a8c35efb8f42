// A failed request removes the records that it provably created and that nothing else refers to.

import { expect } from 'chai';
import { plainCollection } from '../../src/cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { getRecord, recordCounts } from '../../src/store/records.ts';
import { CREDENTIALS } from '../cms/fake-cms.ts';
import {
  EVENT_CREATE,
  EVENT_WITH_ALL,
  errorOf,
  event,
  KIND_OF,
  LINKED,
  rejection,
  STEPS,
  writeFixture,
} from './write-fixture.ts';

describe('rollback', () => {
  const fixture = writeFixture();
  const { write, failAt, existing, namesOf } = fixture;

  it('removes nothing if the CMS accepts every step', async () => {
    await write('/events', 'create', EVENT_WITH_ALL);
    expect(fixture.cms.writes).to.deep.equal(STEPS);
    expect(fixture.cms.deletes).to.deep.equal([]);
    expect(recordCounts(fixture.gateway.services.replica.db)).to.deep.equal({
      event: 1,
      venue: 1,
      organizer: 1,
      category: 1,
      tag: 1,
    });
  });

  describe('a rollback removes what the request created', () => {
    const EVENT_WITH_LINKED = { ...event, ...LINKED };

    it('if the CMS rejects the event before the insert', async () => {
      failAt(EVENT_CREATE, false, rejection);
      const error = await errorOf(write('/events', 'create', EVENT_WITH_LINKED));
      expect(existing()).to.deep.equal([]);
      expect(error.data).not.to.have.any.keys('created', 'possibly_created');
      expect(fixture.cms.deletes.map(({ base, force }) => [base, force])).to.deep.equal([
        ...[
          ['organizers', false],
          ['venues', false],
          ['tags', true],
          ['event_categories', true],
        ],
      ]);
    });

    it('if the CMS becomes unavailable before the event is sent', async () => {
      failAt(EVENT_CREATE, false, () => new CmsUnavailable('refused', 'connect ECONNREFUSED'));
      await errorOf(write('/events', 'create', EVENT_WITH_LINKED));
      expect(existing()).to.deep.equal([]);
    });

    it('except an uploaded image, which the error names: the CMS does not say what shows it', async () => {
      failAt(EVENT_CREATE, false, rejection);
      const error = await errorOf(write('/events', 'create', EVENT_WITH_ALL));
      expect(error.data.created).to.deep.equal(namesOf());
      expect(namesOf()).to.deep.equal(namesOf('media'));
    });

    it('if the CMS rejects the second write of a sticky event', async () => {
      failAt({ method: 'update', base: 'events' }, false, rejection);
      await errorOf(write('/events', 'create', { ...EVENT_WITH_LINKED, sticky: true, date: '2026-01-01 10:00:00' }));
      expect(existing()).to.deep.equal([]);
    });

    it('if the CMS rejects the update with which an adapter repeats a part of the create', async () => {
      const seen: unknown[] = [];
      fixture.cms.touchAfterCreate = ({ collection }, body) =>
        collection === 'events'
          ? { meta: { start_date: (body.meta as { start_date: string }).start_date } }
          : undefined;
      fixture.cms.onWrite = ({ method }, isInserted, body) => {
        if (method !== 'update' || isInserted) return;
        seen.push(body);
        throw rejection();
      };
      await errorOf(write('/events', 'create', EVENT_WITH_LINKED));
      expect(seen).to.deep.equal([{ meta: { start_date: event.start_date } }]);
      expect(existing()).to.deep.equal([]);
    });

    it('if the CMS rejects an update, and the event stays as it was', async () => {
      const { id } = await write('/events', 'create', event);
      const before = structuredClone(existing());
      failAt({ method: 'update', base: 'events' }, false, rejection);
      await errorOf(write('/events', 'update', LINKED, { id }));
      expect(existing()).to.deep.equal(before);
    });

    it('if it cannot be serialized', async () => {
      const fail = () => {
        throw new TypeError('Invalid URL');
      };
      const { serializer } = fixture.gateway.services;
      Object.assign(serializer, { event: fail, linked: fail, term: fail });
      expect(await errorOf(write('/events', 'create', EVENT_WITH_LINKED))).to.be.instanceOf(TypeError);
      expect(await errorOf(write('/venues', 'create', LINKED.venue))).to.be.instanceOf(TypeError);
      expect(await errorOf(write('/categories', 'create', { name: 'New category' }))).to.be.instanceOf(TypeError);
      expect(existing()).to.deep.equal([]);
    });

    it('permanently, if the site has no trash', async () => {
      failAt(EVENT_CREATE, false, rejection);
      fixture.cms.trash = async () => {
        throw new CmsRejected('no-trash', 'No.');
      };
      await errorOf(write('/events', 'create', { ...event, venue: { venue: 'New venue' } }));
      expect(fixture.cms.all().length).to.equal(0);
    });

    it('and the error names what it could not remove', async () => {
      failAt(EVENT_CREATE, false, rejection);
      const fail = async () => {
        throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
      };
      Object.assign(fixture.cms, { trash: fail, delete: fail });
      const error = await errorOf(write('/events', 'create', EVENT_WITH_LINKED));
      expect(error.data.created).to.deep.equal(STEPS.slice(0, 4).map(({ base }) => namesOf(base)[0]));
    });
  });

  describe('a rollback does not remove, and the error names,', () => {
    it('records that an update wrote into the event before the CMS rejected it', async () => {
      const { id } = await write('/events', 'create', event);
      failAt({ method: 'update', base: 'events' }, true, rejection);
      const error = await errorOf(write('/events', 'update', LINKED, { id }));
      expect(fixture.cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(namesOf().filter((name) => name.id !== id));
    });

    it('records of an event that stays because no request provably created it', async () => {
      failAt(EVENT_CREATE, true, rejection);
      const error = await errorOf(write('/events', 'create', { ...event, ...LINKED }));
      expect(fixture.cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(
        existing()
          .filter(({ base }) => base !== 'events')
          .map(({ base, id }) => ({ kind: KIND_OF[base], id })),
      );
    });

    it('a record that an editor has changed since', async () => {
      fixture.cms.onWrite = (step, inserted) => {
        if (step.base !== 'events' || inserted) return;
        fixture.cms.edit(Number(existing('venues')[0]!.id), { content: 'Parking behind the house.' });
        throw rejection();
      };
      const error = await errorOf(write('/events', 'create', { ...event, venue: { venue: 'Hall' } }));
      expect(fixture.cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.deep.equal(namesOf('venues'));
    });

    for (const status of ['publish', 'draft']) {
      it(`a venue and a category that an event created in the CMS refers to, with the status ${status}`, async () => {
        fixture.cms.onWrite = async (step, inserted) => {
          if (step.base !== 'events' || inserted) return;
          fixture.cms.onWrite = undefined;
          const [venue] = existing('venues');
          const [category] = existing('event_categories');
          const body = { title: 'Theirs', status, meta: { venue_ids: [venue!.id] }, event_categories: [category!.id] };
          await fixture.cms.create(plainCollection('events', 'posts'), body, { credentials: CREDENTIALS.editor });
          throw rejection();
        };
        const body = { ...event, venue: { venue: 'Hall' }, categories: ['Talks'] };
        const error = await errorOf(write('/events', 'create', body));
        expect(fixture.cms.deletes).to.deep.equal([]);
        expect(error.data.created).to.have.deep.members([...namesOf('venues'), ...namesOf('event_categories')]);
      });
    }

    it('a venue and terms that another request in flight refers to', async () => {
      const shared = { ...event, venue: { venue: 'Shared hall' }, categories: ['Shared'], tags: ['Common'] };
      const otherReachedCms = Promise.withResolvers<void>();
      const firstRejected = Promise.withResolvers<void>();
      let other: Promise<{ id: number }> | undefined;
      fixture.cms.onWrite = async (step, inserted, { title }) => {
        if (step.base !== 'events' || inserted) return;
        if (title === 'Other') {
          otherReachedCms.resolve();
          await firstRejected.promise;
          return;
        }
        other = write('/events', 'create', { ...shared, title: 'Other' }, { as: 'editor' });
        await otherReachedCms.promise;
        throw rejection();
      };
      const error = await errorOf(write('/events', 'create', shared));
      firstRejected.resolve();
      const { id } = await other!;
      expect(fixture.cms.deletes).to.deep.equal([]);
      expect(error.data.created).to.have.deep.members(namesOf().filter((name) => name.id !== id));
      const record = getRecord(fixture.gateway.services.replica.db, 'event', id)!;
      expect([record.venues.length, record.categories.length, record.tags.length]).to.deep.equal([1, 1, 1]);
    });

    it('creates a new record for a request that refers to one while a rollback removes it', async () => {
      const shared = { ...event, categories: ['Shared'], venue: { venue: 'Shared hall' } };
      let other: Promise<{ id: number }> | undefined;
      const { trash, delete: deleteRecord } = fixture.cms;
      const createOther = async () => {
        other ??= write('/events', 'create', { ...shared, title: 'Other' }, { as: 'editor' });
        await new Promise(setImmediate);
      };
      fixture.cms.trash = async (...args) => {
        const trashed = await trash(...args);
        await createOther();
        return trashed;
      };
      fixture.cms.delete = async (...args) => {
        await deleteRecord(...args);
        await createOther();
      };
      fixture.cms.onWrite = (step, inserted, { title }) => {
        if (step.base === 'events' && !inserted && title === 'Party') throw rejection();
      };
      await errorOf(write('/events', 'create', shared));
      const { id } = await other!;
      const record = getRecord(fixture.gateway.services.replica.db, 'event', id)!;
      expect(record.venues.map((venue) => fixture.cms.posts.get(venue)?.status)).to.deep.equal(['publish']);
      expect(record.categories.map((category) => fixture.cms.terms.get(category)?.base)).to.deep.equal([
        'event_categories',
      ]);
    });
  });

  it('validation rejects an end before the start, so that nothing is created', async () => {
    const error = await errorOf(write('/events', 'create', { ...EVENT_WITH_ALL, end_date: '2027-01-09' }));
    expect(error.code).to.equal('rest_invalid_param');
    expect(fixture.cms.all().length).to.equal(0);
  });
});
