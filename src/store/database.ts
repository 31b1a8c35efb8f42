// One SQLite connection as the replica uses it: prepared statements, transactions, and errors as `ReplicaError`.

import type { StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { ReplicaError } from '../errors.ts';
import { dataDirError } from './data-dir.ts';
import { type OpenedFile, openFile, openTemporary, toReplicaError } from './database-file.ts';
import { type Sql, type SqlValue, sql, toStatement } from './sql.ts';

export interface DatabaseOptions {
  /** Absent: a temporary database. */
  file?: string | undefined;
  /** As in `ReplicaOptions`: a file of another identity is quarantined. */
  identity: string;
  /** Why the existing file must not be used: it is quarantined unopened. */
  quarantine?: string | undefined;
  /** Called once, when a call notices that the file is damaged. Must not throw. */
  onDamage?: ((reason: string) => void) | undefined;
  /** Called after every rollback. Must not throw. */
  onRollback: () => void;
}

export type Row = Record<string, null | number | string | Uint8Array>;

/** The totals of lists, by their statements, as long as the replica does not change. */
export interface Totals {
  get(statement: string): number | undefined;
  set(statement: string, total: number): unknown;
}

/** Lists have few forms; the limit only guards against a caller who invents ever new ones. */
const MAX_STATEMENTS = 400;

/** Opens the file, or creates it (see `openFile`, also for the errors). Calls throw `ReplicaError`. */
export class Database {
  readonly quarantined: string | undefined;
  readonly restrictedPaths: readonly string[];
  readonly #connection: OpenedFile['connection'];
  readonly #options: DatabaseOptions;
  readonly #statements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });
  /** Their rows are arrays: cheaper than objects. */
  readonly #arrayStatements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });
  #isInTransaction = false;
  #isDamaged = false;

  constructor(options: DatabaseOptions) {
    const { file, identity, quarantine } = options;
    const opened = file === undefined ? openTemporary(identity) : openFile(file, identity, quarantine);
    this.quarantined = opened.quarantined;
    this.restrictedPaths = opened.restrictedPaths;
    this.#connection = opened.connection;
    this.#options = options;
    try {
      this.setMeta('clean', '0');
    } catch (error) {
      this.#connection.close();
      throw file === undefined ? error : dataDirError(file, error);
    }
  }

  /** Converts an error, and reports once that the file is damaged. */
  #toFailure(error: unknown): unknown {
    const failure = toReplicaError(error);
    if (failure instanceof ReplicaError && failure.reason === 'damaged' && !this.#isDamaged) {
      this.#isDamaged = true;
      this.#options.onDamage?.(failure.message);
    }
    return failure;
  }

  #guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  #prepare(text: string, cache = this.#statements): StatementSync {
    let statement = cache.get(text);
    if (!statement) {
      statement = this.#connection.prepare(text);
      statement.setReturnArrays(cache === this.#arrayStatements);
      cache.set(text, statement);
    }
    return statement;
  }

  all<T = Row>(query: Sql): T[] {
    const { text, values } = toStatement(query);
    return this.#guarded(() => this.#prepare(text).all(...values) as T[]);
  }

  get<T = Row>(query: Sql): T | undefined {
    const { text, values } = toStatement(query);
    return this.#guarded(() => this.#prepare(text).get(...values) as T | undefined);
  }

  /** The first column of every row, which must hold numbers. */
  numbers(query: Sql): number[] {
    const { text, values } = toStatement(query);
    // A row is an array, which the types do not know.
    const rows = this.#guarded(() => this.#prepare(text, this.#arrayStatements).all(...values) as unknown[]);
    return (rows as number[][]).map((row) => row[0]!);
  }

  /** The number that the statement returns, from `known` if it is there. */
  countOnce(known: Totals, query: Sql): number {
    const { text, values } = toStatement(query);
    const key = JSON.stringify([text, values]);
    const count = known.get(key) ?? this.numbers(query)[0]!;
    known.set(key, count);
    return count;
  }

  run(query: Sql): void {
    const { text, values } = toStatement(query);
    this.#guarded(() => this.#prepare(text).run(...values));
  }

  /** Runs statements of the program's own, such as those that create tables. */
  execute(statements: string): void {
    this.#guarded(() => this.#connection.exec(statements));
  }

  #insertInto(verb: string, table: string, row: Readonly<Record<string, SqlValue>>): void {
    const columns = Object.keys(row);
    const placeholders = columns.map(() => '?').join(', ');
    const text = `${verb} INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`;
    this.#guarded(() => this.#prepare(text).run(...Object.values(row)));
  }

  /** Inserts a row; the keys are the names of the columns. */
  insert(table: string, row: Readonly<Record<string, SqlValue>>): void {
    this.#insertInto('INSERT', table, row);
  }

  /** As `insert`, and replaces a row with the same key. */
  replace(table: string, row: Readonly<Record<string, SqlValue>>): void {
    this.#insertInto('INSERT OR REPLACE', table, row);
  }

  /** A fact about the file itself, such as the version of its contents; undefined if it has none of this name. */
  meta(key: string): string | undefined {
    return this.get<{ value: string }>(sql`SELECT value FROM meta WHERE key = ${key}`)?.value;
  }

  setMeta(key: string, value: string): void {
    this.replace('meta', { key, value });
  }

  /**
   * Parses a value that was stored as JSON. Throws `ReplicaError` (`damaged`) if it is not, or lacks one of these
   * properties.
   */
  parse<T>(json: string, properties: readonly string[] = []): T {
    let value: T;
    try {
      value = JSON.parse(json) as T;
    } catch (error) {
      throw this.#toFailure(new ReplicaError('damaged', 'a record in the replica is not JSON', error));
    }
    for (const property of properties)
      if (!Object.hasOwn(value as object, property))
        throw this.#toFailure(new ReplicaError('damaged', `a record in the replica lacks "${property}"`));
    return value;
  }

  /** Runs `body` in a transaction, or as a part of the open one. All or nothing; `body` must not wait. */
  transaction<T>(body: () => T): T {
    if (this.#isInTransaction) return body();
    this.execute('BEGIN IMMEDIATE');
    this.#isInTransaction = true;
    try {
      const result = body();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      // On a full disk SQLite has rolled back itself.
      if (this.#connection.isOpen && this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      this.#options.onRollback();
      throw this.#toFailure(error);
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** What SQLite finds wrong with the file; empty if nothing. Reads the whole file. */
  integrityCheck(): string[] {
    const rows = this.#connection.prepare('PRAGMA integrity_check').all();
    return rows.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok');
  }

  close(): void {
    if (!this.#connection.isOpen) return;
    try {
      // A damaged file stays marked as not closed properly.
      if (!this.#isDamaged) this.setMeta('clean', '1');
    } catch {
      // The disk is full. The next start finds no mark and checks the file.
    } finally {
      this.#statements.clear();
      this.#arrayStatements.clear();
      this.#connection.close();
    }
  }
}
