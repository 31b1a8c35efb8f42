// Costs of events: normalizes what a client sends, and serializes a cost as The Events Calendar does.

import { type Config, DEFAULTS } from '../config-schema.ts';
import type { SiteSettings } from '../model/records.ts';
import { type Cost, type ParsedCost, parseCost, pluginCurrency, type StoredCost, stripTags } from '../text/cost.ts';
import { currencyOf, fitsCurrency } from '../text/currencies.ts';
import { decodeEntities, escapeHtmlOnce } from '../text/html.ts';
import { slugOf } from '../text/text.ts';

/** What `json_ld` says of a cost. The currency is absent if nothing says it. */
export type Offer = { price: string; priceCurrency?: string };

/**
 * Normalizes a `cost` of any JSON type:
 *
 *   ' <b>8 &lt; 9</b>', 8, true       '8 < 9', '8', '1'
 *   ['8', '', 12], { adults: '8' }    ['8', '12'], '8'
 *   0                                 '0': free
 *   '', null, false, []               '': no cost
 */
export function normalizeCost(sent: unknown): Cost {
  const texts = costTexts(sent).filter((text) => text !== '');
  return texts.length > 1 ? texts : (texts[0] ?? '');
}

function costTexts(sent: unknown): string[] {
  if (typeof sent === 'string') return [stripTags(unescapeHtml(sent))];
  if (typeof sent === 'number') return [String(sent)];
  if (sent === true) return ['1'];
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.values(sent).flatMap(costTexts);
}

