// Writes records into the replica's tables and deletes them, and invalidates what each change makes outdated.

import { isDeepStrictEqual } from 'node:util';
import {
  type CalendarRecord,
  type EventRecord,
  FIRST_EMBEDDED_ID,
  type ImageRecord,
  isOccurrenceId,
  isTermKind,
  isTermRecord,
  type Kind,
  type KindOrImage,
  type LinkedRecord,
  MAX_FILTERED_CHARACTERS,
  occurrenceIdRange,
  type PostKind,
  type PostRecord,
  type TermRecord,
} from '../model/records.ts';
import { foldName, foldTitle } from '../text/html.ts';
import { fold, foldForSort, slugKey } from '../text/text.ts';
import { formatWallTime, wallNumber } from '../time/wall-time.ts';
import { cancelledBy, changeBetween, type JournalWriter } from './change-journal.ts';
import { beginCounters, featuredColumn, type Invalidate, isIrregular } from './counters.ts';
import type { Database } from './database.ts';
import type { FullTextIndex } from './full-text-index.ts';
import { HIDDEN, LISTED, linkBit, linkToken, PROTECTED, TARGET_KIND, type TargetKind } from './schema.ts';
import { sql } from './sql.ts';

/** A batch of changes inside one transaction. `finish` writes the counters; no change may follow it. */
export interface ChangeBatch {
  /** True if anything changed. */
  upsert(record: CalendarRecord): boolean;
  upsertImage(image: ImageRecord): boolean;
  delete(kind: KindOrImage, id: number): boolean;
  /** True if anything public changed: a term, a published record, or an image of one. */
  changesPublic(): boolean;
  /** By how many the records of each kind became more or fewer. */
  readonly growth: ReadonlyMap<Kind, number>;
  finish(): void;
}

interface StoredPost {
  kind: PostKind;
  status: string;
  record: string;
}

interface Link {
  targetKind: TargetKind;
  targetId: number;
}

/** Compares parsed records, so that another order of keys does not count as a change. */
function isSameRecord(db: Database, stored: string, json: string): boolean {
  return stored === json || isDeepStrictEqual(db.parse(stored), JSON.parse(json));
}

function linksOf({ categories, tags, venues, organizers }: EventRecord): Link[] {
  const toLinks = (targetKind: TargetKind, ids: number[]): Link[] =>
    [...new Set(ids)].map((targetId) => ({ targetKind, targetId }));
  return [
    ...toLinks('category', categories),
    ...toLinks('tag', tags),
    ...toLinks('venue', venues),
    ...toLinks('organizer', organizers),
  ];
}

const hiddenOfLinks = (event: EventRecord): number => (event.protected ? PROTECTED : event.hidden ? HIDDEN : LISTED);

/**
 * Begins a batch. `invalidate` is called for every record, image and term count that changed; `journal` gets what
 * changed in public lists. `nowMs` is the time at which terms are noticed.
 */
