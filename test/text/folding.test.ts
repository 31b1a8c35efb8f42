// Tests of text folding: for searches, for sorting, and for names.

import { expect } from 'chai';
import fc from 'fast-check';
import { foldName } from '../../src/text/html.ts';
import { fold, foldForSort } from '../../src/text/text.ts';

describe('text folding', () => {
  it('removes case and accents', () => {
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

  it('sorts names as capitals, and folds names as people write them', () => {
    expect(foldForSort('été')).to.equal('ETE');
    expect(['_a', 'Zoo', 'apple'].sort((a, b) => (foldForSort(a) < foldForSort(b) ? -1 : 1))).to.deep.equal([
      'apple',
      'Zoo',
      '_a',
    ]);
    expect(foldName(' Food &amp; Drink &#039;s ')).to.equal("food & drink 's");
  });
});
