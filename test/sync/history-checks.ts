// What must hold during a history, not only in the end: nobody sees a record as it was before a write that was read, a
// copy that follows the journal is what the public lists show, and an event that is known to be in the trash is
// cancelled.

import { expect } from 'chai';
import type { CalendarRecord, Kind, PostKind } from '../../src/model/records.ts';
import { changeBetween, type JournalPosition } from '../../src/store/change-journal.ts';
import { getRecord, getRecords, recordIds } from '../../src/store/records.ts';
import { sql } from '../../src/store/sql.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import type { ChangedRecord } from '../../src/sync/poll.ts';
import type { FakePost } from '../cms/fake-cms.ts';
import { postRecord, type TestSite } from './test-site.ts';

/** A record that a write or a webhook named. */
interface Named {
  kind: PostKind;
  post: FakePost;
  /** The post when the CMS built the last response. */
  seen: string;
  /** What visitors got of it in the CMS since then, whenever the CMS built a response; JSON, or undefined for nothing. */
  states: Set<string | undefined>;
  /** The sync has read it. */
  isRead: boolean;
}

export class HistoryChecks {
  readonly #site: TestSite;
  readonly #named: Named[] = [];
  /** Events that were public, and that a write or a webhook named as trashed. */
  readonly #trashed = new Set<FakePost>();
  #position: JournalPosition | undefined;
  #copy: Record<string, CalendarRecord> = {};
  #version = -1;

  constructor(site: TestSite) {
    this.#site = site;
  }

  /** Call it when the CMS has built a response, which may arrive much later. */
  noteStates(): void {
    for (const named of this.#named) {
      const seen = this.#seen(named.post);
      if (seen !== named.seen) named.states.add(this.#inCms(named.kind, named.post));
      named.seen = seen;
    }
    for (const post of this.#trashed) if (post.status === 'publish') this.#trashed.delete(post);
  }

  /** The gateway reads a post that was just written through it (`fetchWritten`), or that a webhook names. */
  async read(by: 'fetchWritten' | 'fetchChanged', kind: PostKind, post: FakePost, isTrashed = false): Promise<void> {
    const { sync, replica } = this.#site;
    const seen = this.#seen(post);
    const named: Named = { kind, post, seen, states: new Set([this.#inCms(kind, post)]), isRead: false };
    this.#named.push(named);
    const isPublic = getRecord(replica.db, kind, post.id) !== undefined;
    if (isTrashed && kind === 'event' && isPublic && sync.status().complete) this.#trashed.add(post);
    const change: ChangedRecord = { kind, id: post.id, isTrashed };
    // Both are the same batch.
    const isRead = sync.fetchChanged([change]);
    if (by === 'fetchWritten') await sync.fetchWritten([change]);
    // A write that could not be read is in no list.
    if (!(await isRead)) named.states.add(undefined);
    named.isRead = by === 'fetchWritten' || (await isRead);
    this.check();
  }

  /** A process forgets what it was told and could not read. */
  restarted(): void {
    for (const post of this.#trashed) if (!this.#site.replica.journal.cancelled(post.id)) this.#trashed.delete(post);
  }

  /** Fails if what must hold at any moment does not. */
  check(): void {
    const { replica, sync } = this.#site;
    if (replica.version === this.#version && this.#named.length === 0) return;
    this.#version = replica.version;
    const withheld = this.#withheld();
    for (const { kind, post, states, isRead } of this.#named) {
      if (!isRead || withheld.has(`${kind} ${post.id}`)) continue;
      const held = getRecord(replica.db, kind, post.id);
      const json = held && JSON.stringify(held);
      if (!states.has(json)) expect(json, `${kind} ${post.id} after it was read`).to.be.oneOf([...states]);
    }
    // The initial sync notes no changes.
    if (sync.state().complete) this.#follow(withheld);
  }

  /** Fails if, when everything is read, an event in the trash is not cancelled, or a public one is. */
  checkCancelled(): void {
    const { cms, replica } = this.#site;
    const cancelled = (post: FakePost) => replica.journal.cancelled(post.id) !== undefined;
    const trashed = [...this.#trashed].filter(({ status }) => status === 'trash');
    expect(trashed.filter((post) => !cancelled(post))).to.deep.equal([]);
    const events = [...cms.posts.values()].filter(({ status }) => status === 'publish');
    expect(events.filter(cancelled)).to.deep.equal([]);
  }

  #seen(post: FakePost): string {
    return this.#site.cms.posts.has(post.id) ? JSON.stringify(post) : '';
  }

  #inCms(kind: PostKind, post: FakePost): string | undefined {
    const record = this.#site.cms.posts.has(post.id) ? postRecord(this.#site, kind, post) : undefined;
    return record && JSON.stringify(record);
  }

  #withheld(): Set<string> {
    const rows = this.#site.replica.db.all<{ kind: Kind; id: number }>(sql`SELECT kind, id FROM withheld_record`);
    return new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  }

  /** As a client with a copy: reads what changed, and everything if the journal does not know its position. */
  #follow(withheld: ReadonlySet<string>): void {
    const { replica, mapping } = this.#site;
    const shown: Record<string, CalendarRecord> = {};
    for (const { kind } of collectionsOf(mapping))
      for (const [id, record] of getRecords(replica.db, kind as Kind, recordIds(replica.db, kind)))
        if (!('protected' in record) || changeBetween(undefined, record)) shown[`${kind} ${id}`] = record;
    const page = this.#position && replica.journal.since(this.#position, 10_000);
    if (!page) this.#copy = { ...shown };
    for (const { kind, id, change } of page?.entries ?? []) {
      const key = `${kind} ${id}`;
      // It is reported again when it is read.
      if (withheld.has(key)) continue;
      expect(change === 'deleted', `${change} ${key}`).to.equal(shown[key] === undefined);
      if (shown[key]) this.#copy[key] = shown[key];
      else delete this.#copy[key];
    }
    this.#position = page?.next ?? replica.journal.head();
    // A withheld one is in no list and no change.
    const copy = Object.fromEntries(Object.entries(this.#copy).filter(([key]) => !withheld.has(key)));
    expect(copy).to.deep.equal(shown);
  }
}
