// The oracle of list queries: every list as a plain filter over all records.

import type { EventRecord, LinkedRecord, PostRecord, TermRecord } from '../../src/model/records.ts';
import type { EventFilter } from '../../src/store/list-events.ts';
import type { LinkedFilter, PageWindow, TermFilter } from '../../src/store/lists.ts';
import { fold, foldForSort, type SearchWord } from '../../src/text/text.ts';
import { noticedAt } from './sample-records.ts';

const hasStatus = (statuses: readonly string[], { status }: PostRecord) => statuses.includes(status);

/** Properties ask for the same texts again and again. */
function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const result = results.get(text) ?? compute(text);
    results.set(text, result);
    return result;
  };
}
const folded = remembered(fold);
const foldedForSort = remembered(foldForSort);
const bytesOf = remembered((text) => Buffer.from(text));

/** No search finds a record without a text, such as a protected one. */
const hasWords = (words: readonly SearchWord[], text: string) =>
  words.length === 0 ||
  (folded(text) !== '' && words.every((word) => folded(text).includes(folded(word.text)) !== word.not));

const hasAny = (wanted: readonly number[], ids: number[]) => wanted.some((id) => ids.includes(id));

/** An event as filters see it: without what its password hides. */
export const withoutProtected = (event: EventRecord): EventRecord =>
  event.protected
    ? {
        ...event,
        featured: false,
        parent: 0,
        eventStatus: '' as const,
        categories: [],
        tags: [],
        venues: [],
        organizers: [],
      }
    : event;

const hasCustom = (
  wanted: Readonly<Record<string, string>>,
  { protected: isProtected, customFields = {} }: PostRecord,
) => Object.entries(wanted).every(([name, value]) => !isProtected && String(customFields[name]) === value);

const OPERATORS = {
  '>=': (a: string, b: string) => a >= b,
  '>': (a: string, b: string) => a > b,
  '<=': (a: string, b: string) => a <= b,
  '<': (a: string, b: string) => a < b,
};

/** As SQLite compares text: by code points. */
const compareText = (a: string, b: string) => Buffer.compare(bytesOf(a), bytesOf(b));
const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);

const pageOf = (ids: number[], { limit, offset }: { limit: number; offset: number }) => ({
  ids: ids.slice(offset, offset + limit),
  total: ids.length,
});

/** Whether a record matches each condition of a filter that is asked. A condition without a row does not compile. */
type Conditions<Filter, Listed, Fixed extends keyof Filter = never> = {
  [Name in Exclude<keyof Filter, keyof PageWindow | Fixed>]-?: (
    wanted: NonNullable<Filter[Name]>,
    record: Listed,
  ) => boolean;
};

const meetsAll = <Listed>(conditions: object, filter: object, record: Listed): boolean =>
  Object.entries(conditions).every(([name, isMatch]) => {
    const wanted = filter[name as keyof typeof filter];
    return wanted === undefined || isMatch(wanted, record);
  });

const MATCHES: Conditions<EventFilter, EventRecord, 'order' | 'descending'> = {
  statuses: hasStatus,
  bounds: (bounds, event) => bounds.every(({ field, op, wall }) => OPERATORS[op](event[field], wall)),
  words: (words, { searchText }) => hasWords(words, searchText),
  categories: (wanted, { categories }) => hasAny(wanted, categories),
  tags: (wanted, { tags }) => hasAny(wanted, tags),
  venues: (wanted, { venues }) => hasAny(wanted, venues),
  organizers: (wanted, { organizers }) => hasAny(wanted, organizers),
  featured: (wanted, { featured }) => featured === wanted,
  include: (include, { id }) => include.includes(id),
  modifiedAfter: (after, { modifiedUtc }) => modifiedUtc > after,
  parent: (wanted, { parent }) => parent === wanted,
  eventStatuses: (wanted, { eventStatus }) => eventStatus !== '' && wanted.includes(eventStatus),
  // No event of the oracle comes from a source: test/sync/sources/sources.test.ts has some.
  sources: () => false,
  customFields: hasCustom,
  notVenues: (unwanted, { venues }) => !hasAny(unwanted, venues),
};

/** The titles of `anyEvent`: one entity and one tag. */
const plainTitle = remembered((title) => title.replace('&amp;', '&').replace(/<\/?b>/g, ''));

