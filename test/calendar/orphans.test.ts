// The gateway deletes nothing in the CMS without proof, and errors name every record that a failed create may
// have left.

import { expect } from 'chai';
import { redirectError } from '../../src/cms/http-exchange.ts';
import { plainCollection } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { kindOf } from '../../src/store/records.ts';
import { CREDENTIALS, type FakeCms, userIdOf, type WriteCall } from '../cms/fake-cms.ts';
import {
  EVENT_CREATE,
  EVENT_WITH_ALL,
  errorOf,
  event,
  KIND_OF,
  LINKED,
  NOW_MS,
  rejection,
  unknownOutcome,
  writeFixture,
} from './write-fixture.ts';

const HOUR_MS = 3_600_000;
const EDITOR = { credentials: CREDENTIALS.admin, view: 'editor' } as const;

describe('orphans of failed creates', () => {
  const fixture = writeFixture();
  const { write, failAt, existing, namesOf } = fixture;

  /** Rejects one of three creates before the insert and one after it, and reorders them. */
  const rejectTwoOfThree = (): NonNullable<FakeCms['onWrite']> => {
    const numbers = new Map<WriteCall, number>();
    return async (step, isInserted) => {
      if (step.method !== 'create') return;
      const number = numbers.get(step) ?? numbers.size;
      numbers.set(step, number);
      for (let turns = 0; turns < (number * 7) % 5; turns += 1) await new Promise(setImmediate);
      if (number % 3 === 0 && !isInserted) throw rejection('my_rule');
      if (number % 3 === 1 && isInserted) throw rejection();
    };
  };

  describe('after a rejected create, a record with the same title stays', () => {
    const CODES = [
      'my_rule',
      'spam_detected',
      'invalid_date',
      'db_insert_error',
      'rest_invalid_json',
      'rest_no_route',
      'rest_upstream_error',
      'rest_forbidden',
      'rest_meta_database_error',
    ];
    for (const offMs of [0, HOUR_MS, -HOUR_MS]) {
      for (const code of CODES) {
        it(`rejected before the insert with ${code}, the CMS clock off by ${offMs / HOUR_MS} h`, async () => {
          fixture.cmsMs = NOW_MS + offMs;
          const other = await write('/events', 'create', event);
          fixture.cms.edit(other.id, { content: 'edited a moment ago' });
          failAt(EVENT_CREATE, false, () => rejection(code, 403));
          const error = await errorOf(write('/events', 'create', event));
          expect(fixture.cms.deletes).to.deep.equal([]);
          expect(namesOf()).to.deep.equal([{ kind: 'event', id: other.id }]);
          expect(error.data).not.to.have.any.keys('created', 'possibly_created');
        });
      }
    }

    it('even one that an editor created in the CMS and that the replica lacks', async () => {
      const other = await fixture.cms.create(
        plainCollection('events', 'posts'),
        { title: 'Party', status: 'publish' },
        { credentials: CREDENTIALS.admin },
      );
      failAt(EVENT_CREATE, false, () => rejection('my_rule'));
      const error = await errorOf(write('/events', 'create', event));
      expect(fixture.cms.deletes).to.deep.equal([]);
      expect(error.data.possibly_created).to.deep.equal([{ kind: 'event', id: other.id }]);
    });
  });

  for (const base of ['venues', 'organizers', 'events']) {
    const kind = KIND_OF[base];
    describe(`a create of ${base} that the CMS rejects after inserting the record`, () => {
      it('leaves an orphan without the companion plugin, which the error names and the replica has', async () => {
        failAt({ method: 'create', base }, true, rejection);
        const error = await errorOf(write('/events', 'create', EVENT_WITH_ALL));
        const [orphan] = namesOf(base);
        expect(fixture.cms.deletes.filter((deleted) => deleted.base === base)).to.deep.equal([]);
        expect(error.data.possibly_created).to.deep.equal([orphan]);
        expect(kindOf(fixture.gateway.services.replica.db, orphan!.id)).to.equal(kind);
      });

      it('moves the orphan to the trash with the companion plugin', async () => {
        fixture.cms.hasCompanion = true;
        failAt({ method: 'create', base }, true, rejection);
        const error = await errorOf(write('/events', 'create', { ...EVENT_WITH_ALL, image: undefined }));
        expect(existing()).to.deep.equal([]);
        expect(fixture.cms.deletes.filter((deleted) => deleted.base === base)).to.have.length(1);
        expect(fixture.cms.deletes.filter(({ base }) => base in { venues: 1, organizers: 1, events: 1 })).to.satisfy(
          (deletes: { force: boolean }[]) => deletes.every(({ force }) => !force),
        );
        expect(error.data).not.to.have.any.keys('created', 'possibly_created');
      });
    });
  }

  describe('the response to another create, repeated by a cache in front of the CMS', () => {
    for (const [what, more] of Object.entries({
      'to be moved to the trash': { status: 'trash' },
      'to be written once more': { sticky: true, date: '2026-12-01 10:00:00' },
    })) {
      it(`shows no record of this create, whose outcome is unknown: ${what}`, async () => {
        await write('/events', 'create', event);
        const old = structuredClone(existing('events')[0]!);
        fixture.cms.create = async () => fixture.cms.response(old, EDITOR);
        const steps = fixture.cms.writes.length;
        const error = await errorOf(write('/events', 'create', { ...event, ...more }));
        expect(error).to.include({ status: 502, code: 'calendar_outcome_unknown' });
        expect(fixture.cms.writes).to.have.length(steps);
        expect(existing('events')).to.deep.equal([old]);
      });
    }

    for (const base of ['venues', 'event_categories']) {
      it(`is no proof, so that a rollback does not remove its record: ${base}`, async () => {
        await write('/events', 'create', { ...event, categories: ['Old'], venue: { venue: 'Old' } });
        const old = structuredClone(existing(base)[0]!);
        const before = existing().length;
        const { create } = fixture.cms;
        fixture.cms.create = async (spec, body, options) =>
          spec.collection === base ? fixture.cms.response(old, EDITOR) : create(spec, body, options);
        failAt(EVENT_CREATE, false, rejection);
        const other = { categories: ['New'], venue: { venue: 'New' } };
        const error = await errorOf(write('/events', 'create', { ...event, ...other }));
        expect(existing()).to.have.length(before);
        expect(existing(base)).to.deep.equal([old]);
        expect(error.data.created).to.deep.include({ kind: KIND_OF[base], id: old.id });
      });
    }
  });

  for (const [what, page] of Object.entries({
    'a web page': () => new CmsUnavailable('not-json', 'a web page instead of JSON (status 403)', { status: 403 }),
    'a redirect': () => redirectError('https://fixture.cms.example/wp-admin/'),
  })) {
    for (const base of ['events', 'venues', 'event_categories']) {
      it(`a create of ${base} with ${what} as response: the error names an inserted record`, async () => {
        failAt({ method: 'create', base }, true, page);
        const error = await errorOf(write('/events', 'create', EVENT_WITH_ALL));
        const named = [error.data.possibly_created, error.data.created ?? []].flat();
        expect(named).to.deep.include(namesOf(base)[0]);
        expect(fixture.cms.deletes.filter((deleted) => deleted.base === base)).to.deep.equal([]);
      });

      it(`a create of ${base} with ${what} as response: the error names no record if none was inserted`, async () => {
        failAt({ method: 'create', base }, false, page);
        const error = await errorOf(write('/events', 'create', { ...event, venue: LINKED.venue, categories: ['New'] }));
        expect(error.data?.possibly_created).to.equal(undefined);
      });
    }
  }

  for (const base of ['events', 'venues', 'event_categories']) {
    it(`a response to a create of ${base} that lacks fields: the error names the record`, async () => {
      const { create } = fixture.cms;
      fixture.cms.create = async (spec, body, options) => {
        const cmsRecord = await create(spec, body, options);
        return spec.collection === base ? { id: cmsRecord.id } : cmsRecord;
      };
      const error = await errorOf(write('/events', 'create', { ...event, venue: LINKED.venue, categories: ['New'] }));
      expect(error.data?.created).to.deep.include(namesOf(base)[0]);
    });
  }

  it('concurrent creates with one title: with the companion plugin, only the records of rejected creates are removed', async () => {
    fixture.cms.hasCompanion = true;
    fixture.cms.onWrite = rejectTwoOfThree();
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => write('/events', 'create', event)));
    const createdIds = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
    expect(createdIds).to.have.length(10);
    expect(existing('events').map(({ id }) => id)).to.have.members(createdIds);
  });

  it('concurrent creates with one title: without the companion plugin, responses or errors name every record', async () => {
    fixture.cms.onWrite = rejectTwoOfThree();
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => write('/events', 'create', event)));
    const createdIds = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
    const namedIds = results.flatMap((result) =>
      result.status === 'rejected'
        ? ((result.reason.data.possibly_created ?? []) as { id: number }[]).map(({ id }) => id)
        : [],
    );
    expect(fixture.cms.deletes).to.deep.equal([]);
    expect(createdIds).to.have.length(10);
    expect([...new Set([...createdIds, ...namedIds])]).to.have.members(existing('events').map(({ id }) => id));
  });

  it('an error names the orphan of a create for another author', async () => {
    for (const failure of [rejection, unknownOutcome]) {
      failAt(EVENT_CREATE, true, failure);
      const error = await errorOf(write('/events', 'create', { ...event, author: userIdOf('author') }));
      expect(error.data.possibly_created).to.deep.include(namesOf('events').at(-1));
    }
  });

  it('an error says that there may be an orphan if the CMS does not show the newest records', async () => {
    failAt(EVENT_CREATE, true, rejection);
    fixture.cms.list = async () => {
      throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
    };
    const error = await errorOf(write('/events', 'create', event));
    expect(error.data.possibly_created).to.deep.equal([{ kind: 'event' }]);
  });
});
