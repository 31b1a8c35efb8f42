// What a search text means: the words that must occur and those that must not, as WordPress splits it (interface-behaviour 3.2, 3.5).

import type { SearchWord } from '../replica/filters.ts';
import { trimmed } from '../text/trim.ts';

/** WordPress's default stop words (`get_search_stopwords`). */
const STOP_WORDS = new Set(
  'about an are as at be by com for from how in is it of on or that the this to was what when where who will with www a'.split(
    ' ',
  ),
);
const MAX_WORDS = 9;
/** What a query of the copy can take; the original has no limit. */
const MAX_LINKED_WORDS = 40;
/** A phrase ends with its quote or with the text. */
const PIECES = /"[^"]*(?:"|$)|[^\s",+]+/g;

/** A lone Latin letter or dash says nothing when another word is there. */
const weak = (word: string): boolean => /^[a-z]$/i.test(word) || word === '-' || STOP_WORDS.has(word.toLowerCase());

/**
 * Venues and organizers are searched another way: the text is cut at everything that is neither letter nor digit, and each
 * piece must occur (observed: `@b.example` finds `a@www.b.example`); no stop words, no phrases, nothing excluded.
 */
export function linkedSearchWords(text: string): SearchWord[] {
  const pieces = new Set(text.split(/[^\p{L}\p{M}\p{N}_]+/u).filter((piece) => piece !== ''));
  const whole = text.trim();
  if (pieces.size === 0) return whole === '' ? [] : [{ text: whole, not: false }];
  return [...pieces].slice(0, MAX_LINKED_WORDS).map((piece) => ({ text: piece, not: false }));
}

/** The quotes fall away, and apostrophes and blanks at the edges; a closed phrase keeps its blanks. */
const bare = (piece: string): string => trimmed(piece, /^"[^"]+"$/.test(piece) ? `"'` : `"' `);

/**
 * A dash in front excludes, also inside quotes; stop words are dropped, also quoted.
 * @returns no words at all when the text is blank: everything matches.
 */
export function searchWords(text: string): SearchWord[] {
  const whole = text.trim();
  if (whole === '') return [];
  const words: SearchWord[] = [];
  for (const [piece] of whole.matchAll(PIECES)) {
    const word = bare(piece);
    if (word === '' || weak(word)) continue;
    const not = word.startsWith('-');
    words.push({ text: not ? word.slice(1) : word, not });
  }
  if (words.length === 0 || words.length > MAX_WORDS) return [{ text: whole, not: false }];
  return words;
}