/** As PHP's `htmlspecialchars_decode`: other entities stay. */
const unescapeHtml = (text: string): string => text.replace(/&(?:amp|lt|gt|quot|#0{0,4}39);/g, decodeEntities);

/** `8 €` on a site with `€` is `8`, and `Free` is `0`. A cost that is not one amount in the site's currency stays. */
export function numericCost(cost: Cost, settings = DEFAULTS.cost, site?: SiteSettings): Cost {
  if (typeof cost !== 'string') return cost;
  if (isFree(cost)) return '0';
  const { symbol } = resolveCurrency([ofSite(site)], settings);
  const parsed = parseCost(cost.replace(symbol, '').replace(/\.$/, ''));
  const [amount, ...others] = parsed.amounts;
  const isAmount = others.length === 0 && parsed.symbol + parsed.label + parsed.phrase === '';
  return amount && isAmount ? amount.value : cost;
}

const isFree = (text: string): boolean => text.trim().toLowerCase() === 'free';

/** What one level says of the currency: the text of a cost, its record, the site or the gateway. */
interface Currency {
  symbol?: string | undefined;
  /** A CMS has words of its own: every one but `prefix` means behind the amount. */
  position?: string | undefined;
  code?: string | undefined;
}

const ofSite = (site: SiteSettings = {}): Currency => ({
  symbol: site.currencySymbol,
  position: site.currencyPosition,
  code: site.currencyCode,
});

/**
 * How a cost is shown, and the ISO code of its currency if anything tells it. With the gateway's setting `$`:
 *
 *   levels                symbol   code
 *   a record in GBP       GBP      GBP: `$` may not stand for it
 *   the same, a `€` site  €        GBP: The Events Calendar shows both
 *   `kr`, a site in SEK   kr       SEK: of the first level whose code the symbol may stand for
 *   `€`, a site in SEK    €        EUR: the symbol of no other currency
 *   `kr`                  kr       undefined: it may be Danish, Swedish or another
 *   none                  $        USD, the main currency of `$`
 * @param levels the closest to the text first; the gateway's setting is added as the last
 */
function resolveCurrency(levels: Currency[], gateway: Config['cost']) {
  const all: Currency[] = [...levels, gateway];
  // The first level with a symbol or a code decides. The text `10 kr` has a symbol alone: no code.
  const codeOfFirst = all.find((level) => level.symbol !== undefined || level.code)?.code;
  const symbolOfFirst = levels.find((level) => level.symbol !== undefined)?.symbol;
  // Without a symbol, a record in GBP gets `GBP`, and one in USD the gateway's `$`.
  const gatewaySymbolFits = !codeOfFirst || fitsCurrency(gateway.symbol.trim(), codeOfFirst);
  const symbol = symbolOfFirst ?? (gatewaySymbolFits ? gateway.symbol : codeOfFirst);
  const sign = symbol.trim();
  const position = all.find((level) => level.position)?.position ?? 'prefix';
  return {
    symbol,
    isAfter: position !== 'prefix',
    code: codeOfFirst || all.find(({ code = '' }) => fitsCurrency(sign, code))?.code || currencyOf(sign),
  };
}

/**
 * Serializes a cost. The steps for five costs, with the gateway's setting `$` (`-` is the empty text):
 *
 *   text                 10     8 €        8 €     8 €       $5-$10
 *   stored beside it     -      -          CHF     prefix    -
 *   pluginSymbol         -      €          €       €         -: the plugin does not find it
 *   typed.symbol         -      €          -       €         $
 *   usual.symbol         $      $          CHF     $         $
 *   symbol               $      €          CHF     €         $
 *   `cost`               $10    8€         CHF8    8€        $5 – $10
 *   inDetails.symbol     -      €          CHF     -         -
 *   inDetails.position   -      postfix    -       prefix    -
 */
export function serializeCost(stored: StoredCost, settings: Config['cost'] = DEFAULTS.cost, site?: SiteSettings) {
  const parsed = parseCost(stored.cost);
  const pluginSymbol = pluginCurrency(stored.cost).symbol;
  // An editor chose CHF in wp-admin for the text `8 €`: what the text says of a currency does not count.
  const isChosen = stored.symbol !== '' && stored.symbol !== pluginSymbol;
  const typed = isChosen ? { ...parsed, symbol: '', label: '', phrase: '', signs: [] } : parsed;
  const ofRecord = {
    symbol: isChosen ? stored.symbol : undefined,
    position: stored.position,
    code: /^[A-Z]{3}$/.test(stored.code) ? stored.code : undefined,
  };
  const levels = [ofRecord, ofSite(site)];
  // The currency of a text without a symbol.
  const usual = resolveCurrency(levels, settings);
  const { symbol, isAfter } = typed.symbol === '' ? usual : resolveCurrency([typed, ...levels], settings);
  const cost = displayCost(typed, (amount) => (isAfter ? `${amount}${symbol}` : `${symbol}${amount}`));
  // The plugin's details are what is stored beside the text, if anything is. Otherwise they are what the text says,
  // but for the usual symbol where the plugin does not find it (`$5-$10`).
  const hasStored = stored.symbol !== '' || stored.position !== '';
  const isUsualSymbol = typed.symbol === '' || (pluginSymbol === '' && typed.symbol === usual.symbol);
  const inDetails = hasStored || isUsualSymbol ? stored : typed;
  // By `parsed`: `Free - 20` has the values `free` and `20`, also if an editor chose a currency.
  const texts = [...parsed.words, parsed.label].filter((text) => text !== '');
  return {
    fields: {
      cost: escapeHtmlOnce(cost),
      cost_details: {
        currency_symbol: inDetails.symbol,
        currency_code: stored.code,
        currency_position: inDetails.position,
        values: [...new Set([...texts.map(slugOf), ...parsed.amounts.map((amount) => amount.value)])],
      },
    },
    offer: cost === '' ? undefined : offerOf(typed, levels, settings),
  };
}

/**
 * The price, without a currency if the text names several. The sign of `ab 7 €`, `€`, tells the currency. The symbol,
 * `ab €`, tells none.
 */
function offerOf(typed: ParsedCost, levels: Currency[], settings: Config['cost']): Offer {
  const price = displayCost({ ...typed, phrase: '' }, (amount) => amount);
  const [sign, ...others] = typed.signs;
  const ofText: Currency[] = sign === undefined ? [] : [{ symbol: sign }];
  const { code } = resolveCurrency([...ofText, ...levels], settings);
  const currency = others.length === 0 && code !== undefined ? { priceCurrency: code } : {};
  return { price: escapeHtmlOnce(isFree(price) ? '0' : price), ...currency };
}

/** The words of a cost without amounts, else its phrase, else its lowest and highest amount: `Free – $20`. */
function displayCost({ amounts, words, label, phrase }: ParsedCost, inCurrency: (amount: string) => string): string {
  const [lowest] = amounts;
  const highest = amounts.at(-1);
  if (!lowest || !highest) return [...new Set(words)].join(', ');
  if (phrase !== '') return phrase;
  const shown = [lowest, highest].map(({ shown: amount, value }) => {
    if (Number(value) === 0) return 'Free';
    return `${value.startsWith('-') ? '-' : ''}${inCurrency(amount)}`;
  });
  return [...new Set([label, ...shown])].filter((text) => text !== '').join(' – ');
}
