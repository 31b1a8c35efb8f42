// Writes public records into the replica and deletes them, notes each change in the journal, and invalidates what it
// makes outdated.

import { isDeepStrictEqual } from 'node:util';
import {
  type CalendarRecord,
  type EventRecord,
  type ImageRecord,
  isOccurrenceId,
  isTermKind,
  isTermRecord,
  type Kind,
  type KindOrImage,
  occurrenceIdRange,
  type PostKind,
  type PostRecord,
  type TermRecord,
} from '../model/records.ts';
import { foldName } from '../text/html.ts';
import { fold, foldForSort, slugKey } from '../text/text.ts';
import { formatWallTime, wallNumber } from '../time/wall-time.ts';
import { cancelledBy, changeBetween, type JournalWriter } from './change-journal.ts';
import type { Database } from './database.ts';
import { deletePost, insertPost, linksOf, PUBLIC } from './post-rows.ts';
import { sql } from './sql.ts';

/** Invalidates the rendered records that show this. */
export type Invalidate = (kind: KindOrImage, id: number) => void;

interface StoredPost {
  kind: PostKind;
  record: string;
}

export interface BatchOptions {
  /** Called for every record, image and term count that changed. */
  invalidate: Invalidate;
  journal: Pick<JournalWriter, 'add' | 'restored'>;
  /** The time at which terms are noticed. */
  nowMs: () => number;
}

/** A batch of changes inside one transaction. Each method returns true if anything changed. */
export class ChangeBatch {
  /** By how many the records of each kind became more or fewer. */
  readonly growth = new Map<Kind, number>();
  readonly #db: Database;
  readonly #options: BatchOptions;

  constructor(db: Database, options: BatchOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** A post that is not published is never stored: it ends the one that was. */
  upsert(record: CalendarRecord): boolean {
    if (isTermRecord(record)) return this.#upsertTerm(record);
    if (record.status !== 'publish') return this.delete(record.kind, record.id, record.status === 'trash');
    return this.#upsertPost(record);
  }

  upsertImage(image: ImageRecord): boolean {
    const db = this.#db;
    const json = JSON.stringify(image);
    const stored = db.get<{ record: string }>(sql`SELECT record FROM main.image WHERE id = ${image.id}`);
    if (stored && this.#isSame(stored.record, json)) return false;
    db.replace('main.image', { id: image.id, record: json });
    this.#invalidateImage(image.id);
    return true;
  }

  /** @param isTrashed the event was seen in the trash: its calendar file then says CANCELLED */
  delete(kind: KindOrImage, id: number, isTrashed = false): boolean {
    const db = this.#db;
    if (kind === 'image') {
      if (!db.get(sql`DELETE FROM main.image WHERE id = ${id} RETURNING id`)) return false;
      this.#invalidateImage(id);
      return true;
    }
    if (isTermKind(kind)) {
      if (!db.get(sql`DELETE FROM term WHERE kind = ${kind} AND id = ${id} RETURNING id`)) return false;
      this.#grow(kind, -1);
      this.#options.journal.add(kind, id, 'deleted');
      this.#options.invalidate(kind, id);
      return true;
    }
    const withheld = this.#takeWithheld(kind, id);
    const stored = this.#readPost(id);
    const before = withheld ?? (stored?.kind === kind ? db.parse<PostRecord>(stored.record) : undefined);
    if (!before) return false;
    this.#journalPost(before, undefined, isTrashed);
    if (stored?.kind === kind) this.#deletePost(before);
    if (kind === 'event') for (const occurrence of this.#occurrences(id)) this.delete(kind, occurrence, isTrashed);
    return true;
  }

  /**
   * Takes a record out of all lists, without an entry in the journal: nobody knows yet what visitors get of it. The next
   * upsert or delete of this record is then noted as a change of what was public before.
   */
  withhold(kind: PostKind, id: number): boolean {
    const stored = this.#readPost(id);
    if (stored?.kind !== kind) return false;
    this.#db.replace('withheld_record', { kind, id, record: stored.record });
    this.#deletePost(this.#db.parse(stored.record));
    if (kind === 'event') for (const occurrence of this.#occurrences(id)) this.withhold(kind, occurrence);
    return true;
  }

  /** Compares parsed records, so that another order of keys does not count as a change. */
  #isSame(stored: string, json: string): boolean {
    return stored === json || isDeepStrictEqual(this.#db.parse(stored), JSON.parse(json));
  }

  #grow(kind: Kind, records: 1 | -1): void {
    this.growth.set(kind, (this.growth.get(kind) ?? 0) + records);
  }

  #readPost(id: number): StoredPost | undefined {
    return this.#db.get<StoredPost>(sql`SELECT kind, record FROM main.post WHERE id = ${id}`);
  }

  #takeWithheld(kind: PostKind, id: number): PostRecord | undefined {
    const row = this.#db.get<{ record: string }>(
      sql`DELETE FROM withheld_record WHERE kind = ${kind} AND id = ${id} RETURNING record`,
    );
    return row && this.#db.parse<PostRecord>(row.record);
  }

