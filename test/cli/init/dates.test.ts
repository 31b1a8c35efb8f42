// What sample values say: the form of dates and times of day, of booleans and ids.

import { expect } from 'chai';
import fc from 'fast-check';
import { inferDate, inferTimeFormat } from '../../../src/cli/init/dates.ts';
import { booleanLocation, inferIds } from '../../../src/cli/init/infer.ts';
import { parseDateFormat } from '../../../src/mapping/date-format.ts';

const field = (values: unknown[], type?: string) => ({ path: 'meta.x', type, values });

describe('codecs inferred from samples', () => {
  const DATES: [string, unknown[], unknown, boolean][] = [
    ['the default format', ['2027-05-01 19:30:00'], undefined, true],
    ['minutes only', ['2027-05-01 19:30'], { 'local-datetime': 'Y-m-d H:i' }, true],
    ['with a T', ['2027-05-01T19:30:00'], { 'local-datetime': 'Y-m-d\\TH:i:s' }, true],
    ['in UTC', ['2027-05-01T19:30:00Z'], { 'utc-datetime': 'Y-m-d\\TH:i:s\\Z' }, true],
    ['a day of ACF', ['20270501'], { 'local-datetime': 'Ymd' }, false],
    ['German', ['01.05.2027 19:30'], { 'local-datetime': 'd.m.Y H:i' }, true],
    [
      'day first, because of the 25th',
      ['25/05/2027 7:30 pm', '01/05/2027 7:30 pm'],
      { 'local-datetime': 'd/m/Y g:i a' },
      true,
    ],
    ['month first, because of the 25th', ['05/25/2027 7:30 PM'], { 'local-datetime': 'm/d/Y g:i A' }, true],
    ['a month by name', ['May 1, 2027'], { 'local-datetime': 'F j, Y' }, false],
    ['day first, with dashes', ['14-04-2027 19:30'], { 'local-datetime': 'd-m-Y H:i' }, true],
    ['year first, with slashes', ['2027/04/14 19:30'], { 'local-datetime': 'Y/m/d H:i' }, true],
    ['ISO with a half of the day', ['2027-04-14 7:30 PM'], { 'local-datetime': 'Y-m-d g:i A' }, true],
    ['a short month', ['Apr 14, 2027 7:30 pm'], { 'local-datetime': 'M j, Y g:i a' }, true],
    ['a short year', ['14.04.27 19:30'], { 'local-datetime': 'd.m.y H:i' }, true],
    ['slashes and seconds', ['14/04/2027 19:30:00'], { 'local-datetime': 'd/m/Y H:i:s' }, true],
    ['an offset', ['2027-04-14T19:30:00+02:00'], { 'local-datetime': 'Y-m-d\\TH:i:sP' }, true],
    ['the offset of UTC alone', ['2027-04-14T19:30:00+00:00'], { 'utc-datetime': 'Y-m-d\\TH:i:sP' }, true],
    ['a fraction', ['2027-04-14T19:30:00.250Z'], { 'utc-datetime': 'Y-m-d\\TH:i:s.v\\Z' }, true],
    ['milliseconds', [1809214200000], { unix: { milliseconds: true } }, true],
    ['milliseconds as text', ['1809214200000'], { unix: { milliseconds: true, asText: true } }, true],
    ['seconds', [1809214200], 'unix', true],
    ['seconds as text', ['1809214200'], { unix: { asText: true } }, true],
  ];
  for (const [name, values, as, hasTime] of DATES)
    it(`reads a date: ${name}`, () => {
      const inferred = inferDate(values);
      expect(inferred?.as).to.deep.equal(as);
      expect(inferred?.hasTime).to.equal(hasTime);
      expect(inferred?.alternative).to.equal(undefined);
    });

  it('has an alternative if day and month may be exchanged', () => {
    const inferred = inferDate(['03/04/2031 7:30 pm', '05/06/2031 9:00 am']);
    expect(inferred?.as).to.deep.equal({ 'local-datetime': 'd/m/Y g:i a' });
    expect(inferred?.alternative).to.equal('m/d/Y g:i a');
  });

  const UNREADABLE = [
    '2027-04-14 19:30 EST',
    '4/14/2027 7:30 p.m.',
    '2027-04-14 10:00-12:00',
    '14. März 2027',
    '1.2.3',
  ].map((text) => [text]);
  it('takes the format that the operator named, if it reads a value', () => {
    expect(inferDate(['KW15: 14.04.2027', 'open'], { dateFormat: '\\K\\W15: d.m.Y' })?.as).to.deep.equal({
      'local-datetime': '\\K\\W15: d.m.Y',
    });
    expect(inferDate(['soon'], { dateFormat: 'd.m.Y' })).to.equal(undefined);
  });

  it('infers no date from values that are not dates', () => {
    for (const values of [
      [],
      ['soon'],
      [12],
      ['12'],
      [true],
      ['2027-05-01 19:30:00', 'soon'],
      ['32/13/2027'],
      [[]],
      ...UNREADABLE,
    ])
      expect(inferDate(values), JSON.stringify(values)).to.equal(undefined);
  });

  it('finds a format that writes what it has read', () => {
    const formats = ['Y-m-d H:i', 'Ymd', 'd.m.Y H:i', 'F j, Y g:i a', 'm/d/Y g:i A', 'd/m/Y H:i'];
    fc.assert(
      fc.property(
        fc.constantFrom(...formats),
        fc.date({ min: new Date('2001-01-01'), max: new Date('2090-01-01'), noInvalidDate: true }),
        (format, date) => {
          const wall = `${date.toISOString().slice(0, 16).replace('T', ' ')}:00`;
          const compiled = parseDateFormat(format);
          if (typeof compiled === 'string') throw new Error(compiled);
          const text = compiled.write(wall);
          const inferred = inferDate([text]);
          const found = parseDateFormat(inferred?.format ?? '');
          if (typeof found === 'string') throw new Error(found);
          expect(found.write(found.read(text) ?? '')).to.equal(text);
        },
      ),
    );
  });

  it('reads times of day', () => {
    expect(inferTimeFormat(['19:30:00'])).to.equal('H:i:s');
    expect(inferTimeFormat(['19:30'])).to.equal('H:i');
    expect(inferTimeFormat(['7:30 pm', '11:00 am'])).to.equal('g:i a');
    expect(inferTimeFormat(['07:30 PM'])).to.equal('h:i A');
    expect(inferTimeFormat(['9:30', '19:30'])).to.equal('H:i');
    expect(inferTimeFormat(['evening'])).to.equal(undefined);
    expect(inferTimeFormat([])).to.equal(undefined);
  });

  it('infers a format that reads every sample, whether or not its hour has a leading zero', () => {
    const times = ['01:30 PM', '9:00 PM', '11:55 PM'];
    const format = parseDateFormat(`Y-m-d ${inferTimeFormat(times)}`);
    const read = times.map((time) => (typeof format === 'string' ? format : format.read(`2027-05-01 ${time}`)));
    expect(read).to.deep.equal(['2027-05-01 13:30:00', '2027-05-01 21:00:00', '2027-05-01 23:55:00']);
  });

  it('reads booleans in any form', () => {
    const as = (...pair: unknown[]) => ({ at: 'meta.x', as: { boolean: pair } });
    expect(booleanLocation(field([true, false]))).to.equal('meta.x');
    expect(booleanLocation(field([], 'boolean'))).to.equal('meta.x');
    expect(booleanLocation(field(['yes', 'no']))).to.deep.equal(as('yes', 'no'));
    expect(booleanLocation(field(['1']))).to.deep.equal(as('1', '0'));
    expect(booleanLocation(field([1, 0]))).to.deep.equal(as(1, 0));
    expect(booleanLocation(field(['maybe']))).to.equal(undefined);
    expect(booleanLocation(field([], 'string'))).to.equal(undefined);
  });

  it('reads ids in any form', () => {
    expect(inferIds(field([7]))).to.deep.equal({ as: { ids: 'one' }, ids: [7] });
    expect(inferIds(field([[7, 8], [9]]))).to.deep.equal({ as: undefined, ids: [7, 8, 9] });
    expect(inferIds(field(['7,8']))).to.deep.equal({ as: { ids: 'csv' }, ids: [7, 8] });
    expect(inferIds(field([[{ ID: 7, post_title: 'Hall' }], false]))).to.deep.equal({
      as: { ids: { objects: 'ID' } },
      ids: [7],
    });
    expect(inferIds(field([], 'integer'))).to.deep.equal({ as: { ids: 'one' }, ids: [] });
    expect(inferIds(field(['Old Mill']))).to.equal(undefined);
  });
});
