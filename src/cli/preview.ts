// A few records of a site read by a mapping, and answered as the interface would.

import { createPresent, type Json } from '../calendar/present.ts';
import { fittedUpstream } from '../mapping/fitting.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { CalendarRecord, EventRecord, Kind, RecordOf, Site } from '../records.ts';
import { PUBLIC_ONLY } from '../replica/filters.ts';
import { openReplica } from '../replica/store.ts';
import type { Native, Query } from '../upstream/port.ts';
import { type OpenSite, unlessRefused } from './open-site.ts';

export interface Read {
  native: Native;
  record: CalendarRecord;
}

/** What was read of each kind; a kind whose collection the site refuses is missing. */
export type Records = Partial<Record<Kind, Read[]>>;

const LINKED = 100;

export interface ReadOptions {
  /** Events to read; the newest first. */
  count: number;
}

/** Reads some events and up to a hundred of each other kind. Throws `UpstreamAway`. */
export async function readRecords(
  open: OpenSite,
  mapping: Mapping,
  site: Site,
  { count }: ReadOptions,
): Promise<Records> {
  const upstream = fittedUpstream(open.upstream, mapping);
  const options = open.credentials === undefined ? {} : { credentials: open.credentials };
  const natives = async (kind: Kind): Promise<Native[] | undefined> => {
    const map = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    if (!map) return undefined;
    const query = { ...scopeOf(map, open.credentials !== undefined), per_page: kind === 'event' ? count : LINKED };
    const listed = unlessRefused(upstream.list(map.base, { ...query, _fields: map.select }, options), undefined);
    return (await listed)?.items;
  };
  const records: Records = {};
  const linked: Partial<Record<Kind, Native[]>> = {};
  for (const kind of ['category', 'tag', 'venue', 'organizer'] as const) linked[kind] = (await natives(kind)) ?? [];
  const joins = await joinTables(open, mapping, linked);
  for (const kind of ['category', 'tag', 'venue', 'organizer', 'event'] as const) {
    const map = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    const found = kind === 'event' ? await natives(kind) : linked[kind];
    if (map && found) records[kind] = found.map((native) => ({ native, record: map.read(native, site, joins) }));
  }
  return records;
}

/** The events that were made first, up to a hundred: on a site that is in use some of them are over. Throws `UpstreamAway`. */
export async function oldestEvents(open: OpenSite, mapping: Mapping, site: Site): Promise<EventRecord[]> {
  const map = mapping.kinds.event;
  const options = open.credentials === undefined ? {} : { credentials: open.credentials };
  const scope = scopeOf(map, open.credentials !== undefined);
  const query = { ...scope, per_page: LINKED, orderby: 'date', order: 'asc', _fields: map.select };
  const listed = await unlessRefused(fittedUpstream(open.upstream, mapping).list(map.base, query, options), undefined);
  return (listed?.items ?? []).map((native) => map.read(native, site));
}

type Listed = Pick<KindMapping<Kind>, 'as' | 'listParams' | 'statuses' | 'context'>;

/** What a list request for the copy sends: the mapping's parameters, and with credentials every status. */
export function scopeOf(map: Listed, withCredentials: boolean): Query {
  const scope: Query = { ...map.listParams };
  if (withCredentials && map.as === 'posts')
    Object.assign(scope, {
      context: 'edit',
      status: ['publish,future,draft,pending,private', ...map.statuses].join(','),
    });
  if (withCredentials && map.context) scope.context = map.context;
  return scope;
}

/** The tables by which events name venues and organizers where not by id; `linked`: these records as the site answers them. */
export async function joinTables(
  { upstream, credentials }: OpenSite,
  mapping: Mapping,
  linked: Partial<Record<Kind, Native[]>>,
): Promise<JoinTables> {
  const tables: Record<string, unknown> = {};
  const options = credentials === undefined ? {} : { credentials };
  for (const join of mapping.kinds.event.joins ?? []) {
    const query = { per_page: LINKED, _fields: 'id,slug' };
    const terms =
      join.terms === undefined
        ? []
        : (await unlessRefused(upstream.list(join.terms, query, options), undefined))?.items;
    tables[join.field] = join.table(linked[join.kind] ?? [], terms ?? []);
  }
  return tables as JoinTables;
}

/** The answers of the interface for some of the events that have a begin, published ones first. */
export function answersOf(records: Records, mapping: Mapping, site: Site, base: string, count: number): Json[] {
  const replica = openReplica({ identity: 'preview' });
  try {
    const all = Object.values(records).flat();
    replica.put(all.map(({ record }) => record));
    for (const reader of Object.values(mapping.kinds.event.inline ?? {}))
      replica.put((records.event ?? []).flatMap(({ native }) => reader(native, site) ?? []));
    const present = createPresent(replica, () => site);
    const events = (records.event ?? []).map(({ record }) => record as EventRecord);
    const shown = [...events.filter(isPublic), ...events.filter((event) => !isPublic(event))].filter(
      ({ start }) => start !== '',
    );
    return shown
      .slice(0, count)
      .map((event) => present.event(event, { base, visibility: PUBLIC_ONLY }, { unlocked: true }));
  } finally {
    replica.close();
  }
}

const isPublic = ({ status }: RecordOf['event']): boolean => status === 'publish';

/** What a person looks at first in an answer, a line each. */
export function linesOfAnswer(answer: Json): string[] {
  const names = (value: unknown, key: string): string =>
    [value]
      .flat()
      .map((each) => String((each as Json)[key] ?? ''))
      .filter((name) => name !== '')
      .join(', ');
  const place = [answer.venue].flat()[0] as Json | undefined;
  const values: Record<string, unknown> = {
    id: answer.id,
    title: answer.title,
    status: answer.status === 'publish' ? '' : answer.status,
    start_date: answer.start_date,
    end_date: answer.end_date,
    timezone: answer.timezone,
    all_day: answer.all_day === true ? 'true' : '',
    cost: answer.cost,
    website: answer.website === answer.url ? '' : answer.website,
    venue: [names(answer.venue, 'venue'), place?.address, place?.city].filter(Boolean).join(', '),
    organizer: names(answer.organizer, 'organizer'),
    categories: names(answer.categories, 'name'),
    tags: names(answer.tags, 'name'),
    url: answer.url,
  };
  return Object.entries(values)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name.padEnd(11)} ${String(value)}`);
}