  #journalPost(before: PostRecord | undefined, after: PostRecord | undefined, isTrashed = false): void {
    const { kind, id } = (after ?? before)!;
    const change = changeBetween(before, after);
    if (!change) return;
    const cancelled = isTrashed && before?.kind === 'event' ? cancelledBy(before, this.#options.nowMs()) : undefined;
    this.#options.journal.add(kind, id, change, cancelled);
  }

  #deletePost(record: PostRecord): void {
    deletePost(this.#db, PUBLIC, record.id);
    if (!isOccurrenceId(record.id)) this.#grow(record.kind, -1);
    this.#invalidatePost(record, undefined);
  }

  #occurrences(eventId: number): number[] {
    if (isOccurrenceId(eventId)) return [];
    const { from, to } = occurrenceIdRange(eventId);
    return this.#db.numbers(sql`
      SELECT id FROM main.post WHERE id >= ${from} AND id < ${to}
      UNION SELECT id FROM withheld_record WHERE kind = 'event' AND id >= ${from} AND id < ${to}`);
  }

  #upsertPost(record: PostRecord): boolean {
    const db = this.#db;
    const { id, kind } = record;
    const withheld = this.#takeWithheld(kind, id);
    const stored = this.#readPost(id);
    if (stored?.kind === kind && this.#isSame(stored.record, JSON.stringify(record))) return withheld !== undefined;
    const before = stored && db.parse<PostRecord>(stored.record);
    // Posts of all kinds share one id space: the id changed its kind.
    if (before && before.kind !== kind) {
      this.#journalPost(before, undefined);
      this.#deletePost(before);
    }
    const ofKind = before?.kind === kind ? before : undefined;
    if (ofKind) deletePost(db, PUBLIC, id);
    else if (!isOccurrenceId(id)) this.#grow(kind, 1);
    insertPost(db, PUBLIC, record);
    if (kind === 'event' && !ofKind) this.#options.journal.restored(id);
    this.#journalPost(ofKind ?? withheld, record);
    this.#invalidatePost(ofKind, record);
    return true;
  }

  /** An event also shows in the counts of the terms that it gained or lost. */
  #invalidatePost(before: PostRecord | undefined, after: PostRecord | undefined): void {
    const { invalidate } = this.#options;
    const { kind, id } = (after ?? before)!;
    invalidate(kind, id);
    const [old, current] = [countedTerms(before), countedTerms(after)];
    for (const key of new Set([...old.keys(), ...current.keys()])) {
      if (old.has(key) && current.has(key)) continue;
      const [termKind, termId] = (old.get(key) ?? current.get(key))!;
      invalidate(termKind, termId);
    }
  }

  #upsertTerm(record: TermRecord): boolean {
    const db = this.#db;
    const { kind, id, name } = record;
    const json = JSON.stringify(record);
    const stored = db.get<{ record: string }>(sql`SELECT record FROM term WHERE kind = ${kind} AND id = ${id}`);
    if (stored && this.#isSame(stored.record, json)) return false;
    if (!stored) this.#grow(kind, 1);
    db.replace('term', {
      kind,
      id,
      parent: record.parent,
      slug: record.slug.toLowerCase(),
      slug_key: slugKey(record.slug),
      name_folded: fold(name),
      name_sort: foldForSort(name),
      name_key: foldName(name),
      description_sort: foldForSort(record.description),
      noticed: wallNumber(formatWallTime(this.#options.nowMs())),
      record: json,
    });
    this.#options.journal.add(kind, id, stored ? 'updated' : 'created');
    this.#options.invalidate(kind, id);
    return true;
  }

  /**
   * A rendered event shows the images of its venues and organizers, but depends only on those records: they
   * are invalidated.
   */
  #invalidateImage(id: number): void {
    const { invalidate } = this.#options;
    invalidate('image', id);
    const posts = this.#db.all<StoredPost>(
      sql`SELECT kind, record FROM main.post WHERE image_id = ${id} AND image_id <> 0`,
    );
    for (const post of posts) {
      const record = this.#db.parse<PostRecord>(post.record);
      this.#journalPost(record, record);
      if (record.kind !== 'event') invalidate(record.kind, record.id);
    }
  }
}

/** The terms that count the event, by `category 12`. */
function countedTerms(record: PostRecord | undefined): Map<string, [kind: Kind, id: number]> {
  if (record?.kind !== 'event' || record.protected) return new Map();
  const terms = linksOf(record as EventRecord).filter(([kind]) => isTermKind(kind));
  return new Map(terms.map(([kind, id]) => [`${kind} ${id}`, [kind, id]]));
}
