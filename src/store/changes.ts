// Changes of the replica: writes and deletes public records, and journals each change.

import { isDeepStrictEqual } from 'node:util';
import {
  type CalendarRecord,
  type ImageRecord,
  isOccurrenceId,
  isTermKind,
  isTermRecord,
  type KindOrImage,
  occurrenceIdRange,
  type PostKind,
  type PostRecord,
  type TermRecord,
} from '../model/records.ts';
import { foldName } from '../text/html.ts';
import { fold, foldForSort, slugKey } from '../text/text.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { type ChangeJournal, cancelledBy, changeBetween } from './change-journal.ts';
import type { Database } from './database.ts';
import { deletePost, insertPost, PUBLIC } from './post-rows.ts';
import { getImage, getRecord, postsWithImage } from './records.ts';
import { deleteSourceRow, insertSourceRow, type SourceRow, sourceRow } from './source-events.ts';
import { sql, wallNumber } from './sql.ts';

/** What the sync stores in one transaction. */
export interface ChangeSet {
  upserts?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  /** `trashed`: those of the events that were seen in the trash. */
  deletes?: readonly { kind: KindOrImage; ids: readonly number[]; trashed?: ReadonlySet<number> }[];
  /** Records that no list shows until they are read again. */
  withheld?: readonly { kind: PostKind; id: number }[];
  sourceRows?: readonly SourceChange[];
  state?: Readonly<Record<string, string>>;
}

/** What a source says of an event. `eventJson: null`: the source has the event no more. */
type SourceChange = SourceRow | { source: string; key: string; eventJson: null };

/**
 * A batch of changes inside one transaction. What becomes of a public event, and its entry in the journal:
 *
 *   call                 the event is stored      it is withheld           it is neither
 *   `upsert`             stored: `updated`        stored: `updated`        stored: `created`
 *   `delete`             deleted: `deleted`       deleted: `deleted`       nothing
 *   `delete`, trashed    as above, with times     as above, with times     if `delete` came before: entry with times
 *   `withhold`           withheld: no entry       nothing                  nothing
 */
export class ChangeBatch {
  /** What other gateways read again; of a series that goes, only itself. If empty, the replica's version stays. */
  readonly changed: { kind: KindOrImage; id: number }[] = [];
  readonly #db: Database;
  /** Absent during the initial sync. */
  readonly #journal: ChangeJournal | undefined;
  readonly #nowMs: () => number;

  constructor(db: Database, journal: ChangeJournal | undefined, nowMs: () => number) {
    this.#db = db;
    this.#journal = journal;
    this.#nowMs = nowMs;
  }

  /** Stores a record. A post that is not published is deleted instead. */
  upsert(record: CalendarRecord): void {
    if (isTermRecord(record)) this.#upsertTerm(record);
    else if (record.status === 'publish') this.#upsertPost(record);
    else this.delete(record.kind, record.id, record.status === 'trash');
  }

