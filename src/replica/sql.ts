// Pieces of SQL with their values, and the conditions that several lists share.

import type { Value } from './database.ts';
import type { PageWindow, SearchWord, Visibility } from './filters.ts';
import { fold } from './fold.ts';

export interface Fragment {
  sql: string;
  values: Value[];
}

/** A piece with a value for each `?` in it. `sql` is the program's own text, never anybody's input. */
export const piece = (sql: string, ...values: Value[]): Fragment => ({ sql, values });

/** Fragments one after the other. */
export function join(fragments: Fragment[], separator: string): Fragment {
  let sql = '';
  const values: Value[] = [];
  for (const fragment of fragments) {
    sql = sql === '' ? fragment.sql : sql + separator + fragment.sql;
    for (const value of fragment.values) values.push(value);
  }
  return { sql, values };
}

/** All conditions at once; always true when there are none. */
export function every(conditions: Fragment[]): Fragment {
  return conditions.length === 0 ? piece('1') : join(conditions, ' AND ');
}

/** `(?, ?, ?)`, filled up to a power of two with the last value so that few shapes of a statement exist. An empty list holds nothing. */
export function listed(values: readonly Value[]): Fragment {
  if (values.length === 0) return piece('(NULL)');
  if (values.length > 16) return piece('(SELECT value FROM json_each(?))', JSON.stringify(values));
  const size = 2 ** Math.ceil(Math.log2(values.length));
  const filled = [...values, ...Array<Value>(size - values.length).fill(values.at(-1)!)];
  return { sql: `(${filled.map(() => '?').join(', ')})`, values: filled };
}

/** One status that somebody may see, and if only of their own posts, their user id. */
export interface Sight {
  status: string;
  author?: number;
}

/** Nobody's user id is 0: posts without an author are not an anonymous caller's own. */
export function sights({ others, own, userId }: Visibility): Sight[] {
  const seen = new Set(others);
  const mine = userId > 0 ? [...new Set(own)].filter((status) => !seen.has(status)) : [];
  return [...[...seen].map((status) => ({ status })), ...mine.map((status) => ({ status, author: userId }))];
}

/** The same as one condition on the row `alias`. */
export function visible(visibility: Visibility, alias: string): Fragment {
  const all = sights(visibility);
  const others = listed(all.filter(({ author }) => author === undefined).map(({ status }) => status));
  const own = listed(all.filter(({ author }) => author !== undefined).map(({ status }) => status));
  if (own.sql === '(NULL)') return piece(`${alias}.status IN ${others.sql}`, ...others.values);
  return piece(
    `(${alias}.status IN ${others.sql} OR ${alias}.status IN ${own.sql} AND ${alias}.author = ?)`,
    ...[...others.values, ...own.values, visibility.userId],
  );
}

/** A text of many repeats takes `GLOB` its length times that of the pattern. */
const MAX_PATTERN = 8;

/**
 * Each word, folded, occurs (or does not) in a column of folded text. `GLOB` minds case, and is several times faster than `instr`, but
 * not with a long pattern: it looks for the beginning of a long word, and `instr` for the whole where that is found.
 */
export function containsWords(words: readonly SearchWord[], column: string): Fragment[] {
  return words.map(({ text, not }) => {
    const word = fold(text);
    const letters = [...word];
    const pattern = `*${letters.slice(0, MAX_PATTERN).join('').replace(/[[*?]/g, '[$&]')}*`;
    const negation = not ? 'NOT ' : '';
    if (letters.length <= MAX_PATTERN) return piece(`${column} ${negation}GLOB ?`, pattern);
    return piece(`${negation}(${column} GLOB ? AND instr(${column}, ?) > 0)`, pattern, word);
  });
}

/** The part of a list that is asked for, as the end of a statement. */
export const pageOf = ({ limit, offset }: PageWindow): Fragment => piece('LIMIT ? OFFSET ?', limit, offset);
