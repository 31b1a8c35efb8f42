// Functions that replace regular expressions of quadratic time: they return the same results, in linear time.

import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeCost, serializeCost } from '../../src/calendar/cost.ts';
import { comparableText } from '../../src/calendar/duplicates.ts';
import { filenameOf } from '../../src/calendar/image-fetcher.ts';
import { description } from '../../src/calendar/json-ld.ts';
import { searchWords } from '../../src/calendar/search-words.ts';
import { decodeCost } from '../../src/text/cost.ts';
import { htmlText, textLines } from '../../src/text/html.ts';
import { fold, normalizeUnicode, trimCharacters, trimCharactersEnd } from '../../src/text/text.ts';

const readCost = (text: string) => serializeCost(decodeCost(text));

const pieces = (...each: string[]) => fc.array(fc.constantFrom(...each), { maxLength: 30 }).map((all) => all.join(''));

describe('text functions in linear time', () => {
  it('trim characters like a regular expression', () => {
    fc.assert(
      fc.property(pieces('"', "'", ' ', 'x', '/'), (text) => {
        expect(trimCharacters(text, `"'`)).to.equal(text.replace(/^["']+|["']+$/g, ''));
        expect(trimCharactersEnd(text, '/')).to.equal(text.replace(/\/+$/, ''));
      }),
    );
  });

  it('normalize like Unicode, for as many marks as any language writes', () => {
    fc.assert(
      fc.property(pieces('a', 'é', '\u0300', '\u0327', '\uff9e', 'カ', '각', 'ﬁ', '\u3099'), (text) => {
        for (const form of ['NFC', 'NFD', 'NFKD'] as const)
          expect(normalizeUnicode(text, form)).to.equal(text.normalize(form));
      }),
    );
    expect(normalizeUnicode(`a${'\u0301'.repeat(40)}b`, 'NFD')).to.equal(`a${'\u0301'.repeat(30)}b`);
  });

  it('keep the position of currency symbols and labels in a cost', () => {
    const shown = (text: string) => {
      const { cost, cost_details: details } = serializeCost(decodeCost(text)).fields;
      return [cost, details.currency_symbol, details.currency_position, ...details.values];
    };
    expect(shown('-€ 10')).to.deep.equal(['-€10', '€', 'prefix', '-10']);
    expect(shown('- 10')).to.deep.equal(['-$10', '', '', '-10']);
    expect(shown('Free - 20')).to.deep.equal(['Free – $20', '', '', 'free', '20']);
    expect(shown('a -- 20')[0]).to.equal('a --20');
  });

  // A regular expression of quadratic time would exceed the test's timeout.
  const LENGTH = 1_000_000;
  const filled = (text: string) => text.repeat(LENGTH / text.length);
  for (const [what, read, text] of [
    ['a search of apostrophes', searchWords, `x${filled("'")}x`],
    ['a search of quotes', searchWords, `"x${filled(`"'`)}x`],
    ['tags that nothing closes', comparableText, filled('<')],
    ['entities that nothing closes', comparableText, filled('&#0')],
    ['scripts that nothing closes', htmlText, filled('<script>')],
    ['scripts without an end of the tag', htmlText, `${filled('<script')}>`],
    ['styles that scripts end', htmlText, filled('<style></script>')],
    ['closing tags that nothing opened', htmlText, `${'<b>'.repeat(LENGTH / 8)}${'</i>'.repeat(LENGTH / 8)}`],
    ['comments that nothing closes', htmlText, filled('<!--')],
    ['brackets that nothing closes', (text: string) => description({ excerpt: text, description: '' }), filled('[')],
    ['closed brackets', (text: string) => description({ excerpt: text, description: '' }), filled('[a]')],
    ['brackets on lines', (text: string) => description({ excerpt: text, description: '' }), filled('[[\n')],
    ['a title of one character', (text: string) => textLines(text, 500), `a${filled('\u0301')}`],
    ['a cost of tags', normalizeCost, filled('<b')],
    ['a cost of blanks', readCost, `-${filled(' ')}x5`],
    ['a cost of amounts', readCost, filled('1,')],
    ['marks that change places', fold, filled('\u0300\u0327')],
    ['marks of half width', fold, filled('\u0300\uff9e')],
    ['a file name of marks', (text: string) => filenameOf({ pathname: text }), filled('\u0300\u0327')],
  ] as const) {
    it(`accept a million characters of ${what}`, () => {
      (read as (text: string) => unknown)(text);
    });
  }
});
