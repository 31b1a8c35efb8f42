// Owns one pass over all sources: which of their events are the same as another one, and which records the others get.

import type { SourceEvent } from '../../cms/sources/source.ts';
import type { SourceSettings } from '../../config-schema.ts';
import type { EventRecord, Site } from '../../model/records.ts';
import { pause } from '../../pause.ts';
import type { ChangeSet } from '../../store/changes.ts';
import type { Database } from '../../store/database.ts';
import { getRecord, getRecords } from '../../store/records.ts';
import {
  listedEventIdsAt,
  type SourceRow,
  sharedUrls,
  sourceKeys,
  sourceRows,
  storedSources,
  unusedSourceRecords,
} from '../../store/source-events.ts';
import { utcToWall, zoneOrUtc } from '../../time/zones.ts';
import { batchesOf } from '../ingest.ts';
import { bareText, type Comparable, KnownEvents, type Match, matchKeysOf } from './same-event.ts';
import { derivedId, SourceRecords } from './source-records.ts';

interface Pass {
  db: Database;
  site: Site;
  /** Of two events that are the same, that of the earlier source is shown. */
  sources: readonly SourceSettings[];
  /** One transaction, after which requests are answered. Rejects when the gateway stops. */
  apply: (changes: ChangeSet) => Promise<void>;
}

/** Events of one transaction, which blocks the event loop for a few milliseconds. */
export const BATCH_SIZE = 10;

/** Brings the replica's records in line with what the CMS and all sources say. What is as it was costs no write. */
export async function combine(pass: Pass): Promise<void> {
  const { db, site, sources, apply } = pass;
  const configured = new Set(sources.map(({ name }) => name));
  for (const source of storedSources(db).filter((name) => !configured.has(name)))
    for (const changes of forgetting(source, sourceKeys(db, source))) await apply(changes);
  const merged = await findMerged(pass);
  const records = new SourceRecords(db, site);
  for (const { name, categories = [] } of sources) {
    for (const rows of batchesOfRows(db, name)) {
      for (const row of rows) if (!merged.has(row.ownId)) records.add(row, categories);
      const combined = rows.map((row) => {
        const same = merged.get(row.ownId);
        return { ...row, eventId: same?.id ?? row.ownId, mergedBecause: same?.why ?? '' };
      });
      const mergedIds = combined.flatMap(({ ownId, mergedBecause }) => (mergedBecause === '' ? [] : ownId));
      await apply({ ...records.take(), deletes: [{ kind: 'event', ids: mergedIds }], sourceRows: combined });
    }
  }
  await apply({ deletes: unusedSourceRecords(db) });
}

/** The id of an event in the replica. */
export const ownIdOf = (source: string, key: string): number => derivedId('event', source, key);

/** Changes that delete events of a source. The next pass deletes the venues, terms and images that only they had. */
export function* forgetting(source: string, keys: readonly string[]): Generator<ChangeSet> {
  for (const batch of batchesOf(keys, BATCH_SIZE)) {
    const ids = batch.map((key) => ownIdOf(source, key));
    yield { deletes: [{ kind: 'event', ids }], sourceRows: batch.map((key) => ({ source, key, eventJson: null })) };
  }
}

/** The events that are shown as another one, by their own ids. */
async function findMerged(pass: Pass): Promise<Map<number, Match>> {
  const merged = new Map<number, Match>();
  for (const [startUtc, events] of await eventsByStart(pass)) {
    const shown = new KnownEvents();
    for (const event of siteEventsAt(pass, startUtc, events)) shown.add(event);
    for (const event of events) {
      const same = shown.merge(event);
      if (same) merged.set(event.id, same);
      else shown.add(event);
      await pause();
    }
  }
  return merged;
}

/** The events of the sources that may be merged, by their start in UTC, those of the first source first. */
async function eventsByStart({ db, sources }: Pass): Promise<Map<string, Comparable[]>> {
  const byStart = new Map<string, Comparable[]>();
  for (const { name } of sources.filter(({ merge }) => merge !== false)) {
    const shared = sharedUrls(db, name);
    for (const rows of batchesOfRows(db, name)) {
      for (const row of rows) {
        const event = sourceEvent(row, shared);
        const others = byStart.get(event.startUtc);
        if (others) others.push(event);
        else byStart.set(event.startUtc, [event]);
      }
      await pause();
    }
  }
  return byStart;
}

/** The rows of a source in the order of keys. */
function* batchesOfRows(db: Database, source: string): Generator<SourceRow[]> {
  for (let after = ''; ; ) {
    const rows = sourceRows(db, source, after, BATCH_SIZE);
    if (rows.length === 0) return;
    yield rows;
    after = rows.at(-1)!.key;
  }
}

function sourceEvent({ source, ownId: id, eventJson }: SourceRow, shared: ReadonlySet<string>): Comparable {
  const { uid, url, title, start, startUtc, venue, organizers } = JSON.parse(eventJson) as SourceEvent;
  return {
    ...{ id, source, start, startUtc },
    keys: matchKeysOf(uid, shared.has(url) ? [] : [url], title),
    places: venue ? [{ city: '', ...venue }] : [],
    organizers: organizers.map(({ name }) => bareText(name)),
  };
}

/**
 * The site's own public events that start at `startUtc`, found by their wall time, as the table has no UTC. Looked up
 * are the wall times of `events`: for 18:00 in Berlin the site's event at 12:00 in New York is not found. If the site's
 * plugin lists all events by the site's clock, the table has that wall time, which is looked up instead.
 */
function siteEventsAt({ db, site }: Pass, startUtc: string, events: readonly Comparable[]): Comparable[] {
  const isListedBySite = site.settings?.timezoneMode === 'site';
  const siteStart = isListedBySite ? utcToWall(startUtc, zoneOrUtc(site.timezone)) : undefined;
  const starts = new Set(events.map(({ start }) => siteStart ?? start));
  const ids = [...starts].flatMap((start) => listedEventIdsAt(db, start));
  const found = ids.flatMap((id) => getRecord(db, 'event', id) ?? []);
  return found.filter((event) => !event.protected && event.startUtc === startUtc).map((event) => siteEvent(db, event));
}

function siteEvent(db: Database, { id, title, start, startUtc, url, website, ...event }: EventRecord): Comparable {
  const venues = [...getRecords(db, 'venue', event.venues).values()].filter((venue) => !venue.protected);
  const organizers = [...getRecords(db, 'organizer', event.organizers).values()].filter((each) => !each.protected);
  return {
    ...{ id, source: '', start, startUtc },
    // The CMS tells no UID of an event.
    keys: matchKeysOf('', [url, website], title),
    places: venues.map(({ title: name, ...venue }) => ({ ...venue, name })),
    organizers: organizers.map((organizer) => bareText(organizer.title)),
  };
}
