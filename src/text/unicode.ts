// Unicode normalization in linear time.

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
