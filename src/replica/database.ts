// One SQLite database as the replica needs it: opened or begun anew, its statements prepared once, its transactions nested.

import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { APPLICATION_ID, META_TABLES, SCHEMA_VERSION, TABLES } from './schema.ts';

/** Another process has the file open; two gateways must not share one. */
export class ReplicaInUse extends Error {
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`The copy ${file} is in use by another process.`, { cause });
    this.name = 'ReplicaInUse';
    this.file = file;
  }
}

export type Value = SQLInputValue;
export type Row = Record<string, null | number | string | Uint8Array>;

export interface Database {
  /** Why the file that was there is set aside; undefined when there was none or it is the one in use. */
  readonly setAside: string | undefined;
  all<T = Row>(sql: string, ...values: Value[]): T[];
  get<T = Row>(sql: string, ...values: Value[]): T | undefined;
  /** The first column of every row, whole numbers: without an object for each row. */
  numbers(sql: string, ...values: Value[]): number[];
  /** Every column of whole numbers, without an object for each row; no columns where there are no rows. */
  columns(sql: string, ...values: Value[]): Float64Array[];
  run(sql: string, ...values: Value[]): void;
  transaction<T>(body: () => T): T;
  /**
   * Whether a change waits for the disk (the beginning). While not, a killed process loses nothing, and a machine that goes down the whole
   * copy: it is begun anew.
   */
  setDurable(durable: boolean): void;
  /** Empties every table but `meta`. */
  clear(): void;
  integrityCheck(): string[];
  close(): void;
}

/** Shapes of lists are few; the limit only guards against a caller who finds ever new ones. */
const STATEMENTS = 400;

/** Pages kept in memory, KiB. The rest is the operating system's page cache, which is not the process's: four times as much makes no list faster. */
const CACHE_KIB = 2 * 1024;

/** Files up to this size are checked whole at every start, larger ones only after a crash: 300 MB take about a second. */
const CHECK_ALWAYS_BYTES = 32 * 1024 * 1024;