/** @param events that the caller may see */
export function expectedEvents(events: EventRecord[], filter: EventFilter) {
  const matches = events.map(withoutProtected).filter((event) => !event.hidden && meetsAll(MATCHES, filter, event));
  const byDate = (a: EventRecord, b: EventRecord) => compare(a.date, b.date);
  const orders: Record<EventFilter['order'], (a: EventRecord, b: EventRecord) => number> = {
    start: (a, b) => compare(a.start, b.start) || byDate(a, b),
    published: byDate,
    modified: (a, b) => compare(a.modifiedUtc, b.modifiedUtc),
    title: (a, b) => compareText(foldedForSort(plainTitle(a.title)), foldedForSort(plainTitle(b.title))),
  };
  matches.sort((a, b) => (filter.descending ? -1 : 1) * (orders[filter.order](a, b) || compare(a.id, b.id)));
  return pageOf(
    matches.map(({ id }) => id),
    filter,
  );
}

/** @param records that the caller may see, as the events */
export function expectedLinked(records: LinkedRecord[], events: EventRecord[], filter: LinkedFilter) {
  const seen = events.map(withoutProtected).filter(({ status }) => status !== 'trash');
  const linkedTo = (record: LinkedRecord) => seen.filter((other) => other[`${record.kind}s`].includes(record.id));
  const conditions: Conditions<LinkedFilter, LinkedRecord> = {
    statuses: hasStatus,
    words: (words, { searchText }) => hasWords(words, searchText),
    customFields: hasCustom,
    modifiedAfter: (after, { modifiedUtc }) => modifiedUtc > after,
    event: (event, record) => linkedTo(record).some(({ id }) => id === event),
    hasEvents: (hasEvents, record) => hasEvents === linkedTo(record).length > 0,
    upcomingFromUtc: (from, record) => linkedTo(record).some((other) => !other.hidden && other.startUtc >= from),
  };
  const matches = records.filter((record) => meetsAll(conditions, filter, record));
  matches.sort((a, b) => compare(b.date, a.date) || compare(a.id, b.id));
  return pageOf(
    matches.map(({ id }) => id),
    filter,
  );
}

/** @param events that the caller may see */
export function expectedTerms(all: TermRecord[], events: EventRecord[], filter: TermFilter) {
  const terms = all.filter(({ kind }) => kind === filter.kind);
  const field = filter.kind === 'category' ? 'categories' : 'tags';
  const shown = events.map(withoutProtected);
  const count = (id: number) =>
    shown.filter((record) => record.status === 'publish' && record[field].includes(id)).length;
  const seen = shown.filter((record) => record.status !== 'trash');
  const below = (id: number, met = new Set<number>()): number[] =>
    terms
      .filter(({ parent }) => parent === id && id !== 0)
      .flatMap((child) => {
        if (met.has(child.id)) return [];
        met.add(child.id);
        return [child.id, ...below(child.id, met)];
      });
  const isNotEmpty = (record: TermRecord) =>
    count(record.id) > 0 || (filter.include === undefined && below(record.id).some((id) => count(id) > 0));
  const conditions: Conditions<TermFilter, TermRecord, 'kind' | 'orderBy' | 'descending'> = {
    search: (search, { name, slug }) => [name, slug].some((text) => folded(text).includes(folded(search))),
    include: (include, { id }) => include.includes(id),
    exclude: (exclude, { id }) => !exclude.includes(id),
    hideEmpty: (hideEmpty, record) => !hideEmpty || isNotEmpty(record),
    parent: (wanted, { parent }) => parent === wanted,
    event: (event, record) => seen.find(({ id }) => id === event)?.[field].includes(record.id) ?? false,
    noticedFrom: (from, record) => noticedAt(record) >= from,
    slug: (wanted, { slug }) => slug.toLowerCase() === wanted.toLowerCase(),
  };
  const matches = terms.filter((record) => meetsAll(conditions, filter, record));
  const byName = (a: TermRecord, b: TermRecord) => compareText(foldedForSort(a.name), foldedForSort(b.name));
  const byIndex = (a: TermRecord, b: TermRecord) =>
    filter.include ? filter.include.indexOf(a.id) - filter.include.indexOf(b.id) : byName(a, b);
  const orders: Record<TermFilter['orderBy'], (a: TermRecord, b: TermRecord) => number> = {
    name: byName,
    id: (a, b) => a.id - b.id,
    slug: (a, b) => compareText(a.slug.toLowerCase(), b.slug.toLowerCase()),
    count: (a, b) => count(a.id) - count(b.id),
    description: (a, b) => compareText(foldedForSort(a.description), foldedForSort(b.description)),
    parent: (a, b) => a.parent - b.parent,
    include: byIndex,
    include_slugs: byIndex,
    term_group: () => 0,
    none: () => 0,
  };
  const direction = filter.descending ? -1 : 1;
  matches.sort((a, b) => direction * orders[filter.orderBy](a, b) || a.id - b.id);
  return pageOf(
    matches.map(({ id }) => id),
    filter,
  );
}
