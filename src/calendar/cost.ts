/** Owns what a cost is: what is kept of one that was sent, and how it is shown (interface-behaviour 1.5). */

import { normalized } from '../text/normalize.ts';

/** A cost as kept: one text, or several as they were sent in a list. The empty text is no cost. */
export type Cost = string | string[];

/** The two keys of an event record that show its cost. */
export type CostAnswer = {
  cost: string;
  cost_details: { currency_symbol: string; currency_code: string; currency_position: string; values: string[] };
};

/** The site's currency sign and the side it stands on, for costs that name none. */
export type CostSettings = { symbol: string; position: 'prefix' | 'postfix' };

const DEFAULT_SETTINGS: CostSettings = { symbol: '$', position: 'prefix' };
const RANGE = ' – ';
/** The gateway shows the first characters of a longer cost, which only the CMS itself can hold. */
const SHOWN_CHARACTERS = 2000;
const DASHES = '-–—−';
// Thousands in groups of three (at most six groups, so that no text takes long to search); then decimals behind a point
// or comma, if no further group follows; then plain digits.
const NUMBER =
  /[1-9]\d{0,2}(?:,\d{3}){1,6}(?:\.\d+)?(?!\d|,\d)|[1-9]\d{0,2}(?:\.\d{3}){1,6},\d+(?!\d|[.,]\d)|[1-9]\d{0,2}(?:\.\d{3}){2,6}(?!\d|[.,]\d)|(?<!\d,)\d+[.,]\d+(?!\d|,\d)|(?<!\d)\.\d+|\d+/g;

type Amount = { shown: string; value: string };
type Element = {
  /** `value` is plain decimal text, `shown` is as written, without a sign. */
  amounts: Amount[];
  symbol: string;
  position: '' | 'prefix' | 'postfix';
  /** A text in front of a dash and the amount: `Free - 20`. */
  label: string;
  /** The whole text, when it says more than an amount and its currency. */
  phrase: string;
};

/**
 * What is kept of a `cost` that was sent, whatever its JSON type: text without tags and outer blanks, a number as text,
 * `true` as `1`, a list or object as the list of its values without empty ones (a single one as text).
 * `null`, `false`, and all that is empty give `''`, which means no cost. Zero is kept: it means free.
 */
export function normaliseCost(sent: unknown): Cost {
  const texts = costTexts(sent, 0).filter((text) => text !== '');
  return texts.length > 1 ? texts : (texts[0] ?? '');
}

// A list nested deeper than this is no cost anybody meant.
const DEEPEST = 5;

function costTexts(sent: unknown, depth: number): string[] {
  if (typeof sent === 'string') return [stripTags(sent)];
  if (typeof sent === 'number') return [String(sent)];
  if (sent === true) return ['1'];
  if (typeof sent !== 'object' || sent === null || depth > DEEPEST) return [];
  return Object.values(sent).flatMap((value) => costTexts(value, depth + 1));
}

function stripTags(text: string): string {
  return text.replace(/<[/!a-z][^<>]*>/gi, '').trim();
}

/** Writes a kept cost as the one text a CMS field holds: a list becomes JSON, a single text stays as it is. */
export function encodeCost(cost: Cost): string {
  if (typeof cost !== 'string') return cost.length === 0 ? '' : JSON.stringify(cost);
  // A text that would be taken for a list is wrapped into one.
  return listFrom(cost) ? JSON.stringify([cost]) : cost;
}

/** Reads what `encodeCost` wrote, and any text written in the CMS itself. */
export function decodeCost(text: string): Cost {
  const list = listFrom(text);
  if (!list) return text;
  return list.length > 1 ? list : (list[0] ?? '');
}

function listFrom(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Shows a kept cost (interface-behaviour 1.5): `cost` for people, HTML-escaped; in `cost_details` the currency sign all
 * amounts share, its side, and the distinct values, lowest first. Where the original's answer is an accident (departures,
 * costs) it says what was meant: thousands separators belong to their number, a zero is `Free`, a minus in front is a sign.
 */
export function costAnswer(stored: Cost, settings: CostSettings = DEFAULT_SETTINGS): CostAnswer {
  const elements = cutElements(stored).map(readElement);
  const amounts = distinct(elements.flatMap((element) => element.amounts));
  const texts = elements.filter((element) => element.amounts.length === 0).map((element) => element.phrase);
  const labels = elements.filter((element) => element.label !== '').map((element) => element.label);
  const currency = sharedCurrency(elements);
  return {
    cost: escapeHtml(shownCost(elements, amounts, texts, labels, currency, settings)),
    cost_details: {
      currency_symbol: currency.symbol,
      currency_code: '',
      currency_position: currency.symbol === '' ? '' : currency.position,
      values: [...new Set([...[...texts, ...labels].map(slugOf), ...amounts.map((amount) => amount.value)])],
    },
  };
}

/** A text with a digit is cut at the commas that are not inside a number; a list is taken as it is. */
function cutElements(stored: Cost): string[] {
  const texts = typeof stored === 'string' ? cutText(stored.slice(0, SHOWN_CHARACTERS)) : cutList(stored);
  return texts.map(stripTags).filter((text) => text !== '');
}