/** Names the present run of the machine; empty where nothing does. */
function machineRun(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function begin(file: string, durable: boolean): DatabaseSync {
  const db = new DatabaseSync(file);
  try {
    if (durable) db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    else db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;');
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA journal_size_limit = 67108864;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function create(db: DatabaseSync, identity: string): void {
  db.exec(`BEGIN IMMEDIATE; ${META_TABLES} ${TABLES}`);
  const meta = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
  meta.run('identity', identity);
  meta.run('version', '0');
  meta.run('longest_s', '0');
  meta.run('clean', '0');
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
}

function pragma(db: DatabaseSync, name: string): number | string {
  return Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number | string;
}

/** Why this database is no copy of this site; undefined when it is. */
function fault(db: DatabaseSync, identity: string): string | undefined {
  if (pragma(db, 'application_id') !== APPLICATION_ID) return 'it is no copy';
  if (pragma(db, 'user_version') !== SCHEMA_VERSION) return 'its tables are of another version';
  const meta = new Map(
    db
      .prepare('SELECT key, value FROM meta')
      .all()
      .map((row) => [row.key, row.value]),
  );
  if (meta.get('identity') !== identity) return 'it is of another site or mapping';
  const hasty = meta.get('hasty') ?? '';
  if (hasty !== '' && hasty !== machineRun()) return 'the machine went down before it was safe on the disk';
  const bytes = Number(pragma(db, 'page_count')) * Number(pragma(db, 'page_size'));
  if (meta.get('clean') === '1' && bytes > CHECK_ALWAYS_BYTES) return undefined;
  const check = pragma(db, 'quick_check(1)');
  return check === 'ok' ? undefined : `it is damaged: ${check}`;
}

function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
}

const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Whether an error of any call says that the file is damaged: the copy has to be begun anew. */
export function isDamage(error: unknown): boolean {
  return [CORRUPT, NOT_A_DATABASE].includes(sqliteCode(error));
}

function openFile(file: string, identity: string): { db: DatabaseSync; setAside: string | undefined } {
  mkdirSync(dirname(file), { recursive: true });
  let setAside: string | undefined;
  if (existsSync(file)) {
    let old: DatabaseSync | undefined;
    try {
      old = begin(file, true);
      setAside = fault(old, identity);
      if (setAside === undefined) return { db: old, setAside };
    } catch (error) {
      if (sqliteCode(error) === BUSY) throw new ReplicaInUse(file, error);
      if (!isDamage(error)) throw error;
      setAside = `it is damaged: ${(error as Error).message}`;
    } finally {
      if (setAside !== undefined && old?.isOpen) old.close();
    }
  }
  // A write-ahead log without its database, or of the one set aside, would be played into the new one.
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(`${file}.aside${suffix}`, { force: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.aside${suffix}`);
  }
  const db = begin(file, true);
  create(db, identity);
  return { db, setAside };
}

/** Without a name SQLite keeps a database in its cache and spills to an unnamed file, which ends with it; memory only where no file can be made. */
function openTemporary(identity: string): { db: DatabaseSync; setAside: undefined } {
  let name = '';
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch {
    name = ':memory:';
  }
  const db = begin(name, false);
  create(db, identity);
  return { db, setAside: undefined };
}

/**
 * Opens the copy in `file`, or begins one. A file that is damaged, of another version or of another identity is renamed to
 * `FILE.aside` (one is kept) and a new one begun. Throws `ReplicaInUse`, and what the file system says when it cannot be written.
 */
export function openDatabase(file: string | undefined, identity: string): Database {
  const { db, setAside } = file === undefined ? openTemporary(identity) : openFile(file, identity);
  const statements = new LRUCache<string, StatementSync>({ max: STATEMENTS });
  const arrays = new LRUCache<string, StatementSync>({ max: STATEMENTS });
  let depth = 0;

  function statement(sql: string): StatementSync {
    let found = statements.get(sql);
    if (!found) {
      found = db.prepare(sql);
      statements.set(sql, found);
    }
    return found;
  }

  function rowsOf(sql: string, values: Value[]): number[][] {
    let found = arrays.get(sql);
    if (!found) {
      found = db.prepare(sql);
      found.setReturnArrays(true);
      arrays.set(sql, found);
    }
    return found.all(...values) as unknown as number[][];
  }

  function transaction<T>(body: () => T): T {
    const [open, keep, undo] =
      depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`];
    db.exec(open);
    depth += 1;
    try {
      const result = body();
      db.exec(keep);
      return result;
    } catch (error) {
      // A full disk may already have undone the transaction.
      if (db.isTransaction) db.exec(undo);
      throw error;
    } finally {
      depth -= 1;
    }
  }

  const run = (sql: string, ...values: Value[]) => {
    statement(sql).run(...values);
  };
  run("UPDATE meta SET value = '0' WHERE key = 'clean'");

  function setDurable(durable: boolean): void {
    const machine = machineRun();
    // Where no run of the machine can be told from another, every change waits for the disk.
    if (file === undefined || machine === '') return;
    if (durable) {
      db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(TRUNCATE);');
      run("DELETE FROM meta WHERE key = 'hasty'");
    } else {
      run("INSERT OR REPLACE INTO meta (key, value) VALUES ('hasty', ?)", machine);
      db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF;');
    }
  }

  return {
    setAside,
    setDurable,
    all: <T>(sql: string, ...values: Value[]) => statement(sql).all(...values) as T[],
    get: <T>(sql: string, ...values: Value[]) => statement(sql).get(...values) as T | undefined,
    numbers: (sql, ...values) => rowsOf(sql, values).map(([first]) => first!),
    columns: (sql, ...values) => {
      const rows = rowsOf(sql, values);
      return rows[0]?.map((_, at) => Float64Array.from(rows, (row) => row[at]!)) ?? [];
    },
    run,
    transaction,
    clear: () =>
      transaction(() => {
        const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE %'").all();
        for (const { name } of names) {
          if (name === 'meta' || name === 'state' || /^event_words_/.test(String(name))) continue;
          db.exec(`DROP TABLE IF EXISTS ${name}`);
        }
        db.exec(`${TABLES} DELETE FROM state; UPDATE meta SET value = '0' WHERE key = 'longest_s';`);
      }),
    integrityCheck: () =>
      db
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => String(row.integrity_check))
        .filter((line) => line !== 'ok'),
    close: () => {
      if (!db.isOpen) return;
      try {
        run("UPDATE meta SET value = '1' WHERE key = 'clean'");
      } catch {
        // On a full disk: without the mark the next start checks the file, and no more.
      } finally {
        statements.clear();
        arrays.clear();
        db.close();
      }
    },
  };
}
