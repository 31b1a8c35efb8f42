// Shows how texts are folded for searching, names ordered, and times turned into numbers.

import { expect } from 'chai';
import fc from 'fast-check';
import { fold, foldForOrder, foldName, secondsBefore, secondsBetween, wallNumber } from '../../src/replica/fold.ts';
import { wall } from './samples.ts';

describe('replica/fold', () => {
  it('leaves out case and accents', () => {
    for (const [text, folded] of [
      ['ÉTÉ', 'ete'],
      ['e\u0301te\u0301', 'ete'],
      ['Straße', 'strasse'],
      ['Smørrebrød', 'smorrebrod'],
      ['Łódź', 'lodz'],
      ['İstanbul', 'istanbul'],
      ['ΟΔΟΣ', 'οδοσ'],
      ['ﬁne ＡＢＣ', 'fine abc'],
      ['日本語 が', '日本語 が'],
      ['हिन्दी', 'हिन्दी'],
      ['100%_"*', '100%_"*'],
    ]) {
      expect(fold(text!)).to.equal(folded!.normalize('NFC'));
    }
  });

  it('folds folded text to itself', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => fold(fold(text)) === fold(text)));
  });

  it('orders names as capitals, and compares them as they are written', () => {
    expect(foldForOrder('été')).to.equal('ETE');
    expect(['_a', 'Zoo', 'apple'].sort((a, b) => (foldForOrder(a) < foldForOrder(b) ? -1 : 1))).to.deep.equal([
      'apple',
      'Zoo',
      '_a',
    ]);
    expect(foldName(' Food &amp; Drink &#039;s ')).to.equal("food & drink 's");
  });

  it('writes times as numbers of the same order', () => {
    expect(wallNumber('2027-03-12 10:00:00')).to.equal(20270312100000);
    expect(wallNumber('0000-00-00 00:00:00')).to.equal(0);
    expect(wallNumber('')).to.equal(0);
    fc.assert(fc.property(wall, wall, (a, b) => a < b === wallNumber(a) < wallNumber(b)));
  });

  it('counts seconds across months, leap days and years', () => {
    expect(secondsBetween(20240228235959, 20240301000000)).to.equal(86_401);
    expect(secondsBetween(20270101000000, 20261231000000)).to.equal(-86_400);
    expect(secondsBefore(20240301000000, 1)).to.equal(20240229235959);
    expect(secondsBefore(20270101000000, 60 * 86_400)).to.equal(20261102000000);
    expect(secondsBefore(0, 1)).to.equal(0);
  });
});
