// The replica: the local SQLite copy of what the CMS shows to everybody. The other files here read and change it.

import { LRUCache } from 'lru-cache';
import type { KindOrImage } from '../model/records.ts';
import { ChangeJournal } from './change-journal.ts';
import { ChangeBatch, type ChangeSet } from './changes.ts';
import { Database } from './database.ts';
import { openFile, openTemporary } from './database-file.ts';
import { getRecord } from './records.ts';
import { setState } from './state.ts';

/** A record's public JSON. */
export interface RenderedRecord {
  /** UTF-8 JSON. */
  bytes: Uint8Array;
  etag: string;
  /** Of the record itself, such as `event-12`, and of the records in it. */
  cacheTags: readonly [string, ...string[]];
}

/** The memory of a rendered record besides its bytes. */
const RENDERED_BYTES = 1600;

interface ReplicaOptions {
  /** Its directory is created if it is missing. Absent: a temporary database that ends with the process. */
  file?: string | undefined;
  /** Site, mapping, as whom the sync reads, and the id map. A file of another identity is quarantined. */
  identity: string;
  /** Memory for rendered records, 32 MiB by default. */
  renderedBytes?: number;
  /** Why the existing file must not be used: it is quarantined unopened. */
  quarantine?: string | undefined;
  /** Called once, when a call finds the file damaged. Calls may fail until the replica is closed and replaced. */
  onDamage?: (reason: string) => void;
  /** Called after a change outside of the initial sync, with the records and images that changed. */
  onChanged?: ((records: readonly { kind: KindOrImage; id: number }[]) => void) | undefined;
  /** The clock that says when a change of a term was noticed. */
  nowMs?: () => number;
}

/** Calls throw `ReplicaError`: `unwritable` if the disk is full (the change is rolled back), or `damaged`. */
export class Replica {
  readonly db: Database;
  /** Why the file that was there was quarantined (renamed to `FILE.quarantined`); undefined if it was not. */
  readonly quarantined: string | undefined;
  /** What changed in the public lists. The initial sync makes its positions unknown. */
  readonly journal: ChangeJournal;
  /** Emptied by each change, because an event shows names, images and counts of other records. */
  readonly rendered: LRUCache<string, RenderedRecord>;
  /** Creates with an idempotency key that run now: kept here, because they outlive an application that is replaced. */
  readonly runningCreates = new Set<string>();
  readonly #options: ReplicaOptions;
  #isInitialSync = false;

  /**
   * Opens the replica, or creates it.
   * @throws ConfigError if the file cannot be opened or written, or if another process has it open
   */
  constructor(options: ReplicaOptions) {
    const { file, identity, quarantine, onDamage, renderedBytes = 32 * 1024 * 1024 } = options;
    const opened = file === undefined ? openTemporary(identity) : openFile(file, identity, quarantine);
    this.quarantined = opened.quarantined;
    this.#options = options;
    this.db = new Database(opened.connection, onDamage);
    this.journal = new ChangeJournal(this.db);
    this.rendered = new LRUCache({
      maxSize: renderedBytes,
      sizeCalculation: ({ bytes }) => bytes.byteLength + RENDERED_BYTES,
    });
  }

  get version(): number {
    return this.db.version;
  }

  /** Applies changes in one transaction. Returns how many records and images changed: if none, the version stays. */
  apply({ upserts = [], images = [], deletes = [], withheld = [], sourceRows = [], state = {} }: ChangeSet): number {
    const { nowMs = Date.now, onChanged } = this.#options;
    const batch = new ChangeBatch(this.db, this.#isInitialSync ? undefined : this.journal, nowMs);
    this.db.transaction(() => {
      for (const image of images) batch.upsertImage(image);
      for (const record of upserts) batch.upsert(record);
      for (const { kind, ids, trashed } of deletes) for (const id of ids) batch.delete(kind, id, trashed?.has(id));
      for (const { kind, id } of withheld) batch.withhold(kind, id);
      for (const row of sourceRows) batch.setSourceRow(row);
      for (const [key, value] of Object.entries(state)) setState(this.db, key, value);
      if (batch.changed.length > 0) this.journal.prune();
    });
    if (batch.changed.length === 0) return 0;
    this.clearRendered();
    if (!this.#isInitialSync) onChanged?.(batch.changed);
    return batch.changed.length;
  }

  /** Another gateway names records: notes as deleted those that neither this file nor the journal has. */
  noteGone(records: readonly { kind: KindOrImage; id: number }[]): void {
    if (this.#isInitialSync) return;
    this.db.transaction(() => {
      for (const { kind, id } of records)
        if (kind !== 'image' && !getRecord(this.db, kind, id)) this.journal.addGone(kind, id);
      this.journal.prune();
    });
  }

  /** Until `endInitialSync`, changes have no entries in the journal. */
  beginInitialSync(): void {
    this.#isInitialSync = true;
  }

  endInitialSync(): void {
    if (this.#isInitialSync) this.db.transaction(() => this.journal.reset());
    this.#isInitialSync = false;
  }

  /** A record has changed, or what every record shows, such as the site's time zone. */
  clearRendered(): void {
    this.rendered.clear();
    // Cached responses hold what was rendered.
    this.db.changed();
  }

  close(): void {
    this.db.close();
  }
}
