// The functions that stand where an expression would take the square of a text's length: the same results, and for very long texts too.

import { expect } from 'chai';
import fc from 'fast-check';
import { costAnswer, normaliseCost } from '../../src/calendar/cost.ts';
import { plainText } from '../../src/calendar/plain-text.ts';
import { searchWords } from '../../src/calendar/search.ts';
import { fold } from '../../src/replica/fold.ts';
import { replaceTags, withoutScripts } from '../../src/text/html.ts';
import { normalized } from '../../src/text/normalize.ts';
import { trimmed, trimmedEnd } from '../../src/text/trim.ts';
import { safeFilename } from '../../src/upstream/wordpress/media.ts';

const pieces = (...each: string[]) => fc.array(fc.constantFrom(...each), { maxLength: 30 }).map((all) => all.join(''));

describe('texts of any length are read in one pass', () => {
  it('cut characters off the ends as an expression does', () => {
    fc.assert(
      fc.property(pieces('"', "'", ' ', 'x', '/'), (text) => {
        expect(trimmed(text, `"'`)).to.equal(text.replace(/^["']+|["']+$/g, ''));
        expect(trimmedEnd(text, '/')).to.equal(text.replace(/\/+$/, ''));
      }),
    );
  });

  it('find tags as an expression does', () => {
    fc.assert(
      fc.property(pieces('<', '>', 'a', '</b>', '\n'), (text) => {
        expect(replaceTags(text, (tag) => `[${tag.length}]`)).to.equal(
          text.replace(/<[^>]*>/g, (tag) => `[${tag.length}]`),
        );
      }),
    );
  });

  it('cut out scripts and styles as an expression does', () => {
    fc.assert(
      fc.property(
        pieces('<script', '<STYLE', '<style>', '</script>', '</Style>', '</style>', '>', '<', 'x', '\n', 'İ'),
        (text) => {
          expect(withoutScripts(text)).to.equal(text.replace(/<(script|style)[^>]*>.*?<\/\1>/gis, ''));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('normalise as Unicode says, for as many marks as any language writes', () => {
    fc.assert(
      fc.property(pieces('a', 'é', '\u0300', '\u0327', '\uff9e', 'カ', '각', 'ﬁ', '\u3099'), (text) => {
        for (const form of ['NFC', 'NFD', 'NFKD'] as const)
          expect(normalized(text, form)).to.equal(text.normalize(form));
      }),
    );
    expect(normalized(`a${'\u0301'.repeat(40)}b`, 'NFD')).to.equal(`a${'\u0301'.repeat(30)}b`);
  });

  it('keep the place of cost signs and labels', () => {
    const shown = (text: string) => {
      const { cost, cost_details: details } = costAnswer(text);
      return [cost, details.currency_symbol, details.currency_position, ...details.values];
    };
    expect(shown('-€ 10')).to.deep.equal(['-€10', '€', 'prefix', '-10']);
    expect(shown('€ - 10')).to.deep.equal(['-€10', '€', 'prefix', '-10']);
    expect(shown('- 10')).to.deep.equal(['-$10', '', '', '-10']);
    expect(shown('Free - 20')).to.deep.equal(['Free – $20', '', '', 'free', '20']);
    expect(shown('-- 20')).to.deep.equal(['-$20', '', '', '-20']);
    expect(shown('a -- 20')[0]).to.equal('a --20');
  });

  // With an expression that takes the square of the length, each of these runs into the time limit of the test.
  const LENGTH = 1_000_000;
  const filled = (text: string) => text.repeat(LENGTH / text.length);
  for (const [what, read, text] of [
    ['a search of apostrophes', searchWords, `x${filled("'")}x`],
    ['a search of quotes', searchWords, `"x${filled(`"'`)}x`],
    ['tags that nothing closes', plainText, filled('<')],
    ['entities that nothing closes', plainText, filled('&#0')],
    ['scripts that nothing closes', withoutScripts, filled('<script>')],
    ['scripts without an end of the tag', withoutScripts, `${filled('<script')}>`],
    ['styles that scripts end', withoutScripts, filled('<style></script>')],
    ['a cost of tags', normaliseCost, filled('<b')],
    ['a cost of blanks', costAnswer, `-${filled(' ')}x5`],
    ['a cost of amounts', costAnswer, filled('1,')],
    ['marks that change places', fold, filled('\u0300\u0327')],
    ['marks of half width', fold, filled('\u0300\uff9e')],
    ['a file name of marks', safeFilename, filled('\u0300\u0327')],
  ] as const) {
    it(`takes ${what}, a million characters of it`, () => {
      (read as (text: string) => unknown)(text);
    });
  }
});