const cutText = (text: string): string[] => (/\d/.test(text) ? cutAtCommas(text) : [text]);

/** The first texts of a list, as many as may be shown. */
function cutList(texts: string[]): string[] {
  let left = SHOWN_CHARACTERS;
  return texts.slice(0, SHOWN_CHARACTERS).flatMap((text) => {
    const shown = text.slice(0, left);
    left -= shown.length;
    return shown === '' ? [] : [shown];
  });
}

function cutAtCommas(text: string): string[] {
  const inside = new Set<number>();
  for (const match of text.matchAll(NUMBER)) {
    const comma = match[0].indexOf(',');
    for (let at = comma; at >= 0; at = match[0].indexOf(',', at + 1)) inside.add(match.index + at);
  }
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(','); at >= 0; at = text.indexOf(',', at + 1)) {
    if (inside.has(at)) continue;
    pieces.push(text.slice(from, at));
    from = at + 1;
  }
  return [...pieces, text.slice(from)];
}

function readElement(text: string): Element {
  const numbers = [...text.matchAll(NUMBER)];
  const amounts = numbers.map((match) => ({ shown: match[0], value: plainNumber(match[0]) }));
  const element: Element = { amounts, symbol: '', position: '', label: '', phrase: '' };
  const [first] = numbers;
  const [amount] = amounts;
  if (!first || !amount) return { ...element, phrase: text };
  let before = text.slice(0, first.index).trim();
  const signed = withoutDashes(before);
  if (signed !== before && /^\p{Sc}*$/u.test(signed)) {
    before = signed;
    if (Number(amount.value) !== 0) amount.value = `-${amount.value}`;
  }
  if (numbers.length > 1) return element;
  const after = text
    .slice(first.index + first[0].length)
    .replace(/^[.,]+(?=\s|$)/, '')
    .trim();
  const label = isDash(before.at(-1)) ? before.slice(0, -1).trimEnd() : '';
  if (label !== '' && !isDash(label.at(-1))) return { ...element, label };
  if (before !== '' && after !== '') {
    // Of `$10 per person` only a currency sign can be the symbol; the rest is shown as written.
    const sign = /^\p{Sc}$/u;
    if (sign.test(before)) return { ...element, symbol: before, position: 'prefix', phrase: text };
    if (sign.test(after)) return { ...element, symbol: after, position: 'postfix', phrase: text };
    return { ...element, phrase: text };
  }
  if (before !== '') return { ...element, symbol: before, position: 'prefix' };
  return after === '' ? element : { ...element, symbol: after, position: 'postfix' };
}

const isDash = (sign: string | undefined): boolean => sign !== undefined && DASHES.includes(sign);

/** Without one dash in front and one behind, and the blanks inside of them. */
function withoutDashes(text: string): string {
  const from = isDash(text[0]) ? 1 : 0;
  const to = text.length > from && isDash(text.at(-1)) ? text.length - 1 : text.length;
  return text.slice(from, to).trim();
}

/** `1,000.50`, `1.000,50` and `10,50` as plain decimals; digits stay as they are. */
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

function sharedCurrency(elements: Element[]): { symbol: string; position: '' | 'prefix' | 'postfix' } {
  const priced = elements.filter((element) => element.amounts.length > 0);
  const [first] = priced;
  const shared = first && priced.every((element) => element.amounts.length === 1 && element.symbol === first.symbol);
  return shared ? { symbol: first.symbol, position: first.position } : { symbol: '', position: '' };
}

function shownCost(
  elements: Element[],
  amounts: Amount[],
  texts: string[],
  labels: string[],
  currency: { symbol: string; position: '' | 'prefix' | 'postfix' },
  settings: CostSettings,
): string {
  const [lowest] = amounts;
  const highest = amounts.at(-1);
  if (!lowest || !highest) return [...new Set(texts)].join(', ');
  const [only] = elements;
  if (elements.length === 1 && only && only.phrase !== '') return only.phrase;
  const { symbol, position } = currency.symbol === '' ? settings : currency;
  const shown = [lowest, highest].map((amount) => {
    if (Number(amount.value) === 0) return 'Free';
    const sign = amount.value.startsWith('-') ? '-' : '';
    return position === 'postfix' ? `${sign}${amount.shown}${symbol}` : `${sign}${symbol}${amount.shown}`;
  });
  return [...new Set([...labels, ...shown])].join(RANGE);
}

/** The slug form of a text, as the CMS makes it: no accents, no apostrophes, dashes between words. */
function slugOf(text: string): string {
  const plain = normalized(normalized(text, 'NFD').replace(/\p{M}/gu, ''), 'NFC').toLowerCase();
  const words = plain.replace(/[./\s\-–—]+/g, '-').replace(/[^\p{L}\p{N}_-]/gu, '');
  return encodeURI(words.replace(/-+/g, '-').replace(/^-|-$/g, '')).toLowerCase();
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
