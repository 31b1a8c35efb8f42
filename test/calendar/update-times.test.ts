// Updates of some of an event's times use the others as the CMS has them now.

import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import { errorOf, event, writeFixture } from './write-fixture.ts';

describe('times in an update', () => {
  const fixture = writeFixture();
  const { write } = fixture;

  describe("an update of some times combines them with the CMS's times, not the replica's", () => {
    it('uses the end that an editor changed in the CMS', async () => {
      const { id } = await write('/events', 'create', event);
      fixture.cms.edit(id, { meta: { ...fixture.cms.posts.get(id)?.meta, end_date: '2027-01-10 22:00:00' } });
      await write('/events', 'update', { start_date: '2027-01-10 20:00:00' }, { id });
      expect(getRecord(fixture.gateway.services.replica.db, 'event', id)).to.include({
        start: '2027-01-10 20:00:00',
        end: '2027-01-10 22:00:00',
      });
      const late = await errorOf(write('/events', 'update', { start_date: '2027-01-10 23:00:00' }, { id }));
      expect(late.code).to.equal('rest_invalid_param');
    });

    it('moves the end with the start of an event that the CMS has without an end', async () => {
      const { id } = await write('/events', 'create', event);
      const { end_date: _, ...meta } = fixture.cms.posts.get(id)!.meta as Record<string, unknown>;
      fixture.cms.edit(id, { meta });
      await write('/events', 'update', { start_date: '2028-05-01 10:00:00' }, { id });
      expect(getRecord(fixture.gateway.services.replica.db, 'event', id)).to.include({
        start: '2028-05-01 10:00:00',
        end: '2028-05-01 10:00:00',
      });
    });

    describe('of an event that the CMS has without dates', () => {
      let id: number;
      beforeEach(async () => {
        ({ id } = await write('/events', 'create', event));
        const { start_date, end_date, ...others } = fixture.cms.posts.get(id)!.meta as Record<string, unknown>;
        expect([start_date, end_date]).to.not.include(undefined);
        fixture.cms.edit(id, { meta: others });
      });
      const stored = () => getRecord(fixture.gateway.services.replica.db, 'event', id);

      for (const change of [{ timezone: 'Asia/Tokyo' }, { all_day: true }])
        it(`leaves it without dates: ${JSON.stringify(change)}`, async () => {
          await write('/events', 'update', change, { id });
          expect(stored()).to.include({ start: '', end: '', startUtc: '', endUtc: '' });
        });

      it('takes a start for the end too', async () => {
        await write('/events', 'update', { start_date: '2027-05-01 10:00:00' }, { id });
        expect(stored()).to.include({ start: '2027-05-01 10:00:00', end: '2027-05-01 10:00:00' });
      });

      it('rejects an end without a start', async () => {
        const error = await errorOf(write('/events', 'update', { end_date: '2027-05-01 10:00:00' }, { id }));
        expect(error).to.include({ status: 400, code: 'rest_invalid_param' });
        expect(error.data.params).to.have.all.keys('start_date');
      });
    });

    it('uses the zone that an editor changed in the CMS', async () => {
      const { id } = await write('/events', 'create', event);
      fixture.cms.edit(id, { meta: { ...fixture.cms.posts.get(id)?.meta, timezone: 'Asia/Tokyo' } });
      await write(
        '/events',
        'update',
        { start_date: '2027-01-10T03:00:00Z', end_date: '2027-01-10T04:00:00Z' },
        { id },
      );
      expect(getRecord(fixture.gateway.services.replica.db, 'event', id)!.start).to.equal('2027-01-10 12:00:00');
    });
  });
});
