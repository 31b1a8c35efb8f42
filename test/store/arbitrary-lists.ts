// Arbitrary records and filters of lists, a replica of the published ones, and the records that one caller sees.

import fc from 'fast-check';
import { TERM_ORDERS } from '../../src/interface/parameters.ts';
import { EVENT_STATUSES } from '../../src/model/event-state.ts';
import {
  type CalendarRecord,
  type EventRecord,
  isTermRecord,
  type LinkedRecord,
  type PostRecord,
  type TermRecord,
} from '../../src/model/records.ts';
import { CallerDatabase } from '../../src/store/caller-database.ts';
import type { VisibleRecords } from '../../src/store/database.ts';
import { EVENT_ORDER_COLUMNS, type EventFilter, type EventOrder } from '../../src/store/list-events.ts';
import type { LinkedFilter, PageWindow, TermFilter } from '../../src/store/lists.ts';
import { Replica } from '../../src/store/replica.ts';
import { remove, upsert } from './changes.ts';
import {
  anyEvent,
  anyLinked,
  anyTerm,
  CATEGORIES,
  noticedAt,
  PARENTS,
  STATUSES,
  someValues,
  TARGETS,
  term,
  visibility,
  WORDS,
  wall,
} from './sample-records.ts';

/**
 * Parameters of a property. A failure is reported without the records, which fill pages, and without
 * shrinking, which takes half a minute: the filter is mostly enough. `QUERY_SEED=n` repeats a seed, shrinks
 * and reports everything. `QUERY_RUNS=n` runs the property n times as often.
 */
export function runs<T>(numRuns: number): fc.Parameters<T> {
  const { QUERY_RUNS, QUERY_SEED } = process.env;
  const parameters = { numRuns: numRuns * Number(QUERY_RUNS ?? 1) };
  if (QUERY_SEED !== undefined) return { ...parameters, seed: Number(QUERY_SEED) };
  return {
    ...parameters,
    endOnFailure: true,
    reporter({ failed, seed, counterexamplePath, errorInstance }) {
      if (!failed) return;
      const error = errorInstance instanceof Error ? errorInstance : new Error(String(errorInstance));
      error.message = `QUERY_SEED=${seed} (path ${counterexamplePath}): ${error.message}`;
      throw error;
    },
  };
}

export const page = { limit: fc.constantFrom(0, 3, 100, 100), offset: fc.constantFrom(0, 0, 0, 0, 1, 4) };
const words = fc.array(
  fc.record({ text: fc.constantFrom(...WORDS, 'ß', 'az', 'ABR', 'jazz ', ' '), not: fc.boolean() }),
  { maxLength: 2 },
);
export const someIds = fc.subarray(TARGETS, { maxLength: 4 });
export const bound = fc.record({
  field: fc.constantFrom('start', 'end'),
  op: fc.constantFrom('>=', '>', '<=', '<'),
  wall,
});

/**
 * An arbitrary for each condition of a filter, which is each field but those that every filter has: a
 * forgotten one does not compile.
 */
export type Arbitraries<Filter, Fixed extends keyof Filter> = Record<
  Exclude<keyof Filter, keyof PageWindow | Fixed>,
  fc.Arbitrary<unknown>
>;

