// How records go into the replica's tables and out of them, and what each change touches.

import { isDeepStrictEqual } from 'node:util';
import {
  type CalendarRecord,
  type EventRecord,
  FIRST_INLINE_ID,
  type ImageRecord,
  type Kind,
  type LinkedRecord,
  type PostKind,
  type PostRecord,
  type TermRecord,
} from '../records.ts';
import { isTermRecord } from './answers.ts';
import type { Database } from './database.ts';
import { fold, foldForOrder, foldName, reference, referenceBit, wallNumber } from './fold.ts';
import { HIDDEN, LISTED, PROTECTED, ROLE, type Role } from './schema.ts';
import { beginTallies, type Touch } from './tallies.ts';

/** A batch of changes inside one transaction; `finish` brings the counts in line and must be the last call. */
export interface Intake {
  /** Whether anything changed. */
  put(record: CalendarRecord): boolean;
  putImage(image: ImageRecord): boolean;
  remove(kind: Kind | 'image', id: number): boolean;
  /** Whether anything changed that everybody sees: terms, published records, and their images. */
  isPublic(): boolean;
  finish(): void;
}

interface StoredPost {
  kind: PostKind;
  status: string;
  record: string;
}

/** A parsed record is compared by content, so that another order of its keys is no change. */
function sameRecord(db: Database, stored: string, text: string): boolean {
  return stored === text || isDeepStrictEqual(db.parse(stored), JSON.parse(text));
}

function targetsOf(event: EventRecord): [Role, Set<number>][] {
  return [
    ['category', new Set(event.categories)],
    ['tag', new Set(event.tags)],
    ['venue', new Set(event.venues)],
    ['organizer', new Set(event.organizers)],
  ];
}

const linkHidden = (event: EventRecord): number => (event.protected ? PROTECTED : event.hidden ? HIDDEN : LISTED);