  upsertImage(image: ImageRecord): void {
    if (isDeepStrictEqual(getImage(this.#db, image.id), image)) return;
    this.#db.replace('image', { id: image.id, record: JSON.stringify(image) });
    this.#imageChanged(image.id);
  }

  /** Deletes a record or image, an event with its occurrences. `isTrashed`: the event was seen in the trash. */
  delete(kind: KindOrImage, id: number, isTrashed = false): void {
    if (kind === 'image') {
      if (this.#db.run(sql`DELETE FROM image WHERE id = ${id}`) > 0) this.#imageChanged(id);
    } else if (isTermKind(kind)) {
      if (this.#db.run(sql`DELETE FROM term WHERE kind = ${kind} AND id = ${id}`) === 0) return;
      this.#journal?.add(kind, id, 'deleted');
      this.changed.push({ kind, id });
    } else if (this.#endPost(kind, id, isTrashed)) {
      this.changed.push({ kind, id });
      if (kind === 'event') for (const each of this.#occurrences(id)) this.#endPost(kind, each, isTrashed);
    } else if (kind === 'event' && isTrashed) {
      // Not stored. If a poll found it gone before, it or its occurrences are cancelled now.
      for (const each of this.#journal?.cancelVanished(id, this.#nowMs()) ?? []) this.changed.push({ kind, id: each });
    }
  }

  /** Deletes a post, which is stored or withheld, never both, and journals it. False if there is no such post. */
  #endPost(kind: PostKind, id: number, isTrashed: boolean): boolean {
    const stored = getRecord<PostKind>(this.#db, kind, id);
    const before = stored ?? this.#takeWithheld(kind, id);
    if (!before) return false;
    this.#journalPost(before, undefined, isTrashed);
    if (stored) deletePost(this.#db, PUBLIC, id);
    return true;
  }

  /** Takes a record out of all lists, an event with its occurrences: nobody knows yet what visitors get of it. */
  withhold(kind: PostKind, id: number): void {
    if (!this.#withholdOne(kind, id)) return;
    this.changed.push({ kind, id });
    if (kind === 'event') for (const each of this.#occurrences(id)) this.#withholdOne(kind, each);
  }

  #withholdOne(kind: PostKind, id: number): boolean {
    const stored = getRecord<PostKind>(this.#db, kind, id);
    if (!stored) return false;
    this.#db.replace('withheld_record', { kind, id, record: JSON.stringify(stored) });
    deletePost(this.#db, PUBLIC, id);
    return true;
  }

  /** Stores or deletes a row. An event that shows the row has changed too. Called last: by then the event is stored. */
  setSourceRow(row: SourceChange): void {
    const before = sourceRow(this.#db, row.source, row.key);
    if (isDeepStrictEqual(before, row)) return;
    if (before) deleteSourceRow(this.#db, row);
    const after = row.eventJson === null ? undefined : row;
    if (after) insertSourceRow(this.#db, after);
    // Event 7 shows `source` and `url` of each row whose `eventId` is 7. Both rows here have the same `source`: it is
    // part of their key. If they have the same `eventId` and `url` too, no event looks different now.
    if (before?.eventId === after?.eventId && before?.url === after?.url) return;
    for (const id of new Set([before?.eventId, after?.eventId])) {
      const post = id === undefined ? undefined : getRecord(this.#db, 'event', id);
      if (!post) continue;
      this.#journalPost(post, post);
      this.changed.push({ kind: 'event', id: post.id });
    }
  }

  #takeWithheld(kind: PostKind, id: number): PostRecord | undefined {
    const fromWithheld = sql`FROM withheld_record WHERE kind = ${kind} AND id = ${id}`;
    const row = this.#db.get<{ record: string }>(sql`SELECT record ${fromWithheld}`);
    if (!row) return undefined;
    this.#db.run(sql`DELETE ${fromWithheld}`);
    return this.#db.parse<PostRecord>(row.record);
  }

  /**
   * Journals what the public lists gained, changed or lost. Keeps the times of a lost event: in the entry if it was
   * seen in the trash (its calendar file says CANCELLED); if not, in memory, in case it is seen there later.
   */
  #journalPost(before: PostRecord | undefined, after: PostRecord | undefined, isTrashed = false): void {
    const { kind, id } = (after ?? before)!;
    const change = changeBetween(before, after);
    if (!change) return;
    const lost = change === 'deleted' && before?.kind === 'event' ? before : undefined;
    if (lost && !isTrashed) this.#journal?.noteVanished(lost);
    this.#journal?.add(kind, id, change, lost && isTrashed ? cancelledBy(lost, this.#nowMs()) : undefined);
  }

  #occurrences(eventId: number): number[] {
    if (isOccurrenceId(eventId)) return [];
    const { from, to } = occurrenceIdRange(eventId);
    return this.#db.numbers(sql`
      SELECT id FROM post WHERE id >= ${from} AND id < ${to}
      UNION SELECT id FROM withheld_record WHERE kind = 'event' AND id >= ${from} AND id < ${to}`);
  }

  #upsertPost(record: PostRecord): void {
    const db = this.#db;
    const { id, kind } = record;
    const withheld = this.#takeWithheld(kind, id);
    const stored = db.get<{ kind: PostKind; record: string }>(sql`SELECT kind, record FROM post WHERE id = ${id}`);
    if (stored?.kind === kind && stored.record === JSON.stringify(record)) return;
    let before = stored && db.parse<PostRecord>(stored.record);
    // Posts of all kinds share one id space: the id changed its kind.
    if (before && before.kind !== kind) {
      this.#journalPost(before, undefined);
      before = undefined;
    }
    if (stored) deletePost(db, PUBLIC, id);
    insertPost(db, PUBLIC, record);
    if (kind === 'event' && !before) this.#journal?.noteRestored(id);
    this.#journalPost(before ?? withheld, record);
    this.changed.push({ kind, id });
  }

  #upsertTerm(record: TermRecord): void {
    const { kind, id, name } = record;
    const json = JSON.stringify(record);
    const stored = this.#db.get<{ record: string }>(sql`SELECT record FROM term WHERE kind = ${kind} AND id = ${id}`);
    if (stored?.record === json) return;
    this.#db.replace('term', {
      kind,
      id,
      parent: record.parent,
      slug: record.slug.toLowerCase(),
      slug_key: slugKey(record.slug),
      name_folded: fold(name),
      name_sort: foldForSort(name),
      name_key: foldName(name),
      description_sort: foldForSort(record.description),
      noticed: wallNumber(formatWallTime(this.#nowMs())),
      record: json,
    });
    this.#journal?.add(kind, id, stored ? 'updated' : 'created');
    this.changed.push({ kind, id });
  }

  /** The posts with the image have changed too. */
  #imageChanged(id: number): void {
    this.changed.push({ kind: 'image', id });
    for (const post of postsWithImage(this.#db, id)) {
      const record = getRecord<PostKind>(this.#db, post.kind, post.id);
      this.#journalPost(record, record);
    }
  }
}
