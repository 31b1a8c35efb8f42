// What a search text means: the words that must occur and those that must not, as WordPress splits it (interface-behaviour 3.2).

import type { SearchWord } from '../replica/filters.ts';

/** WordPress's default stop words (`get_search_stopwords`). */
const STOP_WORDS = new Set(
  'about an are as at be by com for from how in is it of on or that the this to was what when where who will with www a'.split(
    ' ',
  ),
);
const MAX_WORDS = 9;
/** A phrase ends with its quote or with the text. */
const PIECES = /"[^"]*(?:"|$)|[^\s",+]+/g;

/** A lone Latin letter or dash says nothing when another word is there. */
const weak = (word: string): boolean => /^[a-z]$/i.test(word) || word === '-' || STOP_WORDS.has(word.toLowerCase());

/** Venues and organizers: `@` is no part of a word either, so that a domain finds its addresses (observed: `@b.example` finds `a@www.b.example`). */
export const linkedSearchWords = (text: string): SearchWord[] => searchWords(text.replaceAll('@', ' '));

/** The quotes fall away, and apostrophes and blanks at the edges; a closed phrase keeps its blanks. */
const bare = (piece: string): string =>
  /^"[^"]+"$/.test(piece) ? piece.replace(/^["']+|["']+$/g, '') : piece.replace(/^["' ]+|["' ]+$/g, '');

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
