// One SQLite connection as the replica uses it: prepared statements, nested transactions, and errors as
// `ReplicaError`.

import type { StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { ReplicaError } from '../errors.ts';
import { dataDirError } from './data-dir.ts';
import { bootId, type OpenedFile, openFile, openTemporary, toReplicaError } from './database-file.ts';
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

export interface Database extends Readonly<Omit<OpenedFile, 'connection'>> {
  all<T = Row>(query: Sql): T[];
  get<T = Row>(query: Sql): T | undefined;
  /** The first column of every row, which must hold numbers. */
  numbers(query: Sql): number[];
  run(query: Sql): void;
  /** Inserts a row; the keys are the names of the columns. */
  insert(table: string, row: Readonly<Record<string, SqlValue>>): void;
  /** As `insert`, and replaces a row with the same key. */
  replace(table: string, row: Readonly<Record<string, SqlValue>>): void;
  /** A fact about the file itself, such as the version of its contents; undefined if it has none of this name. */
  meta(key: string): string | undefined;
  /** Undefined deletes it. */
  setMeta(key: string, value: string | undefined): void;
  /**
   * Parses a value that was stored as JSON. Throws `ReplicaError` (`damaged`) if it is not, or lacks one of these
   * properties.
   */
  parse<T>(json: string, properties?: readonly string[]): T;
  /**
   * Runs `body` in a transaction, or in a savepoint of the open one. All or nothing; `body` must not wait.
   */
  transaction<T>(body: () => T): T;
  /**
   * Starts or ends a bulk load, in which transactions are committed in groups and do not wait for the disk. A
   * failed transaction rolls back its group; the next transaction then fails too, so that every caller learns
   * of it. A killed process loses the last group, and after a crash of the machine the file is quarantined.
   */
  setBulkLoad(isOn: boolean): void;
  /** Commits the open group of a bulk load. */
  flush(): void;
  integrityCheck(): string[];
  /** Throws `ReplicaError` if a change could not be written now. Writes a few pages to find out. */
  assertWritable(): void;
  /** `damaged`: leaves the file marked as not closed properly. */
  close(damaged?: boolean): void;
}

/** Lists have few forms; the limit only guards against a caller who invents ever new ones. */
const MAX_STATEMENTS = 400;

/**
 * The transactions of a bulk load within this time are committed together, because they change the same pages.
 */
const GROUP_MS = 1000;

/**
 * A bulk load changes pages all over the file. A rollback journal writes each of them once: a write-ahead log
 * would write it a second time at a checkpoint, and block the event loop meanwhile. Each change of the mode makes
 * the file durable, because `synchronous` is on at that moment.
 */
const BULK_LOAD_MODE = 'PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF;';
const NORMAL_MODE = 'PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL;';

/** More than a record takes in all tables and in the full-text index. */
const PROBE_CHARS = 64 * 1024;
/** After a change that could not be written: as much as one batch of the sync may take. */
const LARGE_PROBE_CHARS = 4 * 1024 * 1024;

/**
 * Opens the replica's database in `file`, or creates it (see `openFile`, also for the errors). Calls throw
 * `ReplicaError`.
 */
export function openDatabase({ file, identity, quarantine, onDamage, onRollback }: DatabaseOptions): Database {
  const opened = file === undefined ? openTemporary(identity) : openFile(file, identity, quarantine);
  const { connection, quarantined, restrictedPaths } = opened;
  const statements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });
  /** Their rows are arrays: cheaper than objects. */
  const arrayStatements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS });
  let depth = 0;
  let isBulkLoad = false;
  let groupTimer: NodeJS.Timeout | undefined;
  /**
   * Why a group was rolled back after some of its transactions had succeeded. The next transaction or `flush` throws
   * and forgets it.
   */
  let lostGroup: unknown;
  let isDamaged = false;
  /** Something could not be written, and nothing large has been written since. */
  let isFull = false;

  /** Converts an error, and remembers what it says about the file. */
  function toFailure(error: unknown): unknown {
    const failure = toReplicaError(error);
    if (failure instanceof ReplicaError && failure.reason === 'unwritable') isFull = true;
    if (failure instanceof ReplicaError && failure.reason === 'damaged' && !isDamaged) {
      isDamaged = true;
      onDamage?.(failure.message);
    }
    return failure;
  }

  function guarded<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw toFailure(error);
    }
  }

  function prepare(text: string, cache = statements): StatementSync {
    let statement = cache.get(text);
    if (!statement) {
      statement = connection.prepare(text);
      statement.setReturnArrays(cache === arrayStatements);
      cache.set(text, statement);
    }
    return statement;
  }

  const runText = (text: string, values: readonly SqlValue[]): void => {
    guarded(() => prepare(text).run(...values));
  };
  const run = (query: Sql): void => {
    const { text, values } = toStatement(query);
    runText(text, values);
  };

  function insertInto(verb: string, table: string, row: Readonly<Record<string, SqlValue>>): void {
    const columns = Object.keys(row);
    const placeholders = columns.map(() => '?').join(', ');
    runText(`${verb} INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`, Object.values(row));
  }

  function execute(statements: string): void {
    guarded(() => connection.exec(statements));
  }

  /**
   * Runs `body` and then `commit`. If either fails, runs `rollback`, unless SQLite has rolled back itself, as
   * on a full disk.
   */
  function atomically<T>(body: () => T, commit: string, rollback: string): T {
    depth += 1;
    try {
      const result = body();
      connection.exec(commit);
      return result;
    } catch (error) {
      if (connection.isOpen && connection.isTransaction) connection.exec(rollback);
      onRollback();
      throw toFailure(error);
    } finally {
      depth -= 1;
    }
  }

  function transaction<T>(body: () => T): T {
    if (depth > 0) {
      const name = `s${depth}`;
      execute(`SAVEPOINT ${name}`);
      return atomically(body, `RELEASE ${name}`, `ROLLBACK TO ${name}; RELEASE ${name}`);
    }
    if (isBulkLoad) return groupedTransaction(body);
    execute('BEGIN IMMEDIATE');
    return atomically(body, 'COMMIT', 'ROLLBACK');
  }

  /** Without a savepoint, which would double the time: SQLite would copy every page before it changes. */
  function groupedTransaction<T>(body: () => T): T {
    throwLostGroup();
    const isFirst = !connection.isTransaction;
    if (isFirst) beginGroup();
    try {
      return atomically(body, '', 'ROLLBACK');
    } catch (error) {
      if (!isFirst) lostGroup = error;
      throw error;
    }
  }

  function beginGroup(): void {
    execute('BEGIN IMMEDIATE');
    groupTimer = setTimeout(() => {
      try {
        flush();
      } catch (error) {
        lostGroup = error;
      }
    }, GROUP_MS);
    groupTimer.unref();
  }

  function flush(): void {
    clearTimeout(groupTimer);
    throwLostGroup();
    if (depth > 0 || !connection.isOpen || !connection.isTransaction) return;
    atomically(() => undefined, 'COMMIT', 'ROLLBACK');
  }

  function throwLostGroup(): void {
    const error = lostGroup;
    lostGroup = undefined;
    if (error !== undefined) throw error;
  }

  function get<T>(query: Sql): T | undefined {
    const { text, values } = toStatement(query);
    return guarded(() => prepare(text).get(...values) as T | undefined);
  }

  const replace = (table: string, row: Readonly<Record<string, SqlValue>>): void =>
    insertInto('INSERT OR REPLACE', table, row);

  function setMeta(key: string, value: string | undefined): void {
    if (value === undefined) run(sql`DELETE FROM meta WHERE key = ${key}`);
    else replace('meta', { key, value });
  }

  try {
    setMeta('clean', '0');
  } catch (error) {
    connection.close();
    throw file === undefined ? error : dataDirError(file, error);
  }

  function setBulkLoad(isOn: boolean): void {
    // The caller of `setBulkLoad(true)` reads what is stored, without the lost group, and continues from there.
    if (isOn) lostGroup = undefined;
    flush();
    isBulkLoad = isOn;
    const boot = bootId();
    // Without a boot id, a crash of the machine could not be noticed: every group waits for the disk.
    if (file === undefined || boot === '') return;
    if (isOn) {
      setMeta('unflushed_boot_id', boot);
      execute(BULK_LOAD_MODE);
    } else {
      execute(NORMAL_MODE);
      setMeta('unflushed_boot_id', undefined);
    }
  }

  return {
    quarantined,
    restrictedPaths,
    all<T>(query: Sql) {
      const { text, values } = toStatement(query);
      return guarded(() => prepare(text).all(...values) as T[]);
    },
    get,
    numbers(query) {
      const { text, values } = toStatement(query);
      // A row is an array, which the types do not know.
      const rows = guarded(() => prepare(text, arrayStatements).all(...values) as unknown[] as number[][]);
      return rows.map((row) => row[0]!);
    },
    run,
    insert: (table, row) => insertInto('INSERT', table, row),
    replace,
    meta: (key) => get<{ value: string }>(sql`SELECT value FROM meta WHERE key = ${key}`)?.value,
    setMeta,
    parse<T>(json: string, properties: readonly string[] = []) {
      let value: T;
      try {
        value = JSON.parse(json) as T;
      } catch (error) {
        throw toFailure(new ReplicaError('damaged', 'a record in the replica is not JSON', error));
      }
      for (const property of properties)
        if (!Object.hasOwn(value as object, property))
          throw toFailure(new ReplicaError('damaged', `a record in the replica lacks "${property}"`));
      return value;
    },
    transaction,
    setBulkLoad,
    flush,
    integrityCheck: () =>
      connection
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => String(row.integrity_check))
        .filter((line) => line !== 'ok'),
    assertWritable() {
      const probe = 'x'.repeat(isFull ? LARGE_PROBE_CHARS : PROBE_CHARS);
      run(sql`INSERT OR REPLACE INTO state (key, value) VALUES ('probe', ${probe})`);
      if (isFull) run(sql`DELETE FROM state WHERE key = 'probe'`);
      flush();
      isFull = false;
    },
    close(damaged = isDamaged) {
      if (!connection.isOpen) return;
      try {
        flush();
        if (!damaged) setMeta('clean', '1');
      } catch {
        // The disk is full. The next start finds no mark and checks the file.
      } finally {
        statements.clear();
        arrayStatements.clear();
        connection.close();
      }
    },
  };
}
