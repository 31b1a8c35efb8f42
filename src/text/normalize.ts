// Unicode normalisation whose time grows with the length of a text and no faster.

/** Characters that are, or begin when decomposed with, a mark that may change places with its neighbours. */
const MARKS = /[\p{M}\uff9e\uff9f]+/gu;
const MOST_MARKS = 30;

/**
 * A text in a normalisation form. Sorting the marks of one letter takes the square of their number, so of more than 30 in a row the
 * first 30 stay: no language writes more (UAX #15, 13, Stream-Safe Text Format).
 */
export const normalized = (text: string, form: 'NFC' | 'NFD' | 'NFKD'): string =>
  text.replace(MARKS, firstMarks).normalize(form);

/** A mark is one or two UTF-16 units. */
const firstMarks = (run: string): string =>
  run.length <= MOST_MARKS ? run : [...run.slice(0, MOST_MARKS * 2)].slice(0, MOST_MARKS).join('');
