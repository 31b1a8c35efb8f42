// Costs of events: normalizes what a client sends, encodes it for the CMS, and serializes it as The Events
// Calendar does.

import { type Config, DEFAULTS } from '../config-schema.ts';
import { escapeHtmlOnce } from '../text/html.ts';
import { slugOf } from '../text/text.ts';

/** A normalized cost: one text, or the texts of a list. The empty text means no cost. */
export type Cost = string | string[];

/** The two properties of a serialized event for its cost. */
export type CostFields = {
  cost: string;
  cost_details: { currency_symbol: string; currency_code: string; currency_position: string; values: string[] };
};

/** The currency of costs without one. */
export type CostSettings = Config['cost'];

const RANGE = ' – ';
/** An amount of zero. */
const FREE = 'Free';
/** A cost written in the CMS itself may be longer. Responses show its first characters. */
const SHOWN_CHARACTERS = 2000;
const DASHES = '-–—−';
// Thousands in groups of three (at most six groups, which bounds the search time); else decimals after a
// point or comma, if no further group follows; else plain digits.
const NUMBER =
  /[1-9]\d{0,2}(?:,\d{3}){1,6}(?:\.\d+)?(?!\d|,\d)|[1-9]\d{0,2}(?:\.\d{3}){1,6},\d+(?!\d|[.,]\d)|[1-9]\d{0,2}(?:\.\d{3}){2,6}(?!\d|[.,]\d)|(?<!\d,)\d+[.,]\d+(?!\d|,\d)|(?<!\d)\.\d+|\d+/g;

type Amount = { shown: string; value: string };
/** One of the comma-separated parts of a cost. */
type Part = {
  /** `value` is a plain decimal number. `shown` is as written, without a minus. */
  amounts: Amount[];
  symbol: string;
  position: '' | 'prefix' | 'postfix';
  /** The text before a dash and the amount: `Free` in `Free - 20`. */
  label: string;
  /** The whole text, if it has more than an amount and its currency. */
  phrase: string;
};

/**
 * Normalizes a `cost` of any JSON type. Text loses tags and outer spaces, a number becomes text, `true`
 * becomes `1`. A list or object becomes the list of its non-empty values, or the value itself if there is
 * only one. `null`, `false` and everything empty become `''`, which means no cost. Zero stays, because it
 * means free.
 */
export function normalizeCost(sent: unknown): Cost {
  const texts = costTexts(sent, 0).filter((text) => text !== '');
  return texts.length > 1 ? texts : (texts[0] ?? '');
}

/** Deeper lists are ignored. */
const MAX_DEPTH = 5;

function costTexts(sent: unknown, depth: number): string[] {
  if (typeof sent === 'string') return [stripTags(sent)];
  if (typeof sent === 'number') return [String(sent)];
  if (sent === true) return ['1'];
  if (typeof sent !== 'object' || sent === null || depth > MAX_DEPTH) return [];
  return Object.values(sent).flatMap((value) => costTexts(value, depth + 1));
}

function stripTags(text: string): string {
  return text.replace(/<[/!a-z][^<>]*>/gi, '').trim();
}

/** Encodes a cost as the text of a CMS field: a list as JSON, a single text as it is. */
export function encodeCost(cost: Cost): string {
  if (typeof cost !== 'string') return cost.length === 0 ? '' : JSON.stringify(cost);
  // Otherwise decoding would take this text for a list.
  return parseList(cost) ? JSON.stringify([cost]) : cost;
}

/** Decodes what `encodeCost` wrote, or any text written in the CMS itself. */
export function decodeCost(text: string): Cost {
  const list = parseList(text);
  if (!list) return text;
  return list.length > 1 ? list : (list[0] ?? '');
}

/**
 * The cost as a plain number, if it is one amount in the site's currency (`Free` is 0); otherwise unchanged.
 */
export function numericCost(cost: Cost, { symbol }: CostSettings = DEFAULTS.cost): Cost {
  if (typeof cost !== 'string') return cost;
  if (cost.toLowerCase() === FREE.toLowerCase()) return '0';
  const [part, ...more] = splitCost(cost.replace(symbol, '')).map(parsePart);
  const [amount, ...others] = part?.amounts ?? [];
  const isAmount = part?.symbol === '' && part.phrase === '' && part.label === '';
  return amount && isAmount && others.length + more.length === 0 ? amount.value : cost;
}

