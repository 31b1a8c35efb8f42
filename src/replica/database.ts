// One SQLite database as the replica needs it: opened or begun anew, its statements prepared once, its transactions nested.

import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { ConfigError, ReplicaFailure } from '../errors.ts';
import { makePrivate, unusable } from './data-dir.ts';
import { APPLICATION_ID, META_TABLES, SCHEMA_VERSION, TABLES } from './schema.ts';

/** Another process has the file open; two gateways must not share one. */
export class ReplicaInUse extends ConfigError {
  constructor(file: string) {
    super(
      'dataDir (CALENDAR_DATA_DIR)',
      `${file} is in use by another process`,
      'Stop the other gateway, or give this one a data directory of its own.',
    );
    this.name = 'ReplicaInUse';
  }
}

export interface DatabaseOptions {
  /** Absent: a temporary database. */
  file?: string | undefined;
  identity: string;
  /** Why the file that is there must not be used: it is set aside unopened. */
  discard?: string | undefined;
  /** Told once, when a call finds that the file is damaged. Must not throw. */
  damaged?: ((reason: string) => void) | undefined;
}

export type Value = SQLInputValue;
export type Row = Record<string, null | number | string | Uint8Array>;

export interface Database {
  /** Why the file that was there is set aside; undefined when there was none or it is the one in use. */
  readonly setAside: string | undefined;
  /** Files and folders whose mode was made narrower. */
  readonly tightened: readonly string[];
  all<T = Row>(sql: string, ...values: Value[]): T[];
  get<T = Row>(sql: string, ...values: Value[]): T | undefined;
  /** The first column of every row, whole numbers: without an object for each row. */
  numbers(sql: string, ...values: Value[]): number[];
  /** Every column of whole numbers, without an object for each row; no columns where there are no rows. */
  columns(sql: string, ...values: Value[]): Float64Array[];
  run(sql: string, ...values: Value[]): void;
  /** A value that was written as JSON; what does not parse was damaged. */
  parse<T>(json: string): T;
  transaction<T>(body: () => T): T;
  /**
   * Whether a change waits for the disk (the beginning). While not, a killed process loses nothing, and a machine that goes down the whole
   * copy: it is begun anew.
   */
  setDurable(durable: boolean): void;
  integrityCheck(): string[];
  /** Throws `ReplicaFailure` when a change could not be written now. Writes a few pages to know it. */
  assertWritable(): void;
  /** `damaged`: the file is not marked as closed in good order. */
  close(damaged?: boolean): void;
}

/** Shapes of lists are few; the limit only guards against a caller who finds ever new ones. */
const STATEMENTS = 400;

/** Characters: more than a record takes with its rows in every table and in the word index. */
const PROBE = 64 * 1024;
/** After a change that found no room: as much as a batch of the sync may need. */
const LARGE_PROBE = 4 * 1024 * 1024;

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
  meta.run('public_version', '0');
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
  if (check !== 'ok') return `it is damaged: ${check}`;
  return db.prepare('SELECT value FROM state').all().every(isReadable)
    ? undefined
    : 'it is damaged: its state cannot be read';
}

