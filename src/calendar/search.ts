// What a search text means: the words that must occur and those that must not, as WordPress splits it (interface-behaviour 3.2).

import type { SearchWord } from '../replica/filters.ts';

/** WordPress's default stop words (`get_search_stopwords`). */
const STOP_WORDS = new Set(
  'about an are as at be by com for from how in is it of on or that the this to was what when where who will with www a'.split(
    ' ',
  ),
);
const MAX_WORDS = 9;
const PIECES = /"([^"]*)"|[^\s",+]+/g;

/** A lone Latin letter or dash says nothing when another word is there. */
const weak = (word: string): boolean => /^[a-z]$/i.test(word) || word === '-' || STOP_WORDS.has(word.toLowerCase());

/** Venues and organizers: `@` is no part of a word either, so that a domain finds its addresses (observed: `@b.example` finds `a@www.b.example`). */
export const linkedSearchWords = (text: string): SearchWord[] => searchWords(text.replaceAll('@', ' '));

/** @returns no words at all when the text is blank: everything matches. */
export function searchWords(text: string): SearchWord[] {
  const whole = text.trim();
  if (whole === '') return [];
  const words: SearchWord[] = [];
  for (const [piece, quoted] of whole.matchAll(PIECES)) {
    if (quoted !== undefined) {
      if (quoted.trim() !== '') words.push({ text: quoted.trim(), not: false });
    } else if (piece.startsWith('-') && piece.length > 1) {
      words.push({ text: piece.slice(1), not: true });
    } else if (!weak(piece)) {
      words.push({ text: piece, not: false });
    }
  }
  if (words.length === 0 || words.length > MAX_WORDS) return [{ text: whole, not: false }];
  return words;
}