/** Begins a batch. `touch` is told of every record, image and count that changed. */
export function beginIntake(db: Database, touch: Touch): Intake {
  const tallies = beginTallies(db, touch);
  let isPublic = false;

  /** A record that is text inside events is seen through those, which change with it. */
  function changed(id: number, ...states: (StoredPost | PostRecord | undefined)[]): void {
    if (id < FIRST_INLINE_ID && states.some((one) => one?.status === 'publish')) isPublic = true;
  }

  function addEvent(event: EventRecord): void {
    const [starts, ends, posted] = [wallNumber(event.start), wallNumber(event.end), wallNumber(event.date)];
    // No filter finds what a password hides: the event is listed as if it were not featured and had no parent.
    const featured = event.featured && !event.protected ? 1 : 0;
    const parent = event.protected ? 0 : event.parent;
    const odd = tallies.day(event, 1) ? 1 : 0;
    db.run(
      `INSERT INTO event (id, hidden, status, starts, posted, ends, author, featured, parent, odd)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[event.id, event.hidden ? HIDDEN : LISTED, event.status, starts, posted, ends, event.author],
      ...[featured, parent, odd],
    );
    let refs = '';
    const bits = new Set<number>();
    for (const [role, targets] of targetsOf(event)) {
      for (const target of targets) {
        refs += reference(ROLE[role], target);
        bits.add(referenceBit(ROLE[role], target));
      }
    }
    const allBits = [...bits].reduce((sum, bit) => sum + bit, 0);
    for (const [role, targets] of targetsOf(event)) {
      for (const target of targets) {
        db.run(
          `INSERT INTO event_link (role, target, hidden, status, starts, posted, id, ends, starts_utc, author, featured, bits, refs)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[ROLE[role], target, linkHidden(event), event.status, starts, posted, event.id, ends],
          ...[wallNumber(event.startUtc), event.author, featured, allBits, refs],
        );
        if (!event.protected) tallies.target(ROLE[role], target, event, 1);
      }
    }
  }

  function dropEvent(event: EventRecord): void {
    db.run('DELETE FROM event WHERE id = ?', event.id);
    tallies.day(event, -1);
    const [starts, posted] = [wallNumber(event.start), wallNumber(event.date)];
    for (const [role, targets] of targetsOf(event)) {
      for (const target of targets) {
        db.run(
          `DELETE FROM event_link
           WHERE role = ? AND target = ? AND hidden = ? AND status = ? AND starts = ? AND posted = ? AND id = ?`,
          ...[ROLE[role], target, linkHidden(event), event.status, starts, posted, event.id],
        );
        if (!event.protected) tallies.target(ROLE[role], target, event, -1);
      }
    }
  }

  /** The index is told by hand: a trigger, like `OR REPLACE`, opens a savepoint, at which FTS5 writes out every single text. */
  function putText(id: number, folded: string | undefined): void {
    const old = db.get<{ folded: string }>('SELECT folded FROM event_text WHERE id = ?', id)?.folded;
    if (old === folded) return;
    if (old !== undefined) {
      db.run("INSERT INTO event_words (event_words, rowid, folded) VALUES ('delete', ?, ?)", id, old);
      db.run('DELETE FROM event_text WHERE id = ?', id);
    }
    if (folded === undefined) return;
    db.run('INSERT INTO event_text (id, folded) VALUES (?, ?)', id, folded);
    db.run('INSERT INTO event_words (rowid, folded) VALUES (?, ?)', id, folded);
  }

  function putLinked(record: LinkedRecord): void {
    db.run(
      'INSERT OR REPLACE INTO linked (kind, id, status, author, posted, folded) VALUES (?, ?, ?, ?, ?, ?)',
      ...[record.kind, record.id, record.status, record.author, wallNumber(record.date), fold(record.searchText)],
    );
  }

  function removePost(id: number, stored: StoredPost): void {
    db.run('DELETE FROM post WHERE id = ?', id);
    if (stored.kind === 'event') {
      dropEvent(db.parse<EventRecord>(stored.record));
      putText(id, undefined);
    } else db.run('DELETE FROM linked WHERE kind = ? AND id = ?', stored.kind, id);
    touch(stored.kind, id);
  }

  const readPost = (id: number) => db.get<StoredPost>('SELECT kind, status, record FROM post WHERE id = ?', id);

  function putPost(record: PostRecord): boolean {
    const text = JSON.stringify(record);
    const stored = readPost(record.id);
    if (stored?.kind === record.kind && sameRecord(db, stored.record, text)) return false;
    // Posts share one id space: the id is now of another type, and the old record is gone.
    if (stored && stored.kind !== record.kind) removePost(record.id, stored);
    if (stored) db.run('DELETE FROM post WHERE id = ?', record.id);
    db.run(
      'INSERT INTO post (id, kind, status, slug, modified_utc, image, record) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[record.id, record.kind, record.status, record.slug.toLowerCase(), record.modifiedUtc, record.image, text],
    );
    if (record.kind === 'event') {
      if (stored?.kind === 'event') dropEvent(db.parse<EventRecord>(stored.record));
      addEvent(record);
      putText(record.id, fold(record.searchText));
    } else putLinked(record);
    changed(record.id, stored, record);
    touch(record.kind, record.id);
    return true;
  }

  function putTerm(record: TermRecord): boolean {
    const text = JSON.stringify(record);
    const stored = db.get<{ record: string }>(
      'SELECT record FROM term WHERE kind = ? AND id = ?',
      record.kind,
      record.id,
    );
    if (stored && sameRecord(db, stored.record, text)) return false;
    db.run(
      `INSERT OR REPLACE INTO term (kind, id, parent, slug, name, name_order, name_plain, description_order, record)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[record.kind, record.id, record.parent, record.slug.toLowerCase(), fold(record.name)],
      ...[foldForOrder(record.name), foldName(record.name), foldForOrder(record.description), text],
    );
    isPublic = true;
    touch(record.kind, record.id);
    return true;
  }

  /** The answers of events show the images of their venues and organizers, which stand for them here. */
  function touchImage(id: number): void {
    touch('image', id);
    const sql = 'SELECT kind, id, status FROM post WHERE image = ? AND image <> 0';
    for (const { kind, ...post } of db.all<{ kind: PostKind; id: number; status: string }>(sql, id)) {
      if (post.status === 'publish') isPublic = true;
      if (kind !== 'event') touch(kind, post.id);
    }
  }

  return {
    put: (record) => (isTermRecord(record) ? putTerm(record) : putPost(record)),
    putImage(image) {
      const text = JSON.stringify(image);
      const stored = db.get<{ record: string }>('SELECT record FROM image WHERE id = ?', image.id);
      if (stored && sameRecord(db, stored.record, text)) return false;
      db.run('INSERT OR REPLACE INTO image (id, record) VALUES (?, ?)', image.id, text);
      touchImage(image.id);
      return true;
    },
    remove(kind, id) {
      if (kind === 'image') {
        if (!db.get('DELETE FROM image WHERE id = ? RETURNING id', id)) return false;
        touchImage(id);
        return true;
      }
      if (kind === 'category' || kind === 'tag') {
        if (!db.get('DELETE FROM term WHERE kind = ? AND id = ? RETURNING id', kind, id)) return false;
        isPublic = true;
        touch(kind, id);
        return true;
      }
      const stored = readPost(id);
      if (stored?.kind !== kind) return false;
      changed(id, stored);
      removePost(id, stored);
      return true;
    },
    isPublic: () => isPublic,
    finish: tallies.finish,
  };
}
