// What the text of a cost says: its amounts and its currency, in the gateway's reading and in that of The Events
// Calendar; and how a record holds a cost with the currency that the CMS keeps beside it.

import { isObject } from '../model/json.ts';
import { isCurrencySign } from './currencies.ts';
import { decodeEntities } from './html.ts';
import { slugOf, trimCharacters } from './text.ts';

/** A normalized cost: one text, or the texts of a list. The empty text means no cost. */
export type Cost = string | string[];

/** A cost, and what the CMS keeps beside it. Empty: nothing. `position` is the CMS's own word. */
export interface StoredCost {
  cost: Cost;
  symbol: string;
  position: string;
  code: string;
}

/** Encodes a cost as the text of a CMS field: a list as JSON, a single text as it is. */
export function encodeCost(cost: Cost): string {
  if (typeof cost !== 'string') return cost.length === 0 ? '' : JSON.stringify(cost);
  // `["5"]` as it is would be decoded as a list.
  return parseTexts(cost) === undefined ? cost : JSON.stringify([cost]);
}

/** Encodes the text of a CMS field, together with what the CMS keeps beside it unless the text alone says that. */
export function encodeStoredCost(text: string, { position, code, ...stored }: Omit<StoredCost, 'cost'>): string {
  const inText = pluginCurrency(decodeCost(text).cost);
  // With a classic theme the plugin stores `ab  €` for `ab 7 €`.
  const symbol = withoutRuns(stored.symbol);
  const isInText = (symbol === '' || symbol === inText.symbol) && (position === '' || position === inText.position);
  return isInText && code === '' ? text : JSON.stringify({ text, symbol, position, code });
}

/**
 * Decodes what `encodeCost` or `encodeStoredCost` wrote, or any text written in the CMS itself.
 *
 *   8 €                                                         cost '8 €'
 *   ["5","8"]                                                   cost ['5', '8']
 *   ["[\"5\"]"]                                                 cost '["5"]'
 *   {"text":"8","symbol":"€","position":"postfix","code":""}    cost '8', symbol '€', position 'postfix'
 */
export function decodeCost(encoded: string): StoredCost {
  const json = parseTexts(encoded);
  const { text = encoded, symbol = '', position = '', code = '' } = isObject(json) ? json : {};
  const list = parseTexts(text);
  const [only = '', ...others] = Array.isArray(list) ? list : [text];
  return { cost: others.length > 0 ? [only, ...others] : only, symbol, position, code };
}

