// A sync in front of the fake CMS, with clocks that the test advances, and the check that the replica equals
// the CMS.

import { expect } from 'chai';
import type { Cms, CmsRecord, Credentials } from '../../src/cms/port.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import type { CalendarRecord, Kind, PostKind, PostRecord } from '../../src/model/records.ts';
import type { Observation } from '../../src/observability/observations.ts';
import { getImage, getRecord, getRecords } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import { Sync } from '../../src/sync/sync.ts';
import { createFakeCms, type FakeCms, type FakePost, SERVICE } from '../cms/fake-cms.ts';
import { recordIds } from '../store/record-counts.ts';

export const mapping = loadMapping('wordpress-meta');
export const SCAN_INTERVAL_MS = 600_000;
/** Far more than any test needs. */
const MAX_POLLS = 10_000;

export interface TestSite {
  cms: FakeCms;
  replica: Replica;
  readonly sync: Sync;
  observations: Observation[];
  /** As whom the sync reads; undefined for a visitor. */
  readonly visitor: Credentials;
  mapping: Mapping;
  /** Advances both clocks. */
  advance(ms: number): void;
  /** Sets the gateway's wall clock forward, or back. */
  setClock(byMs: number): void;
  /** The gateway's clock. */
  nowMs(): number;
  /** A new process with the same replica. */
  restart(): Promise<void>;
  /** Settles, and then polls until a scan has re-read everything. */
  scan(): Promise<void>;
  /** Waits for the initial sync, polls twice, and then until no deletion is suspended. */
  settle(): Promise<void>;
  /** Advances both clocks by 10 s and polls once. */
  poll(): Promise<void>;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** As whom the sync reads. Default: as a visitor. */
  visitor?: Credentials;
  mapping?: Mapping;
  /** Wraps the CMS. */
  cms?: (cms: FakeCms) => Cms;
  /** How far the gateway's clock is ahead of the CMS's. */
  skewMs?: number;
  pageSize?: number;
  file?: string;
}

/** An empty site at the start of 2026, and a sync that is not started. */
export function testSite(options: SiteOptions = {}): TestSite {
  const { pageSize = 5, file } = options;
  let { skewMs = 0 } = options;
  let cmsMs = Date.UTC(2026, 0, 1);
  const cms = createFakeCms(() => cmsMs, { timezone: '+02:00' });
  const siteMapping = options.mapping ?? mapping;
  const replica = new Replica({ identity: 'test', ...(file !== undefined && { file }) });
  const observations: Observation[] = [];
  const { visitor } = options;
  const nowMs = () => cmsMs + skewMs;
  const newSync = () =>
    new Sync({
      replica,
      cms: options.cms?.(cms) ?? cms,
      mapping: siteMapping,
      visitorCredentials: visitor,
      imageReader: SERVICE,
      intervalMs: 3_600_000,
      scanIntervalMs: SCAN_INTERVAL_MS,
      pageSize,
      nowMs,
      clockMs: () => cmsMs,
      observe: (observation) => void observations.push(observation),
    });
  const site: TestSite = {
    cms,
    replica,
    get sync() {
      return sync;
    },
    observations,
    visitor,
    mapping: siteMapping,
    nowMs,
    advance(ms) {
      cmsMs += ms;
    },
    setClock(byMs) {
      skewMs += byMs;
    },
    async restart() {
      await site.sync.stop();
      sync = newSync();
      site.sync.start();
    },
    async poll() {
      site.advance(10_000);
      await site.sync.poll();
    },
    async settle() {
      for (let n = 0; !site.sync.status().complete; n += 1) {
        if (n > MAX_POLLS) throw new Error(`not complete after ${n} polls: ${site.sync.status().percent} %`);
        await site.sync.poll();
        await new Promise(setImmediate);
      }
      for (let n = 0; n < 2; n += 1) await site.poll();
      // A mass deletion waits for confirmation.
      for (let n = 0; n < 8 && site.sync.status().state === 'stale'; n += 1) {
        site.advance(100_000);
        await site.poll();
      }
    },
    async scan() {
      await site.settle();
      site.advance(SCAN_INTERVAL_MS);
      // A scan reads some pages per poll, and leaves dirty records to the next.
      for (let n = 0; n < 16; n += 1) await site.poll();
    },
    async close() {
      await site.sync.stop();
      replica.close();
    },
  };
  let sync = newSync();
  return site;
}