export function beginBatch(
  db: Database,
  fullText: FullTextIndex,
  invalidate: Invalidate,
  journal: Pick<JournalWriter, 'add' | 'prune'>,
  nowMs: () => number,
): ChangeBatch {
  const counters = beginCounters(db, invalidate);
  let isPublicChanged = false;
  const growth = new Map<Kind, number>();
  const grow = (kind: Kind, records: 1 | -1) => growth.set(kind, (growth.get(kind) ?? 0) + records);

  /** Embedded records are public through the events that name them, which change with them. */
  function markPublicChange(id: number, ...states: (StoredPost | PostRecord | undefined)[]): void {
    if (id < FIRST_EMBEDDED_ID && states.some((state) => state?.status === 'publish')) isPublicChanged = true;
  }

  function insertEvent(event: EventRecord): void {
    const { start, end } = event.listed ?? event;
    const shared = {
      status: event.status,
      starts: wallNumber(start),
      published: wallNumber(event.date),
      id: event.id,
      ends: wallNumber(end),
      author: event.author,
      featured: featuredColumn(event),
      modified: wallNumber(event.modifiedUtc),
    };
    db.insert('event', {
      ...shared,
      hidden: event.hidden ? HIDDEN : LISTED,
      title: foldTitle(event.title),
      // No filter finds what a password hides.
      parent: event.protected ? 0 : event.parent,
      event_status: event.protected ? '' : event.eventStatus,
      irregular: isIrregular(event) ? 1 : 0,
    });
    counters.countDay(event, 1);
    const links = linksOf(event);
    const bits = new Set(links.map(({ targetKind, targetId }) => linkBit(TARGET_KIND[targetKind], targetId)));
    const linkRow = {
      ...shared,
      hidden: hiddenOfLinks(event),
      starts_utc: wallNumber(event.startUtc),
      // A sum and not a bitwise or: JavaScript's has 32 bits.
      link_bits: [...bits].reduce((sum, bit) => sum + bit, 0),
      link_tokens: links.map(({ targetKind, targetId }) => linkToken(TARGET_KIND[targetKind], targetId)).join(''),
    };
    for (const { targetKind, targetId } of links) {
      db.insert('event_link', { ...linkRow, target_kind: TARGET_KIND[targetKind], target_id: targetId });
      if (!event.protected) counters.countLink(targetKind, targetId, event, 1);
    }
  }

  function deleteEvent(event: EventRecord): void {
    db.run(sql`DELETE FROM event WHERE id = ${event.id}`);
    counters.countDay(event, -1);
    const [starts, published] = [wallNumber((event.listed ?? event).start), wallNumber(event.date)];
    for (const { targetKind, targetId } of linksOf(event)) {
      db.run(sql`
        DELETE FROM event_link
        WHERE target_kind = ${TARGET_KIND[targetKind]} AND target_id = ${targetId} AND hidden = ${hiddenOfLinks(event)}
          AND status = ${event.status} AND starts = ${starts} AND published = ${published} AND id = ${event.id}`);
      if (!event.protected) counters.countLink(targetKind, targetId, event, -1);
    }
  }

  function upsertLinked(record: LinkedRecord): void {
    const { kind, id, status, author, date, searchText } = record;
    // No filter finds what a password hides.
    const isLocated = record.kind === 'venue' && !record.protected;
    db.replace('linked_record', {
      kind,
      id,
      status,
      author,
      published: wallNumber(date),
      modified: wallNumber(record.modifiedUtc),
      folded: fold(searchText),
      latitude: isLocated ? record.latitude : null,
      longitude: isLocated ? record.longitude : null,
    });
  }

  const readPost = (id: number) => db.get<StoredPost>(sql`SELECT kind, status, record FROM post WHERE id = ${id}`);

  function journalPost(
    id: number,
    kind: PostKind,
    before: PostRecord | undefined,
    after: PostRecord | undefined,
  ): void {
    const change = changeBetween(before, after);
    if (change) journal.add(kind, id, change, cancelledBy(before, after));
  }

  function deletePost(id: number, { kind, record }: StoredPost): void {
    const post = db.parse<PostRecord>(record);
    journalPost(id, kind, post, undefined);
    db.run(sql`DELETE FROM post WHERE id = ${id}`);
    deleteCustomValues(db, id);
    if (!isOccurrenceId(id)) grow(kind, -1);
    if (post.kind === 'event') {
      deleteEvent(post);
      fullText.set(id, undefined);
    } else db.run(sql`DELETE FROM linked_record WHERE kind = ${kind} AND id = ${id}`);
    invalidate(kind, id);
  }

  function deleteOccurrences(seriesId: number): void {
    const { from, to } = occurrenceIdRange(seriesId);
    for (const id of db.numbers(sql`SELECT id FROM post WHERE id >= ${from} AND id < ${to}`)) {
      const stored = readPost(id);
      if (!stored) continue;
      markPublicChange(id, stored);
      deletePost(id, stored);
    }
  }

  function upsertPost(record: PostRecord): boolean {
    const { id, kind, status } = record;
    const json = JSON.stringify(record);
    const stored = readPost(id);
    if (stored?.kind === kind && isSameRecord(db, stored.record, json)) return false;
    // Posts of all kinds share one id space: the id changed its kind.
    if (stored && stored.kind !== kind) deletePost(id, stored);
    if (stored?.kind === kind) db.run(sql`DELETE FROM post WHERE id = ${id}`);
    else if (!isOccurrenceId(id)) grow(kind, 1);
    db.insert('post', {
      id,
      kind,
      status,
      slug: slugKey(record.slug),
      modified_utc: record.modifiedUtc,
      image_id: record.image,
      record: json,
    });
    const before = stored?.kind === kind ? db.parse<PostRecord>(stored.record) : undefined;
    journalPost(id, kind, before, record);
    if (record.kind === 'event') {
      if (before?.kind === 'event') deleteEvent(before);
      insertEvent(record);
      fullText.set(id, fold(record.searchText));
    } else upsertLinked(record);
    storeCustomValues(db, record);
    markPublicChange(id, stored, record);
    invalidate(kind, id);
    return true;
  }

  function upsertTerm(record: TermRecord): boolean {
    const { kind, id, name } = record;
    const json = JSON.stringify(record);
    const stored = db.get<{ record: string }>(sql`SELECT record FROM term WHERE kind = ${kind} AND id = ${id}`);
    if (stored && isSameRecord(db, stored.record, json)) return false;
    if (!stored) grow(kind, 1);
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
      noticed: wallNumber(formatWallTime(nowMs())),
      record: json,
    });
    isPublicChanged = true;
    journal.add(kind, id, stored ? 'updated' : 'created');
    invalidate(kind, id);
    return true;
  }

  /**
   * A rendered event shows the images of its venues and organizers, but depends only on those records: they
   * are invalidated.
   */
  function invalidateImage(id: number): void {
    invalidate('image', id);
    const posts = db.all<StoredPost & { id: number }>(
      sql`SELECT kind, id, status, record FROM post WHERE image_id = ${id} AND image_id <> 0`,
    );
    for (const post of posts) {
      if (post.status === 'publish') isPublicChanged = true;
      const record = db.parse<PostRecord>(post.record);
      journalPost(post.id, post.kind, record, record);
      if (post.kind !== 'event') invalidate(post.kind, post.id);
    }
  }

  return {
    upsert: (record) => (isTermRecord(record) ? upsertTerm(record) : upsertPost(record)),
    upsertImage(image) {
      const json = JSON.stringify(image);
      const stored = db.get<{ record: string }>(sql`SELECT record FROM image WHERE id = ${image.id}`);
      if (stored && isSameRecord(db, stored.record, json)) return false;
      db.replace('image', { id: image.id, record: json });
      invalidateImage(image.id);
      return true;
    },
    delete(kind, id) {
      if (kind === 'image') {
        if (!db.get(sql`DELETE FROM image WHERE id = ${id} RETURNING id`)) return false;
        invalidateImage(id);
        return true;
      }
      if (isTermKind(kind)) {
        if (!db.get(sql`DELETE FROM term WHERE kind = ${kind} AND id = ${id} RETURNING id`)) return false;
        grow(kind, -1);
        isPublicChanged = true;
        journal.add(kind, id, 'deleted');
        invalidate(kind, id);
        return true;
      }
      const stored = readPost(id);
      if (stored?.kind !== kind) return false;
      markPublicChange(id, stored);
      deletePost(id, stored);
      if (kind === 'event' && !isOccurrenceId(id)) deleteOccurrences(id);
      return true;
    },
    changesPublic: () => isPublicChanged,
    growth,
    finish() {
      counters.finish();
      journal.prune();
    },
  };
}

/** Replaces the custom fields that lists filter by. */
function storeCustomValues(db: Database, { kind, id, customFields, protected: isProtected }: PostRecord): void {
  deleteCustomValues(db, id);
  // No filter finds what a password hides.
  if (isProtected || !customFields) return;
  for (const [name, value] of Object.entries(customFields).map(([name, value]) => [name, String(value)] as const))
    if (value.length <= MAX_FILTERED_CHARACTERS) db.insert('custom_value', { kind, name, value, id });
}

const deleteCustomValues = (db: Database, id: number): void => db.run(sql`DELETE FROM custom_value WHERE id = ${id}`);