/** The page check of SQLite does not see a letter that changed inside a value: what is read at every start is parsed here. */
function isReadable({ value }: Record<string, unknown>): boolean {
  if (!/^[[{"]/.test(String(value))) return true;
  try {
    JSON.parse(String(value));
    return true;
  } catch {
    return false;
  }
}

function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
}

const BUSY = 5;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

const FULL = 13;
/** Read-only, an I/O error, a full disk, a file that cannot be opened (SQLite, "Result and Error Codes"). */
const UNWRITABLE = [8, 10, FULL, 14];

const isDamage = (error: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(sqliteCode(error));

/** SQLite's errors as the gateway's; what is neither damage nor a disk that cannot be written is given back as it is. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ReplicaFailure) return error;
  if (isDamage(error)) return new ReplicaFailure('damaged', error.message, error);
  if (UNWRITABLE.includes(sqliteCode(error))) return new ReplicaFailure('unwritable', error.message, error);
  const isClosed = 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new ReplicaFailure('closed', 'the replica is being replaced', error) : error;
}

type Opened = { db: DatabaseSync; setAside: string | undefined; tightened: string[] };

function openFile(file: string, identity: string, discard: string | undefined): Opened {
  const tightened = makePrivate(file);
  let setAside = discard;
  if (existsSync(file) && setAside === undefined) {
    let old: DatabaseSync | undefined;
    try {
      old = begin(file, true);
      setAside = fault(old, identity);
      if (setAside === undefined) return { db: old, setAside, tightened };
    } catch (error) {
      if (sqliteCode(error) === BUSY) throw new ReplicaInUse(file);
      if (!isDamage(error)) throw unusable(file, error);
      setAside = `it is damaged: ${(error as Error).message}`;
    } finally {
      if (setAside !== undefined && old?.isOpen) old.close();
    }
  }
  try {
    // A write-ahead log without its database, or of the one set aside, would be played into the new one.
    for (const suffix of ['', '-wal', '-shm']) {
      rmSync(`${file}.aside${suffix}`, { force: true });
      if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.aside${suffix}`);
    }
    // SQLite would make the file with the mode that the process's umask leaves; the files beside it get the mode of this one.
    closeSync(openSync(file, 'wx', 0o600));
    const db = begin(file, true);
    create(db, identity);
    return { db, setAside, tightened };
  } catch (error) {
    throw unusable(file, error);
  }
}

/** Without a name SQLite keeps a database in its cache and spills to an unnamed file, which ends with it; memory only where no file can be made. */
function openTemporary(identity: string): Opened {
  let name = '';
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch {
    name = ':memory:';
  }
  const db = begin(name, false);
  create(db, identity);
  return { db, setAside: undefined, tightened: [] };
}

/**
 * Opens the copy in `file`, or begins one. A file that is damaged, of another version or of another identity is renamed to
 * `FILE.aside` (one is kept) and a new one begun. Throws `ConfigError` when the file cannot be had or written, `ReplicaInUse` among
 * them; calls of what it returns throw `ReplicaFailure`.
 */
export function openDatabase({ file, identity, discard, damaged }: DatabaseOptions): Database {
  const { db, setAside, tightened } = file === undefined ? openTemporary(identity) : openFile(file, identity, discard);
  const statements = new LRUCache<string, StatementSync>({ max: STATEMENTS });
  const arrays = new LRUCache<string, StatementSync>({ max: STATEMENTS });
  let depth = 0;
  let isDamaged = false;
  /** Something could not be written, and nothing large has been since. */
  let isFull = false;

  /** What every call throws. */
  function failed(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure instanceof ReplicaFailure && failure.reason === 'unwritable') isFull = true;
    if (failure instanceof ReplicaFailure && failure.reason === 'damaged' && !isDamaged) {
      isDamaged = true;
      damaged?.(failure.message);
    }
    return failure;
  }

  function guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw failed(error);
    }
  }

  function prepared(kept: LRUCache<string, StatementSync>, sql: string): StatementSync {
    let found = kept.get(sql);
    if (!found) {
      found = db.prepare(sql);
      found.setReturnArrays(kept === arrays);
      kept.set(sql, found);
    }
    return found;
  }

  const rowsOf = (sql: string, values: Value[]): number[][] =>
    guarded(() => prepared(arrays, sql).all(...values) as unknown as number[][]);

  function transaction<T>(body: () => T): T {
    const [open, keep, undo] =
      depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`];
    guarded(() => db.exec(open));
    depth += 1;
    try {
      const result = body();
      db.exec(keep);
      return result;
    } catch (error) {
      // A full disk may already have undone the transaction.
      if (db.isOpen && db.isTransaction) db.exec(undo);
      throw failed(error);
    } finally {
      depth -= 1;
    }
  }

  const run = (sql: string, ...values: Value[]): void => {
    guarded(() => prepared(statements, sql).run(...values));
  };
  try {
    run("UPDATE meta SET value = '0' WHERE key = 'clean'");
  } catch (error) {
    db.close();
    throw file === undefined ? error : unusable(file, error);
  }

  function setDurable(durable: boolean): void {
    const machine = machineRun();
    // Where no run of the machine can be told from another, every change waits for the disk.
    if (file === undefined || machine === '') return;
    guarded(() => {
      if (durable) {
        db.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(TRUNCATE);');
        run("DELETE FROM meta WHERE key = 'hasty'");
      } else {
        run("INSERT OR REPLACE INTO meta (key, value) VALUES ('hasty', ?)", machine);
        db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = OFF;');
      }
    });
  }

  return {
    setAside,
    tightened,
    setDurable,
    all: <T>(sql: string, ...values: Value[]) => guarded(() => prepared(statements, sql).all(...values) as T[]),
    get: <T>(sql: string, ...values: Value[]) =>
      guarded(() => prepared(statements, sql).get(...values) as T | undefined),
    numbers: (sql, ...values) => rowsOf(sql, values).map(([first]) => first!),
    columns: (sql, ...values) => {
      const rows = rowsOf(sql, values);
      return rows[0]?.map((_, at) => Float64Array.from(rows, (row) => row[at]!)) ?? [];
    },
    run,
    parse<T>(json: string) {
      try {
        return JSON.parse(json) as T;
      } catch (error) {
        throw failed(new ReplicaFailure('damaged', 'a record in the replica is no JSON', error));
      }
    },
    transaction,
    integrityCheck: () =>
      db
        .prepare('PRAGMA integrity_check')
        .all()
        .map((row) => String(row.integrity_check))
        .filter((line) => line !== 'ok'),
    assertWritable() {
      const probe = "INSERT OR REPLACE INTO state (key, value) VALUES ('probe', ?)";
      run(probe, 'x'.repeat(isFull ? LARGE_PROBE : PROBE));
      if (isFull) run("DELETE FROM state WHERE key = 'probe'");
      isFull = false;
    },
    close: (damaged = isDamaged) => {
      if (!db.isOpen) return;
      try {
        if (!damaged) run("UPDATE meta SET value = '1' WHERE key = 'clean'");
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
