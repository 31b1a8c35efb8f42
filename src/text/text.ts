// Plain texts, in linear time: trims, cuts, normalizes and folds them; makes slugs and web addresses; words to search.

/**
 * Removes leading and trailing characters that occur in `characters`, each a single UTF-16 code unit. A regular
 * expression such as `x+$` would need quadratic time.
 */
export function trimCharacters(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text[start]!)) start += 1;
  return trimCharactersEnd(text.slice(start), characters);
}

/** Removes trailing characters that occur in `characters`, each a single UTF-16 code unit. */
export function trimCharactersEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** At most this many UTF-16 code units, and no half of a character that has two. */
export const cutText = (text: string, maxLength: number): string =>
  text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');

/** Longer tags at the end of a cut text are not looked for: `Doors < 18:00` has a `<` that begins none. */
const MAX_TAG = 4000;

/** HTML of at most this length. A longer one ends with `…`, and not within a tag or a character. */
export function cutHtml(html: string, maxLength: number): string {
  if (html.length <= maxLength) return html;
  const kept = cutText(html, maxLength - 1);
  const tag = kept.lastIndexOf('<');
  const isInTag = tag > kept.lastIndexOf('>') && tag > kept.length - MAX_TAG;
  return `${isInTag ? kept.slice(0, tag) : kept}…`;
}

/** The characters of all texts in a value, and one for each other value. What is nested deeper counts as one. */
export function charactersOf(value: unknown, depth = 4): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || depth === 0) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + charactersOf(inner, depth - 1), 0);
}

/** Combining marks, and characters that decompose to one (the half-width Katakana voiced sound marks). */
const MARKS = /[\p{M}\uff9e\uff9f]+/gu;
const MAX_MARKS = 30;

/**
 * Normalizes a text, and keeps only the first 30 of more marks in a row: sorting the marks of one letter
 * takes quadratic time, and no language writes more than 30 (UAX #15, section 13, Stream-Safe Text Format).
 */
export const normalizeUnicode = (text: string, form: 'NFC' | 'NFD' | 'NFKD'): string =>
  text.replace(MARKS, truncateMarks).normalize(form);

/** A mark has one or two UTF-16 code units. */
const truncateMarks = (marks: string): string =>
  marks.length <= MAX_MARKS ? marks : [...marks.slice(0, MAX_MARKS * 2)].slice(0, MAX_MARKS).join('');

const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ħ: 'h', ı: 'i', ς: 'σ' };

/**
 * Removes case and accents: `É` and `é` become `e`, `ß` becomes `ss`, `Ø` becomes `o`, full-width letters and ligatures
 * become plain letters. So the replica folds texts and search words. Marks that are letters of their own (Indic vowels,
 * kana) stay, as in MySQL's `utf8mb4_unicode_520_ci`. NUL goes, because SQLite ends some strings there.
 */
export function fold(text: string): string {
  const plain = normalizeUnicode(text, 'NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    // Marks again: `İ` becomes `i` and a mark.
    .replace(/[\u0300-\u036f\0]/g, '')
    .replace(/[ßæœøđłħıς]/g, (letter) => LETTERS[letter] ?? letter);
  return normalizeUnicode(plain, 'NFC');
}

/** Sorts as MySQL's general collation does, which compares capitals: `_` comes after the letters. */
export const foldForSort = (text: string): string => fold(text).toUpperCase();

/**
 * Slugs with the same key are the same slug. WordPress stores `f%c3%bcr`; a filter of a site may decode it, and Payload
 * has `für`. The key of both is `f%c3%bcr`: a `%` that is encoded again (`f%25c3%25bcr`) is undone.
 */
export const slugKey = (slug: string): string =>
  encodeURIComponent(slug.toWellFormed().toLowerCase()).toLowerCase().replaceAll('%25', '%');

/** The text without percent-encoding. A text whose encoding is malformed stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address if it is one of the web, otherwise undefined: the CMS may have `javascript:` or a text. */
export function webAddress(text: unknown): string | undefined {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined;
}

/** The absolute address of a link or picture on a page at `base`; empty for none. */
export const absoluteUrl = (url: unknown, base?: string): string =>
  typeof url === 'string' && URL.canParse(url, base) ? new URL(url, base).href : '';

export type PostalAddress = Partial<Record<'address' | 'zip' | 'city' | 'stateprovince' | 'country', string>>;

/** `40 Quay Street, Gullhaven, ME 04599, United States`; without a state or province: `Am Markt 1, 54539 Ürzig`. */
export function postalAddress({ address, zip, city, stateprovince, country }: PostalAddress): string {
  const joined = (parts: (string | undefined)[], separator: string) => parts.filter(Boolean).join(separator);
  const town = stateprovince ? joined([city, joined([stateprovince, zip], ' ')], ', ') : joined([zip, city], ' ');
  return joined([address, town, country], ', ');
}

/** The slug of a text: `Rock &amp; Roll: Café d'Été` gives `rock-roll-cafe-dete`. Letters may be of any alphabet. */
export function slugOf(text: string): string {
  const plain = normalizeUnicode(normalizeUnicode(text, 'NFD').replace(/\p{M}/gu, ''), 'NFC').toLowerCase();
  const words = plain
    .replace(/&[^\s;&]+;/g, '')
    .replace(/[./\s\-–—]+/g, '-')
    .replace(/[^\p{L}\p{N}_-]/gu, '');
  return encodeURI(words.replace(/-+/g, '-').replace(/^-|-$/g, '')).toLowerCase();
}

/** A word or phrase that a text must (or must not) contain, ignoring case and accents. `%` is an ordinary character. */
export interface SearchWord {
  text: string;
  not: boolean;
}
