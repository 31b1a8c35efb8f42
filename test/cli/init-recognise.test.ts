// Shows what values of a CMS are taken for by their samples: dates, times of day, yes and no, ids.

import { expect } from 'chai';
import fc from 'fast-check';
import { guessBoolean, guessDate, guessIds, guessTime } from '../../src/cli/recognise.ts';
import { parseDateFormat } from '../../src/mapping/date-format.ts';

const place = (values: unknown[], type?: string) => ({ path: 'meta.x', type, values });

describe('what a value is, by samples of it', () => {
  const DATES: [string, unknown[], unknown, boolean][] = [
    ['the usual spelling', ['2027-05-01 19:30:00'], undefined, true],
    ['minutes only', ['2027-05-01 19:30'], { 'local-datetime': 'Y-m-d H:i' }, true],
    ['with a T', ['2027-05-01T19:30:00'], { 'local-datetime': 'Y-m-d\\TH:i:s' }, true],
    ['in UTC', ['2027-05-01T19:30:00Z'], { 'utc-datetime': 'Y-m-d\\TH:i:s\\Z' }, true],
    ['a day of ACF', ['20270501'], { 'local-datetime': 'Ymd' }, false],
    ['German', ['01.05.2027 19:30'], { 'local-datetime': 'd.m.Y H:i' }, true],
    [
      'day first, told by the 25th',
      ['25/05/2027 7:30 pm', '01/05/2027 7:30 pm'],
      { 'local-datetime': 'd/m/Y g:i a' },
      true,
    ],
    ['month first, told by the 25th', ['05/25/2027 7:30 PM'], { 'local-datetime': 'm/d/Y g:i A' }, true],
    ['a month by name', ['May 1, 2027'], { 'local-datetime': 'F j, Y' }, false],
    ['seconds', [1809214200], 'unix', true],
    ['seconds as text', ['1809214200'], { unix: { asText: true } }, true],
  ];
  for (const [name, values, as, hasTime] of DATES)
    it(`reads a date: ${name}`, () => {
      const guess = guessDate(values);
      expect(guess?.as).to.deep.equal(as);
      expect(guess?.hasTime).to.equal(hasTime);
      expect(guess?.other).to.equal(undefined);
    });

  it('says so when day and month may be the other way round', () => {
    const guess = guessDate(['03/04/2031 7:30 pm', '05/06/2031 9:00 am']);
    expect(guess?.as).to.deep.equal({ 'local-datetime': 'd/m/Y g:i a' });
    expect(guess?.other?.as).to.deep.equal({ 'local-datetime': 'm/d/Y g:i a' });
  });

  it('takes nothing for a date that is none', () => {
    for (const values of [[], ['soon'], [12], ['12'], [true], ['2027-05-01 19:30:00', 'soon'], ['32/13/2027'], [[]]])
      expect(guessDate(values), JSON.stringify(values)).to.equal(undefined);
  });

  it('finds a spelling that writes what it has read', () => {
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
          const guess = guessDate([text]);
          const found = parseDateFormat(guess?.format ?? '');
          if (typeof found === 'string') throw new Error(found);
          expect(found.write(found.read(text) ?? '')).to.equal(text);
        },
      ),
    );
  });

  it('reads times of day', () => {
    expect(guessTime(['19:30:00'])).to.equal('H:i:s');
    expect(guessTime(['19:30'])).to.equal('H:i');
    expect(guessTime(['7:30 pm', '11:00 am'])).to.equal('g:i a');
    expect(guessTime(['07:30 PM'])).to.equal('h:i A');
    expect(guessTime(['evening'])).to.equal(undefined);
    expect(guessTime([])).to.equal(undefined);
  });

  it('reads yes and no in any spelling', () => {
    expect(guessBoolean(place([true, false]))).to.equal(null);
    expect(guessBoolean(place([], 'boolean'))).to.equal(null);
    expect(guessBoolean(place(['yes', 'no']))).to.deep.equal({ boolean: ['yes', 'no'] });
    expect(guessBoolean(place(['1']))).to.deep.equal({ boolean: ['1', '0'] });
    expect(guessBoolean(place([1, 0]))).to.deep.equal({ boolean: [1, 0] });
    expect(guessBoolean(place(['maybe']))).to.equal(undefined);
    expect(guessBoolean(place([], 'string'))).to.equal(undefined);
  });

  it('reads ids in any form', () => {
    expect(guessIds(place([7]))).to.deep.equal({ as: { ids: 'one' }, ids: [7] });
    expect(guessIds(place([[7, 8], [9]]))).to.deep.equal({ as: undefined, ids: [7, 8, 9] });
    expect(guessIds(place(['7,8']))).to.deep.equal({ as: { ids: 'csv' }, ids: [7, 8] });
    expect(guessIds(place([[{ ID: 7, post_title: 'Hall' }], false]))).to.deep.equal({
      as: { ids: { objects: 'ID' } },
      ids: [7],
    });
    expect(guessIds(place([], 'integer'))).to.deep.equal({ as: { ids: 'one' }, ids: [] });
    expect(guessIds(place(['Old Mill']))).to.equal(undefined);
  });
});
