// Costs in every form that clients send, how responses show them, and that encoding for the CMS loses
// nothing.

import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeCost, serializeCost } from '../../src/calendar/cost.ts';
import { DEFAULTS } from '../../src/config-schema.ts';
import { decodeCost, encodeCost } from '../../src/text/cost.ts';

/** How a response shows the cost, if the CMS keeps its text alone. */
const shown = (sent: unknown, settings = DEFAULTS.cost) =>
  serializeCost(decodeCost(encodeCost(normalizeCost(sent))), settings).fields;

/** The sent value, then the response's `cost`, symbol, position and values. */
type Row = [unknown, string, string, string, string[]];

const same: Row[] = [
  ['10', '$10', '', '', ['10']],
  [10, '$10', '', '', ['10']],
  ['  10  ', '$10', '', '', ['10']],
  ['<b>10</b>', '$10', '', '', ['10']],
  [['10'], '$10', '', '', ['10']],
  [['10', '10'], '$10', '', '', ['10']],
  [{ a: '10' }, '$10', '', '', ['10']],
  ['$10', '$10', '$', 'prefix', ['10']],
  ['$ 10', '$10', '$', 'prefix', ['10']],
  ['$10.', '$10.', '$', 'prefix', ['10.']],
  ['5.', '$5.', '', '', ['5.']],
  ['10$', '10$', '$', 'postfix', ['10']],
  ['10.50', '$10.50', '', '', ['10.50']],
  ['10.00', '$10.00', '', '', ['10.00']],
  ['10.999', '$10.999', '', '', ['10.999']],
  ['1000000', '$1000000', '', '', ['1000000']],
  [10.5, '$10.5', '', '', ['10.5']],
  ['10-20', '$10 – $20', '', '', ['10', '20']],
  ['$10-20', '$10 – $20', '', '', ['10', '20']],
  ['$10 - $20', '$10 – $20', '', '', ['10', '20']],
  ['10 20', '$10 – $20', '', '', ['10', '20']],
  ['10/20', '$10 – $20', '', '', ['10', '20']],
  ['from 10 to 20', '$10 – $20', '', '', ['10', '20']],
  [['10', '20'], '$10 – $20', '', '', ['10', '20']],
  [['€10', '€20'], '€10 – €20', '€', 'prefix', ['10', '20']],
  [['10€', '20€'], '10€ – 20€', '€', 'postfix', ['10', '20']],
  [['10 USD', '20 USD'], '10USD – 20USD', 'USD', 'postfix', ['10', '20']],
  ['5 - 3', '$3 – $5', '', '', ['3', '5']],
  ['20 - 10 - 5', '$5 – $20', '', '', ['5', '10', '20']],
  ['Free', 'Free', '', '', ['free']],
  ['free', 'free', '', '', ['free']],
  ['FREE', 'FREE', '', '', ['free']],
  ['Donation', 'Donation', '', '', ['donation']],
  ['Pay what you want', 'Pay what you want', '', '', ['pay-what-you-want']],
  ['a & b', 'a &amp; b', '', '', ['a-b']],
  ["Don't", 'Don&#039;t', '', '', ['dont']],
  ['Tea &amp; cake', 'Tea &amp; cake', '', '', ['tea-cake']],
  ['10&euro;', '10&euro;', '&euro;', 'postfix', ['10']],
  ['$0', 'Free', '$', 'prefix', ['0']],
  ['0 €', 'Free', '€', 'postfix', ['0']],
  ['0.00', 'Free', '', '', ['0.00']],
  [['0'], 'Free', '', '', ['0']],
  ['0 - 20', 'Free – $20', '', '', ['0', '20']],
  [['Free', '20'], '$20', '', '', ['free', '20']],
  [['Free', '$20'], '$20', '$', 'prefix', ['free', '20']],
  ['Free for members, 10 others', '10others', 'others', 'postfix', ['10']],
  ['€10', '€10', '€', 'prefix', ['10']],
  ['£5', '£5', '£', 'prefix', ['5']],
  ['¥100', '¥100', '¥', 'prefix', ['100']],
  ['10€', '10€', '€', 'postfix', ['10']],
  ['10 €', '10€', '€', 'postfix', ['10']],
  ['AUD 10', 'AUD10', 'AUD', 'prefix', ['10']],
  ['10 USD', '10USD', 'USD', 'postfix', ['10']],
  ['10 kr', '10kr', 'kr', 'postfix', ['10']],
  ['10 dollars', '10dollars', 'dollars', 'postfix', ['10']],
  ['1,000', '$1,000', '', '', ['1000']],
  ['10,50', '$10,50', '', '', ['10.50']],
  [true, '$1', '', '', ['1']],
  ['', '', '', '', []],
  [' ', '', '', '', []],
  [null, '', '', '', []],
  [false, '', '', '', []],
  [[], '', '', '', []],
  [[''], '', '', '', []],
  [['0$', '20$', '30$'], 'Free – 30$', '$', 'postfix', ['0', '20', '30']],
];