function parseList(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Serializes a cost: `cost` is for display, as escaped HTML; `cost_details` has the currency symbol that all
 * amounts share, its position, and the distinct values, lowest first. Unlike in The Events Calendar, a
 * thousands separator is part of its number, a zero is `Free` and a leading minus is a sign.
 */
export function serializeCost(stored: Cost, settings: CostSettings = DEFAULTS.cost): CostFields {
  const parts = splitCost(stored).map(parsePart);
  const amounts = distinct(parts.flatMap((part) => part.amounts));
  // Of one text with an amount, the parts without one are only words: `Free for members, 10 for others`.
  const isWording = typeof stored === 'string' && amounts.length > 0;
  const texts = isWording ? [] : parts.filter((part) => part.amounts.length === 0).map((part) => part.phrase);
  const labels = parts.filter((part) => part.label !== '').map((part) => part.label);
  const currency = sharedCurrency(parts);
  return {
    cost: escapeHtmlOnce(displayCost(parts, amounts, texts, labels, currency, settings)),
    cost_details: {
      currency_symbol: currency.symbol,
      currency_code: '',
      currency_position: currency.symbol === '' ? '' : currency.position,
      values: [...new Set([...[...texts, ...labels].map(slugOf), ...amounts.map((amount) => amount.value)])],
    },
  };
}

/** Splits a text that has a digit at the commas outside numbers. The texts of a list are the parts. */
function splitCost(stored: Cost): string[] {
  const texts = typeof stored === 'string' ? splitText(stored.slice(0, SHOWN_CHARACTERS)) : truncateList(stored);
  return texts.map(stripTags).filter((text) => text !== '');
}

const splitText = (text: string): string[] => (/\d/.test(text) ? splitAtCommas(text) : [text]);

/** The first texts of a list, up to the limit of characters. */
function truncateList(texts: string[]): string[] {
  let left = SHOWN_CHARACTERS;
  return texts.slice(0, SHOWN_CHARACTERS).flatMap((text) => {
    const shown = text.slice(0, left);
    left -= shown.length;
    return shown === '' ? [] : [shown];
  });
}

function splitAtCommas(text: string): string[] {
  const inside = new Set<number>();
  for (const match of text.matchAll(NUMBER)) {
    const comma = match[0].indexOf(',');
    for (let at = comma; at >= 0; at = match[0].indexOf(',', at + 1)) inside.add(match.index + at);
  }
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    if (inside.has(at)) continue;
    parts.push(text.slice(from, at));
    from = at + 1;
  }
  return [...parts, text.slice(from)];
}

function parsePart(text: string): Part {
  const numbers = [...text.matchAll(NUMBER)];
  const amounts = numbers.map((match) => ({ shown: match[0], value: plainNumber(match[0]) }));
  const part: Part = { amounts, symbol: '', position: '', label: '', phrase: '' };
  const [first] = numbers;
  const [amount] = amounts;
  if (!first || !amount) return { ...part, phrase: text };
  let before = text.slice(0, first.index).trim();
  const unsigned = withoutDashes(before);
  if (unsigned !== before && /^\p{Sc}*$/u.test(unsigned)) {
    before = unsigned;
    if (Number(amount.value) !== 0) amount.value = `-${amount.value}`;
  }
  if (numbers.length > 1) return part;
  const after = text
    .slice(first.index + first[0].length)
    .replace(/^[.,]+(?=\s|$)/, '')
    .trim();
  const label = isDash(before.at(-1)) ? before.slice(0, -1).trimEnd() : '';
  if (label !== '' && !isDash(label.at(-1))) return { ...part, label };
  if (before !== '' && after !== '') {
    // In `$10 per person` only a Unicode currency sign is taken for the symbol. The text is shown as written.
    const currencySign = /^\p{Sc}$/u;
    if (currencySign.test(before)) return { ...part, symbol: before, position: 'prefix', phrase: text };
    if (currencySign.test(after)) return { ...part, symbol: after, position: 'postfix', phrase: text };
    return { ...part, phrase: text };
  }
  if (before !== '') return { ...part, symbol: before, position: 'prefix' };
  return after === '' ? part : { ...part, symbol: after, position: 'postfix' };
}

const isDash = (character: string | undefined): boolean => character !== undefined && DASHES.includes(character);

/** Removes one dash at the start and one at the end, with the spaces next to them. */
function withoutDashes(text: string): string {
  const from = isDash(text[0]) ? 1 : 0;
  const to = text.length > from && isDash(text.at(-1)) ? text.length - 1 : text.length;
  return text.slice(from, to).trim();
}

/** Converts `1,000.50`, `1.000,50` and `10,50` to plain decimals. */
function plainNumber(shown: string): string {
  const comma = shown.lastIndexOf(',');
  const point = shown.lastIndexOf('.');
  if (comma > point && point >= 0) return shown.replaceAll('.', '').replace(',', '.');
  if (comma >= 0 && (point > comma || /^[1-9]\d{0,2}(?:,\d{3})+$/.test(shown))) return shown.replaceAll(',', '');
  if (/^[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(shown)) return shown.replaceAll('.', '');
  return shown.replace(',', '.');
}

function distinct(amounts: Amount[]): Amount[] {
  const byValue = new Map<string, Amount>();
  for (const amount of amounts) if (!byValue.has(amount.value)) byValue.set(amount.value, amount);
  return [...byValue.values()].sort((a, b) => Number(a.value) - Number(b.value));
}

function sharedCurrency(parts: Part[]): { symbol: string; position: '' | 'prefix' | 'postfix' } {
  const priced = parts.filter((part) => part.amounts.length > 0);
  const [first] = priced;
  const isShared = first && priced.every((part) => part.amounts.length === 1 && part.symbol === first.symbol);
  return isShared ? { symbol: first.symbol, position: first.position } : { symbol: '', position: '' };
}

function displayCost(
  parts: Part[],
  amounts: Amount[],
  texts: string[],
  labels: string[],
  currency: { symbol: string; position: '' | 'prefix' | 'postfix' },
  settings: CostSettings,
): string {
  const [lowest] = amounts;
  const highest = amounts.at(-1);
  if (!lowest || !highest) return [...new Set(texts)].join(', ');
  const [only] = parts;
  if (parts.length === 1 && only && only.phrase !== '') return only.phrase;
  const { symbol, position } = currency.symbol === '' ? settings : currency;
  const shown = [lowest, highest].map((amount) => {
    if (Number(amount.value) === 0) return FREE;
    const sign = amount.value.startsWith('-') ? '-' : '';
    return position === 'postfix' ? `${sign}${amount.shown}${symbol}` : `${sign}${symbol}${amount.shown}`;
  });
  return [...new Set([...labels, ...shown])].join(RANGE);
}