type Scene = Pick<TestSite, 'cms' | 'replica' | 'visitor' | 'mapping'>;

/** What the CMS sends visitors of a post; nothing if they do not see it. */
const visiblePost = (cms: FakeCms, visitor: Credentials, post: FakePost): CmsRecord[] =>
  post.status === 'publish' && (visitor || !post.hiddenFromPublic)
    ? [cms.response(post, { credentials: visitor, view: visitor === undefined ? 'public' : 'reader' })]
    : [];

/** The record that visitors see of a post in the CMS. */
export function postRecord({ cms, visitor, mapping }: TestSite, kind: PostKind, post: FakePost) {
  const [record] = visiblePost(cms, visitor, post);
  return record && mapping.kinds[kind]!.read(record, cms.siteFacts);
}

/** The records that visitors see in the CMS, by kind and id (`event 12`), and the images that they name. */
export function expectedRecords({ cms, visitor, mapping }: Omit<Scene, 'replica'>): {
  records: Record<string, CalendarRecord>;
  images: Set<number>;
} {
  const records: Record<string, CalendarRecord> = {};
  const images = new Set<number>();
  for (const collection of collectionsOf(mapping)) {
    const { kind, collection: base } = collection;
    const cmsRecords =
      collection.storedAs === 'posts'
        ? [...cms.posts.values()]
            .filter((post) => post.base === base)
            .flatMap((post) => visiblePost(cms, visitor, post))
        : [...cms.terms.values()].filter((term) => term.base === base).map((term) => cms.response(term));
    for (const cmsRecord of cmsRecords) {
      const record = collection.read(cmsRecord, cms.siteFacts);
      for (const each of [record, ...(collection.occurrences?.(cmsRecord, cms.siteFacts) ?? [])])
        records[`${kind} ${each.id}`] = each;
      if ('image' in record && cms.media.has(record.image)) images.add(record.image);
    }
  }
  return { records, images };
}

/**
 * No response shows a term that the replica lacks. Example: the sync reads an event with a new category, and the CMS
 * deletes the category before the sync reads categories. A scan removes it from the event.
 */
function withoutUnknownTerms({ db }: Replica, record: CalendarRecord): CalendarRecord {
  if (!('categories' in record)) return record;
  const known = (kind: Kind, ids: number[]) => ids.filter((id) => getRecord(db, kind, id) !== undefined);
  return { ...record, categories: known('category', record.categories), tags: known('tag', record.tags) };
}

/** Fails if the replica differs from what visitors see in the CMS. */
export function expectInSync({ cms, replica, visitor, mapping }: Scene): void {
  const { records, images } = expectedRecords({ cms, visitor, mapping });
  const held: Record<string, CalendarRecord> = {};
  for (const { kind } of collectionsOf(mapping)) {
    const ids = recordIds(replica.db, kind);
    for (const [id, record] of getRecords(replica.db, kind as Kind, ids))
      held[`${kind} ${id}`] = withoutUnknownTerms(replica, record);
  }
  expect(held).to.deep.equal(records);
  for (const id of images) expect(getImage(replica.db, id)).to.deep.equal(cms.image(cms.media.get(id)!));
}

/** The record's title in the replica. */
export function titleOf(replica: Replica, kind: 'event' | 'venue' | 'organizer', id: number): string | undefined {
  return (getRecord(replica.db, kind, id) as PostRecord | undefined)?.title;
}
