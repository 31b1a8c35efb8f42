// Reads the occurrences of a series, which the companion plugin adds to the event's record: each becomes an event.

import type { CmsRecord, Query } from '../cms/port.ts';
import { FIELDS } from '../interface/fields.ts';
import { SIZES } from '../interface/value-lengths.ts';
import { isObject } from '../model/json.ts';
import { type EventRecord, MAX_SLUG_BYTES, occurrenceId, type Site } from '../model/records.ts';
import { validWallTime } from '../time/wall-time.ts';
import type { OccurrenceWindow } from './mapping-file.ts';
import { completeEvent } from './read-record.ts';
import type { LinkTables } from './references.ts';

/** The field of an event's record with its occurrences (`null`: no series), and the parameter that asks for it. */
export const OCCURRENCES_FIELD = 'calendar_occurrences';

/** The most of one series. The companion plugin sends those that are nearest to today. */
export const MAX_OCCURRENCES = 1000;

type ReadEvent = (cmsRecord: CmsRecord, site: Site, linkTables?: LinkTables) => EventRecord;

/** The occurrences of the series, in the order of their starts; empty for any other event. */
export type OccurrenceReader = (...args: Parameters<ReadEvent>) => EventRecord[];

export const occurrenceParams = ({ pastDays = 180, futureDays = 366 }: OccurrenceWindow): Query => ({
  [OCCURRENCES_FIELD]: `${pastDays},${futureDays}`,
});

/** Whether the record is a series. No list shows a series itself: its occurrences are listed. */
export const isSeries = (cmsRecord: CmsRecord): boolean => Array.isArray(cmsRecord[OCCURRENCES_FIELD]);

/** `readEvent` reads a series as an event of its own. `read` does so too, and hides it from lists. */
export function createSeriesReaders(readEvent: ReadEvent): { read: ReadEvent; occurrences: OccurrenceReader } {
  const read: ReadEvent = (cmsRecord, ...context) => {
    const event = readEvent(cmsRecord, ...context);
    return isSeries(cmsRecord) ? { ...event, hidden: true } : event;
  };
  const occurrences: OccurrenceReader = (cmsRecord, site, linkTables) => {
    if (!isSeries(cmsRecord)) return [];
    const series = readEvent(cmsRecord, site, linkTables);
    const sent = (cmsRecord[OCCURRENCES_FIELD] as unknown[]).slice(0, MAX_OCCURRENCES);
    const stored = sent.flatMap((each) => parseOccurrence(each) ?? []);
    stored.sort((a, b) => `${a.start} ${a.end}`.localeCompare(`${b.start} ${b.end}`));
    const countByDay = new Map<string, number>();
    return stored.flatMap((fields) => {
      const day = fields.start.slice(0, 10);
      const place = countByDay.get(day) ?? 0;
      countByDay.set(day, place + 1);
      const id = occurrenceId(series.id, fields.start, place);
      if (id === undefined) return [];
      const slug = occurrenceSlug(series.slug, place === 0 ? day : `${day}-${place + 1}`);
      const occurrence: EventRecord = { ...series, ...fields, id, slug, parent: series.id };
      completeEvent(occurrence, site);
      return [occurrence];
    });
  };
  return { read, occurrences };
}

/** What an occurrence may have of its own, as a text: zone, page, and what the original lacks (`event_status`). */
const OWN_TEXTS = Object.entries(FIELDS.event).filter(
  ([name, { parameter }]) => name === 'timezone' || name === 'url' || parameter?.addition,
);

/** Only known words, and texts that are short enough: else the series' count. A blank is the occurrence's own. */
function ownTexts(occurrence: CmsRecord): Partial<EventRecord> {
  const texts = OWN_TEXTS.flatMap(([name, { property, words, parameter }]) => {
    const value = occurrence[name];
    // No client writes `url`: it has no parameter.
    const { characters } = parameter?.limit ?? SIZES.url;
    if (typeof value !== 'string' || value.length > characters) return [];
    return value === '' || (words?.includes(value) ?? true) ? [[property, value] as const] : [];
  });
  return Object.fromEntries(texts);
}

/** Returns `undefined` for an occurrence without a readable start. */
function parseOccurrence(value: unknown): (Partial<EventRecord> & Pick<EventRecord, 'start' | 'end'>) | undefined {
  if (!isObject(value)) return undefined;
  const { all_day: allDay } = value;
  const [start, end] = [validWallTime(value.start), validWallTime(value.end)];
  if (start === undefined) return undefined;
  return {
    start,
    end: end !== undefined && end >= start ? end : start,
    ...(typeof allDay === 'boolean' && { allDay }),
    ...ownTexts(value),
  };
}

/** `yoga-2027-03-12`, then `yoga-2027-03-12-2`. A long slug is cut as WordPress cuts it: not within `%C3`. */
function occurrenceSlug(slug: string, suffix: string): string {
  if (slug === '') return '';
  return `${slug.slice(0, MAX_SLUG_BYTES - suffix.length - 1).replace(/%[0-9a-f]?$/i, '')}-${suffix}`;
}
