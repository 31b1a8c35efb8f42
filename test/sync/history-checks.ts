// What must hold during a history, not only in the end: nobody sees a record as it was before a write that was read, a
// copy that follows the journal is what the public lists show, and an event that is known to be in the trash is
// cancelled.

import { expect } from 'chai';
import type { CalendarRecord, Kind, PostKind } from '../../src/model/records.ts';
import { changeBetween, type JournalPosition } from '../../src/store/change-journal.ts';
import { getRecord, getRecords } from '../../src/store/records.ts';
import { sql } from '../../src/store/sql.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import type { ChangedRecord } from '../../src/sync/poll.ts';
import type { FakePost } from '../cms/fake-cms.ts';
import { recordIds } from '../store/record-counts.ts';
import { postRecord, type TestSite } from './test-site.ts';

/** What visitors got of a post in the CMS, whenever it built a response. */
interface Timeline {
  kind: PostKind;
  post: FakePost;
  /** The post at the last response, as JSON; '' once it is erased. */
  latest: string;
  /** JSON of the records, oldest first; undefined for nothing. */
  states: (string | undefined)[];
  /** The replica may show this state or a later one. */
  from: number;
  /** It could not be read after a write: until it is, the replica may lack it. */
  isUnread: boolean;
}

/** An event that a write or a webhook named as trashed. */
interface Trashed {
  post: FakePost;
  /** It was public before, and is not since. */
  mustBeCancelled: boolean;
  /** If a state after this place in the timeline is shown, the event is public again. */
  until: number;
}

const KINDS: Record<string, PostKind> = { events: 'event', venues: 'venue', organizers: 'organizer' };

export class HistoryChecks {
  readonly #site: TestSite;
  readonly #timelines = new Map<number, Timeline>();
  readonly #failures: unknown[] = [];
  #trashed: Trashed[] = [];
  #position: JournalPosition | undefined;
  #copy: Record<string, CalendarRecord> = {};
  #version = -1;

  /** From now on, whatever the replica stores is checked. */
  constructor(site: TestSite) {
    this.#site = site;
    const apply = site.replica.apply.bind(site.replica);
    site.replica.apply = (changes) => {
      const changed = apply(changes);
      const { upserts = [], deletes = [] } = changes;
      for (const id of [...upserts.map(({ id }) => id), ...deletes.flatMap(({ ids }) => ids)]) this.#checkShown(id);
      return changed;
    };
  }

  /** Call it when the CMS has built a response with whole records, which may arrive much later. */
  noteStates(): void {
    const { posts } = this.#site.cms;
    for (const post of posts.values()) this.#note(post);
    for (const { post, latest } of this.#timelines.values()) if (latest !== '' && !posts.has(post.id)) this.#note(post);
    for (const each of this.#trashed) if (each.post.status === 'publish') each.mustBeCancelled = false;
  }

  /** The gateway reads a post that was just written through it, or that a webhook or another gateway names. */
  async read(
    by: 'fetchWritten' | 'fetchChanged' | 'fetchPeerChanges',
    post: FakePost,
    isTrashed = false,
  ): Promise<void> {
    const { sync, replica } = this.#site;
    const timeline = this.#note(post);
    const { kind, states } = timeline;
    const written = states.length - 1;
    const isPublic = changeBetween(undefined, getRecord(replica.db, kind, post.id)) !== undefined;
    // The replica may get it with a password first: then it has left the lists before it is in the trash.
    const mayGetPassword = states.slice(timeline.from).some((state) => state?.includes('"protected":true'));
    const mustBeCancelled = kind === 'event' && isPublic && !mayGetPassword && sync.status().complete;
    // What is named again in the same batch is still read as trashed.
    const trashed: Trashed = { post, mustBeCancelled, until: Number.POSITIVE_INFINITY };
    if (isTrashed) this.#trashed.push(trashed);
    const change: ChangedRecord = { kind, id: post.id, isTrashed };
    const fetched = by === 'fetchPeerChanges' ? sync.fetchPeerChanges([change]) : sync.fetchChanged([change]);
    // The same batch.
    if (by === 'fetchWritten') await sync.fetchWritten([change]);
    const isRead = await fetched;
    trashed.until = states.length - 1;
    if (isRead && getRecord(replica.db, kind, post.id))
      this.#trashed = this.#trashed.filter((each) => each !== trashed);
    if (!isRead && by !== 'fetchWritten') return;
    timeline.from = Math.max(timeline.from, written);
    timeline.isUnread ||= !isRead;
    this.#checkShown(post.id);
  }

  /** A process forgets what it was told and could not read. */
  restarted(): void {
    const { journal } = this.#site.replica;
    for (const each of this.#trashed) each.mustBeCancelled &&= journal.cancelled(each.post.id) !== undefined;
  }

  /** Fails if what must hold at any moment does not. */
  check(): void {
    const { replica, sync } = this.#site;
    if (this.#failures.length > 0) throw this.#failures[0];
    if (replica.version === this.#version) return;
    this.#version = replica.version;
    // The initial sync notes no changes.
    if (sync.state().complete) this.#follow(this.#withheld());
  }

  /** Fails if, when everything is read, an event in the trash is not cancelled, or one that was not seen there is. */
  checkCancelled(): void {
    const isCancelled = (id: number) => this.#site.replica.journal.cancelled(id) !== undefined;
    const trashed = this.#trashed.filter((each) => each.mustBeCancelled && each.post.status === 'trash');
    expect(trashed.filter(({ post }) => !isCancelled(post.id))).to.deep.equal([]);
    const others = new Set(this.#timelines.keys());
    for (const { post } of this.#trashed) others.delete(post.id);
    expect([...others].filter(isCancelled)).to.deep.equal([]);
  }

  #note(post: FakePost): Timeline {
    const { id, base } = post;
    const kind = KINDS[base]!;
    const timeline = this.#timelines.get(id) ?? {
      ...{ kind, post, latest: '', states: [undefined], from: 0, isUnread: false },
    };
    this.#timelines.set(id, timeline);
    const isErased = !this.#site.cms.posts.has(id);
    const latest = isErased ? '' : JSON.stringify(post);
    if (latest === timeline.latest) return timeline;
    timeline.latest = latest;
    const record = isErased ? undefined : postRecord(this.#site, kind, post);
    timeline.states.push(record && JSON.stringify(record));
    return timeline;
  }

  /** Notes a failure if the replica shows what is older than what it has shown, or than a write that was read. */
  #checkShown(id: number): void {
    const timeline = this.#timelines.get(id);
    if (!timeline) return;
    const { kind, states, from, isUnread } = timeline;
    const held = getRecord(this.#site.replica.db, kind, id);
    const at = states.indexOf(held && JSON.stringify(held), from);
    if (held) this.#trashed = this.#trashed.filter(({ post, until }) => post.id !== id || at <= until);
    if (at >= 0) Object.assign(timeline, { from: at, isUnread: isUnread && !held });
    else if (held || !(isUnread || this.#withheld().has(`${kind} ${id}`)))
      this.#failures.push(new Error(`${kind} ${id} is ${JSON.stringify(held)}; after ${from} of ${states.join('\n')}`));
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
