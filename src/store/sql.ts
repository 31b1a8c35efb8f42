// Composable SQL: the `sql` tag, and the conditions that several lists share.

import type { SQLInputValue } from 'node:sqlite';
import type { PostKind } from '../model/records.ts';
import { fold } from '../text/text.ts';
import type { PageWindow, SearchWord, Visibility } from './filters.ts';

export type SqlValue = SQLInputValue;

/**
 * A piece of SQL: texts, and between each two of them a value or another piece. `toStatement` joins all pieces of a
 * statement at once, because each list builds dozens of them.
 */
export interface Sql {
  readonly texts: readonly string[];
  /** One fewer than texts. */
  readonly parts: readonly (SqlValue | Sql)[];
}

/** Builds SQL: an interpolated value becomes a placeholder, interpolated SQL is inserted. */
export const sql = (texts: TemplateStringsArray, ...parts: readonly (SqlValue | Sql)[]): Sql => ({ texts, parts });

const isSql = (part: SqlValue | Sql): part is Sql => typeof part === 'object' && part !== null && 'texts' in part;

/** The text of a statement, and one value for each `?` in it. */
export function toStatement(query: Sql): { text: string; values: SqlValue[] } {
  let text = '';
  const values: SqlValue[] = [];
  function append({ texts, parts }: Sql): void {
    text += texts[0]!;
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index]!;
      if (isSql(part)) append(part);
      else {
        text += '?';
        values.push(part);
      }
      text += texts[index + 1]!;
    }
  }
  append(query);
  return { text, values };
}

/**
 * SQL from the program's own text, such as a name or a constant that a partial index needs to see. Never pass
 * input from outside: it would be executed.
 */
export const raw = (text: string | number): Sql => ({ texts: [String(text)], parts: [] });

/** `(part, part)`: the parts between `start` and `end`. */
function joined(parts: readonly (SqlValue | Sql)[], separator: string, start = '', end = ''): Sql {
  if (parts.length === 0) return raw(start + end);
  const texts = [start];
  for (let index = 1; index < parts.length; index += 1) texts.push(separator);
  texts.push(end);
  return { texts, parts };
}

/** Joins pieces of SQL. */
export const joinSql = (pieces: readonly Sql[], separator: string): Sql => joined(pieces, separator);

/** True if all conditions are; true without conditions. */
export const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('1') : joinSql(conditions, ' AND ');

/** True if one of the conditions is; in parentheses. */
export const or = (conditions: readonly Sql[]): Sql => sql`(${joinSql(conditions, ' OR ')})`;

/** Above this length a list is passed as one JSON value. */
const MAX_PLACEHOLDERS = 16;

/**
 * The right side of `IN`. Short lists become placeholders, padded with the last value to a power of two: few
 * different statements have to be prepared. An empty list matches nothing.
 */
export function inList(values: readonly (number | string)[]): Sql {
  const last = values.at(-1);
  if (last === undefined) return raw('(NULL)');
  if (values.length > MAX_PLACEHOLDERS) return inJson(values);
  const size = 2 ** Math.ceil(Math.log2(values.length));
  const padded = [...values, ...Array<number | string>(size - values.length).fill(last)];
  return joined(padded, ', ', '(', ')');
}

/** The right side of `IN` for lists of any length. */
export const inJson = (values: readonly (number | string)[]): Sql =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** A status whose posts an actor may see: all of them, or only those of this author. */
export interface StatusScope {
  status: string;
  author?: number;
}

/** The statuses of a visibility, each once. The user id 0 is anonymous and owns no posts. */
export function statusScopes({ anyAuthor, ownOnly, userId }: Visibility): StatusScope[] {
  const ofAll = [...new Set(anyAuthor)];
  const ofOwn = userId > 0 ? [...new Set(ownOnly)].filter((status) => !ofAll.includes(status)) : [];
  return [...ofAll.map((status) => ({ status })), ...ofOwn.map((status) => ({ status, author: userId }))];
}

/** True for rows of `alias` (a table with the columns `status` and `author`) that the visibility covers. */
export function isVisible(visibility: Visibility, alias: string): Sql {
  const row = raw(alias);
  const scopes = statusScopes(visibility);
  const ofAll = inList(scopes.filter(({ author }) => author === undefined).map(({ status }) => status));
  const ofOwn = scopes.filter(({ author }) => author !== undefined).map(({ status }) => status);
  if (ofOwn.length === 0) return sql`${row}.status IN ${ofAll}`;
  const own = sql`${row}.status IN ${inList(ofOwn)} AND ${row}.author = ${visibility.userId}`;
  return sql`(${row}.status IN ${ofAll} OR ${own})`;
}

/**
 * Longer patterns are slow: on repetitive text `GLOB` takes time proportional to text length times pattern
 * length.
 */
const MAX_GLOB_LETTERS = 8;

/**
 * Conditions that a column of folded text contains (or lacks) each word. `GLOB` is several times faster than
 * `instr`, except with long patterns: for a long word it tests the first letters, and `instr` then tests the
 * whole word.
 */
export function containsWords(words: readonly SearchWord[], column: string): Sql[] {
  return words.map(({ text, not }) => {
    const word = fold(text);
    const letters = [...word];
    const glob = `*${letters.slice(0, MAX_GLOB_LETTERS).join('').replace(/[[*?]/g, '[$&]')}*`;
    const start = sql`${raw(column)} GLOB ${glob}`;
    const contains =
      letters.length <= MAX_GLOB_LETTERS ? start : sql`(${start} AND instr(${raw(column)}, ${word}) > 0)`;
    return not ? sql`NOT ${contains}` : contains;
  });
}

/**
 * The end of a statement that returns one page. SQLite plans for the value of a lone `LIMIT ?`, and therefore
 * compiles the statement again in each execution; a sum spares that.
 */
export const limitOffset = ({ limit, offset }: PageWindow): Sql => sql`LIMIT 0 + ${limit} OFFSET ${offset}`;

/** True for rows of `alias` (a table with the column `id`) whose custom fields have these values. */
export const hasCustomValues = (kind: PostKind, values: Readonly<Record<string, string>>, alias: 'e' | 'r'): Sql =>
  and(
    Object.entries(values).map(
      ([name, value]) => sql`${raw(alias)}.id IN (
        SELECT v.id FROM custom_value v WHERE v.kind = ${kind} AND v.name = ${name} AND v.value = ${value})`,
    ),
  );
