// Composable SQL: the `sql` tag, the conditions that several lists share, and wall times as the tables have them.

import type { SQLInputValue as SqlValue } from 'node:sqlite';
import type { PostKind } from '../model/records.ts';
import { fold, type SearchWord } from '../text/text.ts';

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

/** SQL from the program's own text, such as a constant that a partial index needs to see: never from outside. */
export const raw = (text: string | number): Sql => ({ texts: [String(text)], parts: [] });

/** True if all conditions are; true without conditions. */
export const and = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('1') : conditions.reduce((all, each) => sql`${all} AND ${each}`);

/** The right side of `IN` for lists of any length. */
export const inJson = (values: readonly (number | string)[]): Sql =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

const CALLER_TABLES = ['event', 'event_link', 'event_text', 'linked_record', 'custom_value', 'post', 'image'];

/**
 * The statement for one caller whose unpublished records are in the attached database `schema`: each table name means
 * "the public rows, but for those with the ids of these records, and the rows of these". Example: the replica has event
 * 12 as published, and the CMS gave the caller a draft of this id: `event` then has the row of the draft alone.
 * Without `NOT MATERIALIZED`, SQLite would copy a table that a statement names twice.
 */
export function readingAsCaller(schema: string, statement: Sql): Sql {
  const tables = CALLER_TABLES.map((name) => {
    // Each row of the other tables has the id of a post.
    const own = `${schema}.${name === 'image' ? 'image' : 'post'}`;
    return `${name} AS NOT MATERIALIZED (
      SELECT * FROM main.${name} WHERE id NOT IN (SELECT id FROM ${own}) UNION ALL SELECT * FROM ${schema}.${name})`;
  });
  return sql`${raw(`WITH ${tables.join(', ')}`)} ${statement}`;
}

/** Converts `2027-03-12 10:00:00` to 20270312100000, which sorts as the text does. Missing digits count as 0. */
export const wallNumber = (wall: string): number => Number(wall.replace(/\D/g, '').slice(0, 14).padEnd(14, '0'));

/** Conditions that a column of folded text contains (or lacks) each word. */
export const containsWords = (words: readonly SearchWord[], column: string): Sql[] =>
  words.map(({ text, not }) => sql`instr(${raw(column)}, ${fold(text)}) ${raw(not ? '=' : '>')} 0`);

/** True for rows of `alias` (a table with the column `id`) whose custom fields have these values. */
export const hasCustomValues = (kind: PostKind, values: Readonly<Record<string, string>>, alias: 'e' | 'r'): Sql =>
  and(
    Object.entries(values).map(
      ([name, value]) => sql`${raw(alias)}.id IN (
        SELECT v.id FROM custom_value v WHERE v.kind = ${kind} AND v.name = ${name} AND v.value = ${value})`,
    ),
  );
