// Fields of the API that share a field of the CMS: what fits both is stored, other writes are refused and name both.

import { expect } from 'chai';
import { ApiError } from '../../src/errors.ts';
import { mappingWith, site } from './samples.ts';

// As `init` proposes for the fields event_date, start_time and end_time.
const day = { at: 'acf.event_date', format: 'Ymd' };
const { event } = mappingWith({
  start_date: { parts: [day, { at: 'acf.start_time', format: 'H:i:s' }] },
  end_date: { parts: [day, { at: 'acf.end_time', format: 'H:i:s' }] },
}).kinds;

const stored = (start_time: unknown, end_time: unknown) => ({
  id: 1,
  acf: { event_date: '20270110', start_time, end_time },
});

function refusal(write: () => unknown): ApiError {
  try {
    write();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('was written');
}

describe('an event with one day, a start time and an end time', () => {
  it('ends on the next day if its end time is before its start time', () => {
    expect(event.read(stored('20:00:00', '01:00:00'), site)).to.include({
      start: '2027-01-10 20:00:00',
      end: '2027-01-11 01:00:00',
      endUtc: '2027-01-11 06:00:00',
    });
    expect(event.read(stored('20:00:00', '00:00:00'), site).end).to.equal('2027-01-11 00:00:00');
    expect(event.read(stored('20:00:00', '23:00:00'), site).end).to.equal('2027-01-10 23:00:00');
  });

  it('is a whole day if it has no time', () => {
    for (const none of ['', null, undefined])
      expect(event.read(stored(none, none), site)).to.include({
        start: '2027-01-10 00:00:00',
        end: '2027-01-10 00:00:00',
      });
  });

  it('ends when it starts if it has no end time', () => {
    for (const none of ['', null, undefined])
      expect(event.read(stored('20:00:00', none), site).end).to.equal('2027-01-10 20:00:00');
  });

  it('stores an end on the next day as its time', () => {
    const body = event.write({ start: '2027-06-05 22:00:00', end: '2027-06-06 02:00:00' }, { site });
    expect(body).to.deep.equal({ acf: { event_date: '20270605', start_time: '22:00:00', end_time: '02:00:00' } });
    expect(event.read({ id: 1, ...body }, site).end).to.equal('2027-06-06 02:00:00');
  });

  it('keeps its day if only the end changes', () => {
    const current = stored('19:30:00', '21:00:00');
    expect(event.needsCurrent({ end: '2027-01-11 01:00:00' })).to.equal(true);
    expect(event.write({ end: '2027-01-11 01:00:00' }, { site, current })).to.deep.equal({
      acf: { event_date: '20270110', start_time: '19:30:00', end_time: '01:00:00' },
    });
  });

  it('refuses an end on another day, and names both parameters', () => {
    const current = stored('19:30:00', '21:00:00');
    const writes: [object, object][] = [
      [{ start: '2027-06-05 22:00:00', end: '2027-06-06 22:00:00' }, { site }],
      [{ start: '2027-06-05 22:00:00', end: '2027-06-07 02:00:00' }, { site }],
      [{ start: '2027-06-05 00:00:00', end: '2027-06-06 23:59:59', allDay: true }, { site }],
      [{ end: '2027-01-12 01:00:00' }, { site, current }],
      [{ start: '2027-01-08 19:30:00' }, { site, current }],
    ];
    for (const [changed, context] of writes) {
      const error = refusal(() => event.write(changed, context as { site: typeof site }));
      expect(error, JSON.stringify(changed)).to.include({ status: 400, code: 'rest_invalid_param' });
      expect(error.message).to.equal('Invalid parameter(s): start_date, end_date');
    }
  });
});

describe('two fields in one', () => {
  const { event: sharing } = mappingWith({ website: 'meta.link', excerpt: 'meta.link' }).kinds;

  it('store one value, and refuse two', () => {
    const link = 'https://club.example';
    expect(sharing.write({ website: link, excerpt: link }, { site })).to.deep.equal({ meta: { link } });
    expect(refusal(() => sharing.write({ website: link, excerpt: 'A concert' }, { site })).message).to.match(
      /^Invalid parameter\(s\): (?:excerpt, website|website, excerpt)$/,
    );
  });

  it('refuse a change of one that would change the other', () => {
    const current = { id: 1, meta: { link: 'https://club.example' } };
    expect(() => sharing.write({ excerpt: 'A concert' }, { site, current })).to.throw(ApiError);
  });
});