/** A filter with at most three conditions: with more, nothing ever matches. */
export function anyFilter<T>(
  fixed: Record<string, fc.Arbitrary<unknown>>,
  conditions: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<T> {
  return fc
    .tuple(fc.record(fixed), fc.record(conditions), fc.subarray(Object.keys(conditions), { maxLength: 3 }))
    .map(([values, all, names]) => ({ ...values, ...Object.fromEntries(names.map((name) => [name, all[name]])) }) as T);
}

export const EVENT_ORDERS = Object.keys(EVENT_ORDER_COLUMNS) as EventOrder[];
const statuses = fc.subarray(STATUSES);

export const eventFilter = anyFilter<EventFilter>(
  {
    ...page,
    order: fc.constantFrom(...EVENT_ORDERS),
    descending: fc.constantFrom(undefined, false, true),
  },
  {
    statuses,
    bounds: fc.array(bound, { maxLength: 3 }),
    words,
    categories: someIds,
    tags: someIds,
    venues: someIds,
    notVenues: someIds,
    customFields: someValues,
    organizers: someIds.map((ids) => ids.map((id) => id + 10)),
    featured: fc.boolean(),
    include: fc.array(fc.integer({ min: 100, max: 130 }), { maxLength: 20 }),
    parent: fc.constantFrom(101, 102),
    eventStatuses: fc.subarray([...EVENT_STATUSES], { minLength: 1, maxLength: 2 }),
    sources: fc.constant(['library']),
    modifiedAfter: wall,
  } satisfies Arbitraries<EventFilter, 'order' | 'descending'>,
);

export const linkedFilter = anyFilter<LinkedFilter>({ ...page }, {
  statuses,
  words,
  customFields: someValues,
  event: fc.constantFrom(100, 101, 104, 999),
  hasEvents: fc.boolean(),
  upcomingFromUtc: wall,
  modifiedAfter: wall,
} satisfies Arbitraries<LinkedFilter, never>);

export const termFilter = anyFilter<TermFilter>(
  {
    ...page,
    kind: fc.constantFrom('category', 'tag'),
    orderBy: fc.constantFrom(...TERM_ORDERS),
    descending: fc.boolean(),
    hideEmpty: fc.boolean(),
  },
  {
    search: fc.constantFrom('E', 'é', 'food', '%', '_', 'drink', 'only'),
    include: someIds,
    exclude: someIds,
    parent: fc.constantFrom(...PARENTS),
    event: fc.constantFrom(100, 101, 104, 999),
    slug: fc.constantFrom('JAZZ', 'only-3', 'none'),
    noticedFrom: fc.integer({ min: 0, max: 10 }).map((id) => noticedAt(term('tag', id))),
  } satisfies Arbitraries<TermFilter, 'kind' | 'orderBy' | 'descending' | 'hideEmpty'>,
);

export const records = fc
  .tuple(
    fc.tuple(...Array.from({ length: 25 }, (_, n) => anyEvent(100 + n))),
    fc.tuple(...TARGETS.map((id) => anyLinked('venue', id))),
    fc.tuple(...TARGETS.map((id) => anyLinked('organizer', id + 10))),
    fc.tuple(
      ...[...CATEGORIES, ...PARENTS].map((id) => anyTerm('category', id)),
      ...TARGETS.map((id) => anyTerm('tag', id)),
    ),
    fc.array(fc.nat(24), { maxLength: 8 }),
    fc.tuple(...Array.from({ length: 25 }, (_, n) => anyEvent(100 + n))),
    visibility,
  )
  .map(([events, venues, organizers, terms, again, later, seen]) => {
    // Organizers have ids of their own: posts share record id space.
    const moved = (record: EventRecord) => ({ ...record, organizers: record.organizers.map((id) => id + 10) });
    return {
      first: [...events.map(moved), ...venues, ...organizers, ...terms] as CalendarRecord[],
      changed: again.map((n) => moved(later[n]!)),
      deleted: again.slice(0, 2).map((n) => 100 + ((n + 7) % 25)),
      seen,
    };
  });

export type World = typeof records extends fc.Arbitrary<infer T> ? T : never;

/** What somebody sees of the records: the view that lists read, and the records themselves for the oracle. */
export interface Seen {
  visible: VisibleRecords;
  events: EventRecord[];
  linked: LinkedRecord[];
}

/**
 * A replica of the published records, and a caller who sees some of the others: some were changed and some deleted, which
 * must not influence lists.
 */
export function build({ first, changed, deleted, seen }: World): {
  replica: Replica;
  everybody: Seen;
  caller: Seen;
  terms: TermRecord[];
} {
  const terms = first.filter(isTermRecord);
  /** The replica asks for the time once for each new or changed term. */
  const times = terms.map((record) => Date.parse(`${noticedAt(record)}Z`));
  const replica = new Replica({ identity: 'test', nowMs: () => times.shift()! });
  const isPublic = (record: CalendarRecord) => isTermRecord(record) || record.status === 'publish';
  upsert(replica, first.filter(isPublic));
  upsert(replica, [...changed.filter(isPublic), ...terms]);
  remove(replica, 'event', [...changed.filter((record) => !isPublic(record)).map(({ id }) => id), ...deleted]);
  const stored = new Map<string, PostRecord>();
  for (const record of [...first, ...changed])
    if (!isTermRecord(record)) stored.set(`${record.kind}/${record.id}`, record);
  for (const id of deleted) stored.delete(`event/${id}`);
  const all = [...stored.values()];
  const isOwn = ({ status, author }: PostRecord) =>
    status !== 'publish' &&
    (seen.anyAuthor.includes(status) || (seen.userId === author && seen.ownOnly.includes(status)));
  const own = new CallerDatabase(replica.db, 1);
  own.add(all.filter(isOwn).map((record) => ({ ...record, title: 'before' })));
  own.add(all.filter(isOwn));
  const seenBy = (visible: VisibleRecords, records: PostRecord[]): Seen => ({
    visible,
    events: records.filter((record) => record.kind === 'event'),
    linked: records.filter((record) => record.kind !== 'event'),
  });
  return {
    replica,
    everybody: seenBy(replica.db, all.filter(isPublic)),
    caller: seenBy(
      own,
      all.filter((record) => isPublic(record) || isOwn(record)),
    ),
    terms,
  };
}

export const eventsOf = (all: readonly CalendarRecord[]): EventRecord[] =>
  all.filter(({ kind }) => kind === 'event') as EventRecord[];

/**
 * The conditions that choose all of the sample records or none, so that no property tests them, such as `featured` if
 * `anyEvent` had no featured event.
 * @param plain a filter without conditions
 */
export function untestedConditions<Filter extends object>(
  filters: fc.Arbitrary<Filter>,
  plain: Filter,
  totalOf: (all: readonly CalendarRecord[], filter: Filter) => number,
): string[] {
  const worlds = fc.sample(records, { seed: 1, numRuns: 20 }).map(({ first }) => first);
  const tested = new Map<string, boolean>();
  for (const filter of fc.sample(filters, { seed: 1, numRuns: 500 }))
    for (const [name, value] of Object.entries(filter)) {
      if (name in plain || tested.get(name)) continue;
      const choosesSome = worlds.some((all) => {
        const total = totalOf(all, { ...plain, [name]: value });
        return total > 0 && total < totalOf(all, plain);
      });
      tested.set(name, choosesSome);
    }
  return [...tested].filter(([, isTested]) => !isTested).map(([name]) => name);
}
