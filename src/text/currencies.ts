// Which currency a sign or a word means, by the platform's own data: `€` and `euros` are EUR, `kr` may be one of four.

let codes: Map<string, string[]> | undefined;

/** ISO codes by sign, code and name (in lower case). Built at the first use, which takes 30 ms. */
function codesBySign(): Map<string, string[]> {
  if (codes) return codes;
  codes = new Map();
  const names = new Intl.DisplayNames('en', { type: 'currency' });
  for (const currency of Intl.supportedValuesOf('currency')) {
    const signs = (['symbol', 'narrowSymbol'] as const).map((currencyDisplay) => {
      const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay });
      return format.formatToParts(0).find(({ type }) => type === 'currency')?.value ?? currency;
    });
    for (const sign of new Set([...signs, currency, (names.of(currency) ?? '').toLowerCase()]))
      codes.set(sign, [...(codes.get(sign) ?? []), currency]);
  }
  return codes;
}

/** Looks `US$` up as `USD`, and `euros` as `euro`: the platform has no such signs. */
function codesOf(sign: string): string[] {
  const known = codesBySign();
  const name = sign.toLowerCase();
  return known.get(sign.replace(/^([A-Z]{2})\$$/, '$1D')) ?? known.get(name) ?? known.get(name.replace(/s$/, '')) ?? [];
}

export const isCurrencySign = (sign: string): boolean => codesOf(sign).length > 0;

/** Whether the sign may stand for the currency: `$` for CAD, `kr` for SEK. */
export const fitsCurrency = (sign: string, code: string): boolean => codesOf(sign).includes(code);

/** Signs of several currencies, with the one that each means without another word. */
const MAIN_CURRENCIES = new Map(Object.entries({ $: 'USD', '£': 'GBP', '¥': 'JPY' }));

/** The ISO code that the sign means; undefined for `kr`, which may be Danish, Swedish or another. */
export function currencyOf(sign: string): string | undefined {
  const [only, ...others] = codesOf(sign);
  return MAIN_CURRENCIES.get(sign) ?? (others.length === 0 ? only : undefined);
}