/** A list of texts, or an object of texts; undefined for any other text. */
function parseTexts(text: string): string[] | Record<string, string> | undefined {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    const value: string[] | Record<string, string> = JSON.parse(text);
    return Object.values(value).every((item) => typeof item === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

type Position = '' | 'prefix' | 'postfix';

interface Amount {
  /** As written, without a minus: `1.000,50`. */
  shown: string;
  /** `-1000.50` */
  value: string;
}

export type ParsedCost = ReturnType<typeof parseCost>;

/** A cost written in the CMS itself may be longer. Responses show its beginning. */
const MAX_CHARACTERS = 2000;
const MAX_TEXTS = 50;

const DASH_AT_END = /[–—−-]$/;

/** PHP's `trim` keeps no-break spaces. */
const PHP_BLANKS = ' \t\n\r\0\v';

// Beside each line stand texts that it reads. At most six groups of thousands: this bounds the search time.
const NUMBER = new RegExp(
  [
    String.raw`[1-9]\d{0,2}(?:,\d{3}){1,6}(?:\.\d+)?(?!\d|,\d)`, // 1,000 and 1,000.50
    String.raw`[1-9]\d{0,2}(?:['’ \u00a0\u202f]\d{3}){1,6}(?:[.,]\d+)?(?!\d|[.,]\d)`, // 1'000 and 1 000,50
    String.raw`[1-9]\d{0,2}(?:\.\d{3}){1,6},\d+(?!\d|[.,]\d)`, // 1.000,50
    String.raw`[1-9]\d{0,2}(?:\.\d{3}){2,6}(?!\d|[.,]\d)`, // 1.000.000
    String.raw`(?<!\d,)\d+[.,]\d+(?!\d|,\d)`, // 8,50, and 1.000, which is one
    String.raw`(?<!\d)\.\d+`, // .5
    String.raw`\d+\.$`, // 15. at the end of the text, as in the plugin
    String.raw`\d+`, // 5, and each of 12,5,7
  ].join('|'),
  'g',
);

/**
 * Symbol and position that The Events Calendar stores for a cost (`Tribe__Cost_Utils`). It takes the first number out
 * of the first part between commas, the second out of the second. If all rests are equal, this is the symbol.
 *
 *   cost            parts         numbers     rests       symbol
 *   5 per person    the cost      5           one         per person, postfix
 *   $5, $10         $5 and $10    5 and 10    $ and $     $, prefix
 *   8,50 €          8 and 50 €    8 and 50    '' and €    none
 *   5-10 €          the cost      5 and 10    -10 € and '', since there is no second part: none
 *   ab 7 €          the cost      7           'ab  €'     ab €, without a position: the cost has one blank there
 *
 * Runs of blanks in the symbol become one: so WordPress stores them with a block theme.
 */
export function pluginCurrency(cost: Cost): { symbol: string; position: Position } {
  const parts = typeof cost === 'string' ? cost.split(',') : cost;
  const symbols = new Set<string>();
  pluginNumbers(parts).forEach((number, at) => {
    if (isPluginNumber(number)) symbols.add(phpTrim((parts[at] ?? '').replaceAll(number, '')));
  });
  const [symbol] = symbols;
  if (!symbol || symbols.size > 1) return { symbol: '', position: '' };
  const places = parts.map((part) => phpTrim(part).indexOf(symbol)).filter((at) => at >= 0);
  const [position = '', ...others] = new Set(places.map((at): Position => (at === 0 ? 'prefix' : 'postfix')));
  const isClear = others.length === 0 && symbol !== '0';
  return { symbol: withoutRuns(symbol), position: isClear ? position : '' };
}

const withoutRuns = (text: string): string => phpTrim(text.replace(/[\t\n\r ]+/g, ' '));

/**
 * The numbers of all parts, and the parts without one. The plugin gives each number as many decimals as the longest
 * has. Of numbers with the same digits it keeps the last.
 *
 *   8,50  8.5  9    digits 850, 850 and 900, so `8.5` and `9`
 *   8,50  .5.       digits 850 and 5: the plugin takes `.5.` for a word, and adds no decimals
 */
function pluginNumbers(parts: string[]): string[] {
  const numbers = parts.flatMap((part) => part.match(/[,.]?\d+[,.]?\d*/g) ?? [part]);
  const decimalsOf = (number: string): number => /\d[,.](\d*)$/.exec(number)?.[1]?.length ?? 0;
  const decimals = numbers.reduce((most, number) => Math.max(most, decimalsOf(number)), 0);
  const digitsOf = (number: string): string => {
    if (!isPluginNumber(number)) return slugOf(number);
    if (/^[,.]\d+[,.]$/.test(number)) return number.slice(1, -1);
    // 100 is the most that `toFixed` takes.
    return Number.parseFloat(number.replaceAll(',', '.')).toFixed(Math.min(decimals, 100)).replace('.', '');
  };
  return [...new Map(numbers.map((number) => [digitsOf(number), number])).values()];
}

/** Not `.5.5`. */
const isPluginNumber = (text: string): boolean => /\d/.test(text) && !/^[,.]\d+[,.]\d/.test(text);

const phpTrim = (text: string): string => trimCharacters(text, PHP_BLANKS);

/** Reads the cost. A thousands separator is part of its number, and a leading minus is a sign. */
export function parseCost(cost: Cost) {
  const isList = typeof cost !== 'string';
  const shown = (isList ? cost.slice(0, MAX_TEXTS) : [cost]).map((text) => stripTags(text.slice(0, MAX_CHARACTERS)));
  const typed = shown.filter((text) => text !== '');
  const texts = typed.map(parseText);
  const amounts = sortedDistinct(texts.flatMap((text) => text.amounts));
  const unsigned = texts.map(({ text }) => text);
  const phrase = typed.join(', ');
  const signs = signsIn(decodeEntities(phrase));
  return {
    /** Without amounts of the same value, lowest first. */
    amounts,
    /** The texts without an amount: of the list `Free`, `10 for members` the first. */
    words: typed.filter((_, at) => texts[at]?.amounts.length === 0),
    /** The currencies that are named: `€`, `CHF`, `kr`, `Euro`. */
    signs,
    ...NOTHING_BESIDE,
    ...(amounts.length > 0 && besideAmounts(phrase, isList ? unsigned : (unsigned[0] ?? ''), signs)),
  };
}

interface BesideAmounts {
  /** The text before a dash and the amount: `Free` in `Free - 20`. */
  label: string;
  /** What stands beside each amount, such as `€`. Empty: nothing, or not the same everywhere. */
  symbol: string;
  position: Position;
  /** The whole cost, if only this says what was meant: `ab 7 €`, `€10 / £8`. Otherwise empty. */
  phrase: string;
}

const NOTHING_BESIDE: BesideAmounts = { label: '', symbol: '', position: '', phrase: '' };

/**
 * What a cost says beside its amounts. The numbers are those of the returns:
 *
 *   1  Free - 20           label 'Free'
 *   2  8 €     ab 7 €      as the plugin reads them: '€', 'postfix'; 'ab €' without a position, and the whole as phrase
 *   3  €10 / £8            the whole as phrase
 *   4  5                   nothing
 *   5  5-10 €  $5 - $10    the only sign, which the plugin does not find: '€', 'postfix'; '$', 'prefix'
 * @param phrase the whole cost as written: of a list `-5 &euro;, 10 &euro;`
 * @param unsigned the same without a minus, a list as a list: `5 &euro;`, `10 &euro;`
 */
function besideAmounts(phrase: string, unsigned: Cost, signs: string[]): Partial<BesideAmounts> {
  const ofPlugin = pluginCurrency(unsigned);
  // The plugin takes `Free -` for the symbol of `Free - 20`.
  const hasDash = ofPlugin.position === 'prefix' && DASH_AT_END.test(ofPlugin.symbol);
  const label = hasDash ? ofPlugin.symbol.slice(0, -1).trimEnd() : '';
  // Not `CHF -15.`, whose currency is CHF: The Events Calendar shows `CHF 15.-`.
  if (label !== '' && !DASH_AT_END.test(label) && !isCurrencySign(label)) return { label }; // 1
  // The dash of `10-10` is no currency.
  if (/[^–—−-]/u.test(ofPlugin.symbol)) return ofPlugin.position === '' ? { ...ofPlugin, phrase } : ofPlugin; // 2
  const [sign, ...others] = signs;
  if (others.length > 0) return { phrase }; // 3
  if (sign === undefined) return {}; // 4
  const whole = decodeEntities(phrase);
  return { symbol: sign, position: whole.indexOf(sign) < whole.search(/\d/) ? 'prefix' : 'postfix' }; // 5
}

/** Without tags and outer blanks. */
export const stripTags = (text: string): string => phpTrim(text.replace(/<[/!a-z][^<>]*>/gi, ''));

/** The amounts of a text, and the text without the minus before the first: `-5`, `- €5`. */
function parseText(typed: string): { text: string; amounts: Amount[] } {
  const isNegative = /^[–—−-]\s?\p{Sc}?\s?[.\d]/u.test(typed);
  const amounts = (typed.match(NUMBER) ?? []).map((shown, at) => {
    const value = plainNumber(shown);
    return { shown, value: at === 0 && isNegative && Number(value) !== 0 ? `-${value}` : value };
  });
  return { text: isNegative ? typed.slice(1) : typed, amounts };
}

/** The signs `€` and `R$`, and words beside a number that name a currency: `CHF` of `ab CHF 5`, not `ab`. */
function signsIn(text: string): string[] {
  const words = text.split(NUMBER).flatMap((between) => {
    const all = between.split(/[^\p{L}]+/u).filter((word) => word.length > 1);
    return [...all.slice(0, 1), ...all.slice(-1)].filter(isCurrencySign);
  });
  return [...new Set([...(text.match(/[A-Z]{0,3}\p{Sc}/gu) ?? []), ...words])];
}

/** Converts `1,000.50`, `1.000,50` and `1 000,50` to `1000.50`, `10,50` to `10.50`, and `1.000.000` to `1000000`. */
function plainNumber(shown: string): string {
  const digits = shown.replace(/['’ \u00a0\u202f]/g, '');
  const comma = digits.lastIndexOf(',');
  const point = digits.lastIndexOf('.');
  if (comma > point && point >= 0) return digits.replaceAll('.', '').replace(',', '.');
  if (comma >= 0 && (point > comma || /^[1-9]\d{0,2}(?:,\d{3})+$/.test(digits))) return digits.replaceAll(',', '');
  if (/^[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(digits)) return digits.replaceAll('.', '');
  return digits.replace(',', '.');
}

function sortedDistinct(amounts: Amount[]): Amount[] {
  const byValue = new Map<string, Amount>();
  for (const amount of amounts) if (!byValue.has(amount.value)) byValue.set(amount.value, amount);
  return [...byValue.values()].sort((a, b) => Number(a.value) - Number(b.value));
}
