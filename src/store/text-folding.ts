// Folds text for the replica's tables, so that plain comparison finds what people search for.

import { decodeEntities, textLines } from '../text/html.ts';
import { normalizeUnicode } from '../text/text.ts';

const LETTERS: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ł: 'l', ħ: 'h', ı: 'i', ς: 'σ' };

/**
 * Removes case and accents: `É` and `é` become `e`, `ß` becomes `ss`, `Ø` becomes `o`, full-width letters and
 * ligatures become plain letters. Texts and search words are folded the same way, so that a word matches as
 * a substring. Marks that are letters of their own (Indic vowels, kana) stay, as in MySQL's
 * `utf8mb4_unicode_520_ci`. NUL is removed, because SQLite ends some strings there.
 */
export function fold(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII text without NUL needs only lower case
  if (/^[\x01-\x7f]*$/.test(text)) return text.toLowerCase();
  const plain = normalizeUnicode(text, 'NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[\u0300-\u036f\0]/g, '')
    .replace(/[ßæœøđłħıς]/g, (letter) => LETTERS[letter] ?? letter);
  return normalizeUnicode(plain, 'NFC');
}

/** Sorts as MySQL's general collation does, which compares capitals: `_` comes after the letters. */
export function foldForSort(text: string): string {
  return fold(text).toUpperCase();
}

/** Folds a term's name as people write it: WordPress stores `Food &amp; Drink`. */
export function foldName(name: string): string {
  return fold(decodeEntities(name).trim());
}

/** Characters of a title that the order by title compares. */
const SORTED_CHARACTERS = 100;

/** Folds a title, which is HTML, for sorting. */
export function foldTitle(title: string): string {
  return foldForSort(textLines(title, SORTED_CHARACTERS).join(' '));
}
