// One SQLite connection as the replica uses it: prepared statements, transactions, and errors as `ReplicaError`.

import type { DatabaseSync, SQLInputValue as SqlValue, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { toReplicaError } from '../data-files.ts';
import { ReplicaError } from '../errors.ts';
import { type Sql, toStatement } from './sql.ts';

/**
 * What lists and responses read: the public records (`Database`), or also one caller's (`CallerDatabase`). For a
 * caller every table name of a statement means "public, but for these ids, and theirs" (`readingAsCaller` in sql.ts).
 */
export interface VisibleRecords {
  /** Grows with every change of what it shows, and never decreases. */
  readonly version: number;
  /** The attached database with the caller's records, such as `caller1`: the text index has public records alone. */
  readonly callerSchema?: string | undefined;
  all<T>(query: Sql): T[];
  /** The first column of every row, which must hold numbers. */
  numbers(query: Sql): number[];
  /** The number of a statement such as `SELECT count(*) ...`; of public records remembered until they change. */
  cachedCount(query: Sql): number;
  /** Parses a value that was stored as JSON. Throws `ReplicaError` (`damaged`) if it is not. */
  parse<T>(json: string): T;
}

/** Lists have few forms; the limit only guards against a caller who invents ever new ones. */
const MAX_STATEMENTS = 400;
/** Totals are remembered up to this many characters of their statements: one filter may name thousands of venues. */
const MAX_COUNTS_CHARACTERS = 2_000_000;

export class Database implements VisibleRecords {
  version = 0;
  readonly #connection: DatabaseSync;
  readonly #onDamage: (reason: string) => void;
  readonly #statements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });
  readonly #counts = new LRUCache<string, number>({
    maxSize: MAX_COUNTS_CHARACTERS,
    sizeCalculation: (_count, statement) => statement.length,
  });
  #isDamaged = false;

  /** @param onDamage called once, when a call notices that the file is damaged; must not throw */
  constructor(connection: DatabaseSync, onDamage: (reason: string) => void = () => undefined) {
    this.#connection = connection;
    this.#onDamage = onDamage;
  }

  /** The records have changed: what was counted and rendered of them is outdated. */
  changed(): void {
    this.version += 1;
    this.#counts.clear();
  }

  #guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      const failure = toReplicaError(error);
      if (failure instanceof ReplicaError && failure.reason === 'damaged' && !this.#isDamaged) {
        this.#isDamaged = true;
        this.#onDamage(failure.message);
      }
      throw failure;
    }
  }

  /** @param rows what the statement returns: objects, or arrays, which are cheaper */
  #prepare(text: string, rows: 'objects' | 'arrays' = 'objects'): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#connection.prepare(text);
      this.#statements.set(text, statement);
    }
    statement.setReturnArrays(rows === 'arrays');
    return statement;
  }

  all<T>(query: Sql): T[] {
    const { text, values } = toStatement(query);
    return this.#guarded(() => this.#prepare(text).all(...values) as T[]);
  }

  get<T>(query: Sql): T | undefined {
    return this.all<T>(query)[0];
  }

  numbers(query: Sql): number[] {
    const { text, values } = toStatement(query);
    // The types do not know that a row is an array.
    const rows = this.#guarded(() => this.#prepare(text, 'arrays').all(...values) as unknown[]);
    return (rows as number[][]).map((row) => row[0]!);
  }

  number(query: Sql): number {
    return this.numbers(query)[0]!;
  }

  cachedCount(query: Sql): number {
    const { text, values } = toStatement(query);
    const key = JSON.stringify([text, values]);
    const count = this.#counts.get(key) ?? this.number(query);
    this.#counts.set(key, count);
    return count;
  }

  /** Returns how many rows the statement inserted, updated or deleted. */
  run(query: Sql): number {
    const { text, values } = toStatement(query);
    return Number(this.#guarded(() => this.#prepare(text).run(...values)).changes);
  }

  /** Runs statements of the program's own, such as those that create tables. */
  execute(statements: string): void {
    this.#guarded(() => this.#connection.exec(statements));
  }

  /** Inserts a row; the keys are the names of the columns. */
  insert(table: string, row: Readonly<Record<string, SqlValue>>, verb = 'INSERT'): void {
    const columns = Object.keys(row);
    const placeholders = columns.map(() => '?').join(', ');
    const text = `${verb} INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`;
    this.#guarded(() => this.#prepare(text).run(...Object.values(row)));
  }

  /** As `insert`, and replaces a row with the same key. */
  replace(table: string, row: Readonly<Record<string, SqlValue>>): void {
    this.insert(table, row, 'INSERT OR REPLACE');
  }

  parse<T>(json: string): T {
    return this.#guarded(() => {
      try {
        return JSON.parse(json) as T;
      } catch (error) {
        throw new ReplicaError('damaged', 'a record in the replica is not JSON', error);
      }
    });
  }

  /** Runs `body`, which must not wait, in a transaction: all of it or nothing. */
  transaction<T>(body: () => T): T {
    return this.#guarded(() => {
      this.#connection.exec('BEGIN IMMEDIATE');
      try {
        const result = body();
        this.#connection.exec('COMMIT');
        return result;
      } catch (error) {
        // On a full disk SQLite has rolled back itself.
        if (this.#connection.isOpen && this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
        throw error;
      }
    });
  }

  close(): void {
    if (this.#connection.isOpen) this.#connection.close();
  }
}
