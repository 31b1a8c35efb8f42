// A copy of the fake WordPress with a clock that stands still, and the question whether both are the same.

import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { publicNative } from '../../src/mapping/public-view.ts';
import type { Observation } from '../../src/observe/events.ts';
import { type CalendarRecord, type Kind, type PostRecord, WITHHELD } from '../../src/records.ts';
import { collectionsOf } from '../../src/replica/collections.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { createSync, type Sync } from '../../src/replica/sync.ts';
import type { Credentials, Native, Upstream } from '../../src/upstream/port.ts';
import { type FakePost, type FakeWordPress, fakeWordPress, SERVICE } from './fake-wordpress.ts';

export const mapping = loadMapping('wordpress-meta');
export const PASS_MS = 600_000;
/** Far more than it takes. */
const MAX_ROUNDS = 10_000;

export interface TestSite {
  cms: FakeWordPress;
  replica: Replica;
  sync: Sync;
  seen: Observation[];
  /** The service account of the running sync. */
  service: Credentials;
  mapped: Mapping;
  /** Both clocks go on. */
  pass(ms: number): void;
  /** The gateway's clock. */
  nowMs(): number;
  /** A new process with the same copy. */
  restart(as?: { service: Credentials }): Promise<void>;
  /** Everything has had time to settle, and what no date betrays is read again. */
  quiet(): Promise<void>;
  /** Nothing happens any more but two looks. */
  settle(): Promise<void>;
  /** Looks once, a little later. */
  look(): Promise<void>;
  close(): Promise<void>;
}

export interface SiteOptions {
  service?: Credentials;
  mapping?: Mapping;
  /** The CMS as the gateway meets it. */
  upstream?: (cms: FakeWordPress) => Upstream;
  /** How far the gateway's clock is ahead of the CMS's. */
  skewMs?: number;
  pageSize?: number;
  file?: string;
}

/** An empty site and a gateway's copy that has not been started. */
export function testSite(options: SiteOptions = {}): TestSite {
  const cms = fakeWordPress();
  const { skewMs = 0, pageSize = 5, file } = options;
  const mapped = options.mapping ?? mapping;
  const replica = openReplica({ identity: 'test', ...(file === undefined ? {} : { file }) });
  const seen: Observation[] = [];
  const nowMs = () => cms.clockMs + skewMs;
  const make = () =>
    createSync({
      ...{
        replica,
        upstream: options.upstream?.(cms) ?? cms,
        mapping: mapped,
        service: site.service,
        intervalMs: 3_600_000,
        passMs: PASS_MS,
        pageSize,
      },
      ...{ nowMs, observe: (observation) => void seen.push(observation) },
    });
  const site: TestSite = {
    cms,
    replica,
    sync: undefined as unknown as Sync,
    seen,
    service: 'service' in options ? options.service : SERVICE,
    mapped,
    nowMs,
    pass(ms) {
      cms.clockMs += ms;
    },
    async restart(as) {
      await site.sync.stop();
      if (as) site.service = as.service;
      site.sync = make();
      site.sync.start();
    },
    async look() {
      site.pass(10_000);
      await site.sync.look();
    },
    async settle() {
      for (let round = 0; !site.sync.status().complete; round += 1) {
        if (round > MAX_ROUNDS) throw new Error(`not complete after ${round} rounds: ${site.sync.status().percent} %`);
        await site.sync.look();
        await new Promise(setImmediate);
      }
      for (let round = 0; round < 2; round += 1) await site.look();
      // A large part of a collection goes only after it was confirmed.
      for (let round = 0; round < 8 && site.sync.status().state === 'lagging'; round += 1) {
        site.pass(100_000);
        await site.look();
      }
    },
    async quiet() {
      await site.settle();
      site.pass(PASS_MS);
      // Some pages a round: enough rounds for the pass to end, and for what it put off.
      for (let round = 0; round < 16; round += 1) await site.look();
    },
    async close() {
      await site.sync.stop();
      replica.close();
    },
  };
  site.sync = make();
  return site;
}

/** Fails with the first difference between the CMS and the copy, as far as the copy's account sees. */
export function expectSame({ cms, replica, service, mapped }: TestSite): void {
  const wanted: Record<string, CalendarRecord> = {};
  const images = new Set<number>();
  const found: Record<string, CalendarRecord> = {};
  for (const collection of collectionsOf(mapped, service)) {
    const { kind, base } = collection;
    const natives = collection.posts
      ? [...cms.posts.values()]
          .filter((post) => post.base === base && collection.statuses.includes(post.status))
          .map((post) => asIngested(cms, post, service))
      : [...cms.terms.values()].filter((term) => term.base === base).map(cms.nativeTerm);
    for (const native of natives) {
      const record = collection.read(native, cms.siteFacts);
      wanted[`${kind} ${record.id}`] = record;
      if ('image' in record && cms.media.has(record.image)) images.add(record.image);
    }
    const rows = replica.ids(kind, collection.posts ? { statuses: collection.statuses } : {});
    for (const [id, record] of replica.getMany(
      kind as Kind,
      rows.map(({ id }) => id),
    ))
      found[`${kind} ${id}`] = record;
  }
  expect(found).to.deep.equal(wanted);
  for (const id of images) expect(replica.image(id)).to.deep.equal(cms.image(cms.media.get(id)!));
}

/** A post as the replica may have it: what is published as the CMS renders it for an anonymous reader. */
export function asIngested(cms: FakeWordPress, post: FakePost, service: Credentials): Native {
  const open = cms.nativePost(post);
  if (service === undefined) return open;
  const own = cms.nativePost(post, { credentials: service, context: 'edit' });
  if (post.status !== 'publish') return own;
  if (post.hiddenFromPublic) return { ...own, status: WITHHELD };
  return publicNative(own, open, { editing: false });
}

/** The record's title in the copy. */
export function titleOf(replica: Replica, kind: 'event' | 'venue' | 'organizer', id: number): string | undefined {
  return (replica.get(kind, id) as PostRecord | undefined)?.title;
}
