// The prices of an event as numbers, for pages that write them in several languages, and for search engines.

import { fitsCurrency } from '../../text/currencies.ts';
import { textLine } from '../../text/html.ts';
import type { PublicEvent } from './read-events.ts';

export interface Prices {
  /** An ISO code. */
  currency: string;
  /** Free is 0. */
  lowest: number;
  highest: number;
}

/**
 * Undefined for a cost with other words than amounts (`20 per family`), without a currency, and in lists.
 */
export function pricesOf(event: PublicEvent): Prices | undefined {
  if (event.cost === '') return undefined;
  const { values } = event.cost_details;
  const currency = event.json_ld?.offers?.priceCurrency;
  if (currency === undefined) return undefined;
  const amounts = values.map((value) => (value === 'free' ? 0 : Number(value)));
  const signs = textLine(event.cost).split(/[\d.,\s–-]+|Free/);
  const isPlain = signs.every((sign) => sign === '' || fitsCurrency(sign, currency));
  if (!isPlain || amounts.length === 0 || !amounts.every(Number.isFinite)) return undefined;
  return { currency, lowest: Math.min(...amounts), highest: Math.max(...amounts) };
}
