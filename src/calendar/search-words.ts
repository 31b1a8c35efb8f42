// Parses a search into words and phrases, as the original does: for events otherwise than for venues and organizers.

import { invalidParam } from '../interface/errors.ts';
import { isSoughtInTexts } from '../store/list-events.ts';
import { type SearchWord, trimCharacters } from '../text/text.ts';

/** WordPress's default stop words (`get_search_stopwords`). */
const STOP_WORDS = new Set(
  `about an are as at be by com for from how in is it of on or that the this to was what when where who will with
  www a`.split(/\s+/),
);
const MAX_WORDS = 9;
/** Words of one or two letters, and excluded ones of over 24: no index has them. Each costs 10 ms at 5,000 events. */
const MAX_UNINDEXED = 3;
/** The limit of a replica query. WordPress has none. */
const MAX_LINKED_WORDS = 40;
/** A phrase ends with its closing quote or at the end of the text. */
const WORDS_AND_PHRASES = /"[^"]*(?:"|$)|[^\s",+]+/g;

/** A search ignores such a word beside other words. */
const isStopWord = (word: string): boolean =>
  /^[a-z]$/i.test(word) || word === '-' || STOP_WORDS.has(word.toLowerCase());

/**
 * Parses a search text for venues and organizers. Every run of letters, digits and hyphens must occur, so `@b.example`
 * finds `a@www.b.example`, and `-b` finds `a-b`. There are no stop words, phrases or exclusions.
 */
export function linkedSearchWords(text: string): SearchWord[] {
  const words = new Set(text.split(/[^\p{L}\p{M}\p{N}-]+/u).filter((word) => word !== ''));
  const whole = text.trim();
  if (words.size === 0) return whole === '' ? [] : [{ text: whole, not: false }];
  return [...words].slice(0, MAX_LINKED_WORDS).map((word) => ({ text: word, not: false }));
}

const soughtOrNot = (text: string): SearchWord =>
  text.startsWith('-') ? { text: text.slice(1), not: true } : { text, not: false };

/** Removes quotes, apostrophes and spaces at both ends. A phrase with a closing quote keeps its spaces. */
const unquote = (part: string): string => trimCharacters(part, /^"[^"]+"$/.test(part) ? `"'` : `"' `);

/**
 * Parses a search text for events.
 *
 *   jazz -rock in the park    jazz, park, and not rock
 *   "folk night" "-rock"      the phrase `folk night`, and not rock
 *   ten words or more         the whole text as a phrase
 *   of the                    the same: it has stop words alone
 *   - a                       the same, and it begins with a hyphen: what lacks ` a`
 *   -                         nothing: every event has the blank text behind the hyphen
 * @returns no words for a blank text, which matches everything
 * @throws ApiError 400 for many words that no index has
 */
export function searchWords(text: string): SearchWord[] {
  const whole = text.trim();
  if (whole === '') return [];
  const words: SearchWord[] = [];
  for (const [part] of whole.matchAll(WORDS_AND_PHRASES)) {
    const word = unquote(part);
    if (word === '' || isStopWord(word)) continue;
    words.push(soughtOrNot(word));
  }
  if (words.length === 0 || words.length > MAX_WORDS) return [soughtOrNot(whole)];
  if (words.filter(isSoughtInTexts).length > MAX_UNINDEXED)
    throw invalidParam('search', `At most ${MAX_UNINDEXED} words may have 1 or 2 letters, or be excluded and long.`);
  return words;
}