const meant: Row[] = [
  ['€10 - €20', '€10 – €20', '€', 'prefix', ['10', '20']],
  ['10 - 20 USD', '10USD – 20USD', 'USD', 'postfix', ['10', '20']],
  [['€10', '20'], '€10 – €20', '€', 'prefix', ['10', '20']],
  ['5 bis 10 Euro', '5Euro – 10Euro', 'Euro', 'postfix', ['5', '10']],
  ['€10 / £8', '€10 / £8', '', '', ['8', '10']],
  ["1'200 CHF", '1&#039;200CHF', 'CHF', 'postfix', ['1200']],
  ['1 200 €', '1 200€', '€', 'postfix', ['1200']],
  ['1 200,50 - 2 000 Kč', '1 200,50Kč – 2 000Kč', 'Kč', 'postfix', ['1200.50', '2000']],
  ['0', 'Free', '', '', ['0']],
  [0, 'Free', '', '', ['0']],
  ['$10 per person', '$10 per person', '$ per person', '', ['10']],
  ['Free - 20', 'Free – $20', '', '', ['free', '20']],
  ['CHF -15.', 'CHF -15.', 'CHF -', 'prefix', ['15.']],
  ['-5', '-$5', '', '', ['-5']],
  ['-€5', '-€5', '€', 'prefix', ['-5']],
  ['10-10', '$10', '', '', ['10']],
  ['€ 10,50', '€10,50', '€', 'prefix', ['10.50']],
  ['$1,000', '$1,000', '', '', ['1000']],
  ['$1,000.50', '$1,000.50', '', '', ['1000.50']],
  ['1.000,50', '$1.000,50', '', '', ['1000.50']],
  ['1,234,567', '$1,234,567', '', '', ['1234567']],
  ['$1,000 - $2,000', '$1,000 – $2,000', '', '', ['1000', '2000']],
  ['5,00 - 10,00', '$5,00 – $10,00', '', '', ['5.00', '10.00']],
  ['10, 20', '$10 – $20', '', '', ['10', '20']],
  ['$5, $10, $15', '$5 – $15', '$', 'prefix', ['5', '10', '15']],
  [['a', 'b'], 'a, b', '', '', ['a', 'b']],
  ['<script>', '', '', '', []],
];

for (const [title, rows] of [
  ['costs as in The Events Calendar', same],
  ['costs that say what was meant', meant],
] as const) {
  describe(title, () => {
    for (const [sent, cost, currency_symbol, currency_position, values] of rows) {
      it(JSON.stringify(sent), () => {
        expect(shown(sent)).to.deep.equal({
          cost,
          cost_details: { currency_symbol, currency_code: '', currency_position, values },
        });
      });
    }
  });
}

describe("costs with the site's currency", () => {
  it('use its symbol and position', () => {
    const euro = { symbol: '€', position: 'postfix', code: '' } as const;
    expect(shown(['10', '20'], euro).cost).to.equal('10€ – 20€');
    expect(shown('£5', euro).cost).to.equal('£5');
  });

  it('have the same JSON after encoding and decoding', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(...[...same, ...meant].map(([sent]) => sent)),
      fc.double(),
      fc.constantFrom('["a","b"]', '[]', '[1]', '["x"]', '[', '\ud800', '日本'),
    );
    fc.assert(
      fc.property(fc.oneof(piece, fc.array(piece), fc.dictionary(fc.string(), piece)), (sent) => {
        const cost = normalizeCost(sent);
        const kept = encodeCost(cost);
        expect(kept).to.be.a('string');
        expect(decodeCost(kept)).to.deep.equal({ cost, symbol: '', position: '', code: '' });
      }),
      { numRuns: 500 },
    );
  });

  it('are empty if nothing is stored', () => {
    expect(encodeCost([])).to.equal('');
    expect(decodeCost('').cost).to.equal('');
  });
});
