// The use cases of feeds: the events of a list, or one event, as an iCalendar file or an Atom feed.

import { LRUCache } from 'lru-cache';
import { eventWithoutDate } from '../../interface/errors.ts';
import type { Input } from '../../interface/parameter.ts';
import type { CancelledEvent } from '../../store/change-journal.ts';
import { decodeEntities } from '../../text/html.ts';
import type { Events } from '../events.ts';
import { assertPageExists, extraRequests, type PageSizes, pageLinkParams } from '../list-response.ts';
import { contentHash, publicItems, runInOneTurn } from '../rendered-records.ts';
import type { ApiResponse, RequestContext } from '../request-context.ts';
import type { Audience } from '../serializer.ts';
import type { Services } from '../services.ts';
import { ownTurn } from '../turns.ts';
import { atomEntry, atomText } from './atom.ts';
import { type CalendarEvent, calendarEvent, calendarFile, type FeedEvent } from './icalendar.ts';

/** A calendar app shows one file, and follows no links to further pages. */
const CALENDAR_LISTS: PageSizes = { perPage: 1000, maxPerPage: 1000 };
const ATOM_LISTS: PageSizes = { perPage: 50, maxPerPage: 200 };

/** Events of a feed that cost about as much as one request, if they were not written before. */
const EVENTS_PER_REQUEST = 20;
/** Events that one turn of the event loop reads and writes: a few milliseconds. */
const EVENTS_PER_TURN = 10;
/** Written events: a few thousand. */
const WRITTEN_BYTES = 8 * 1024 * 1024;

/** An event of the list; `etag` identifies its JSON if that is public. */
interface Entry {
  etag?: string;
  read: () => FeedEvent;
}

export type EventFeeds = ReturnType<typeof createEventFeeds>;

/** Each use case throws `ApiError` and `CmsUnavailable`, as the JSON response with the same events does. */
export function createEventFeeds(services: Services, events: Pick<Events, 'find' | 'read'>) {
  const { replica, site } = services;
  /** By the ETag of the JSON that they are written from. */
  const written = new LRUCache<string, CalendarEvent>({
    maxSize: WRITTEN_BYTES,
    sizeCalculation: ({ bytes }) => bytes.byteLength + 500,
  });

  const nameOf = (): string => decodeEntities(site().name) || 'Calendar';
  const hostOf = (): string => new URL(site().url).hostname;

  type Found = Awaited<ReturnType<Events['find']>>;

  /** Reads the events of a list page. The JSON is that of the list: a feed shows nothing else. */
  function readerOf({ listPage, access }: Found, baseUrl: string) {
    const replicaVersion = replica.version;
    const audience: Audience = { baseUrl, visibilities: access.visibilities };
    const cacheTags = new Set(['events']);
    return {
      hasChanged: () => replica.version !== replicaVersion,
      entriesOf(ids: number[]): Entry[] {
        if (access.isPublic) {
          const rendered = runInOneTurn(publicItems(services, 'event', ids, audience, listPage.serialize));
          for (const record of rendered) for (const tag of record.cacheTags) cacheTags.add(tag);
          return rendered.map(({ etag, bytes }) => ({ etag, read: () => parseEvent(bytes) }));
        }
        const records = replica.getMany('event', ids);
        return ids
          .flatMap((id) => records.get(id) ?? [])
          .map((record) => ({ read: () => listPage.serialize(record, audience) as FeedEvent }));
      },
      /** How a response with all events of the page may be cached. */
      caching(): Partial<ApiResponse> {
        const { ids, validUntilMs, extraRequests: toFind = 0 } = listPage;
        const charge = { extraRequests: toFind + extraRequests(ids.length, EVENTS_PER_REQUEST) };
        return access.isPublic ? { ...charge, validUntilMs, replicaVersion, cacheTags: [...cacheTags] } : charge;
      },
    };
  }

  /**
   * Writes each event of a list, a few in each turn of the event loop. If the replica changes meanwhile,
   * finds the list again and writes all its events in one turn: an event may no longer be one that the actor
   * may see.
   */
  async function writeList<T>(
    input: Input,
    request: RequestContext,
    pageSizes: PageSizes,
    write: (entry: Entry) => T,
  ): Promise<{ items: T[]; caching: Partial<ApiResponse> }> {
    let found = await events.find(input, request, pageSizes);
    let reader = readerOf(found, request.baseUrl);
    assertPageExists(found.listPage);
    const items = await writeInTurns(found.listPage.ids, reader, write);
    if (items) return { items, caching: reader.caching() };
    found = await events.find(input, request, pageSizes);
    reader = readerOf(found, request.baseUrl);
    assertPageExists(found.listPage);
    return { items: reader.entriesOf(found.listPage.ids).map(write), caching: reader.caching() };
  }

  /** Undefined if the replica changed between two turns. */
  async function writeInTurns<T>(
    ids: number[],
    { entriesOf, hasChanged }: ReturnType<typeof readerOf>,
    write: (entry: Entry) => T,
  ): Promise<T[] | undefined> {
    const items: T[] = [];
    for (let from = 0; from < ids.length; from += EVENTS_PER_TURN) {
      await ownTurn();
      if (hasChanged()) return undefined;
      items.push(...entriesOf(ids.slice(from, from + EVENTS_PER_TURN)).map(write));
    }
    return items;
  }

  function writeOnce({ etag, read }: Entry): CalendarEvent | undefined {
    const known = etag === undefined ? undefined : written.get(etag);
    if (known) return known;
    const event = calendarEvent(read(), hostOf());
    if (event && etag !== undefined) written.set(etag, event);
    return event;
  }

  return {
    async calendar(input: Input, request: RequestContext): Promise<ApiResponse> {
      const { items, caching } = await writeList(input, request, CALENDAR_LISTS, (entry) => ({
        etag: entry.etag ?? '',
        event: writeOnce(entry),
      }));
      const url = `${request.baseUrl}/events.ics${queryOf(input)}`;
      const etag = `"${contentHash([nameOf(), url, ...items.map((item) => item.etag)].join('\n'))}"`;
      const dated = items.flatMap(({ event }) => event ?? []);
      const body = calendarFile(dated, { name: nameOf(), url });
      return { status: 200, body, headers: calendarHeaders('events'), etag, ...caching };
    },

    async eventCalendar(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
      // Without a service account the replica lacks what is in the trash.
      const isGone = (replica.get('event', id)?.status ?? 'trash') === 'trash';
      const cancelled = isGone ? replica.journal.cancelled(id) : undefined;
      const {
        body: json,
        etag: _,
        ...response
      } = cancelled
        ? {
            status: 200,
            body: cancelledEvent(cancelled),
            validUntilMs: Number.POSITIVE_INFINITY,
            cacheTags: [`event-${id}`],
          }
        : await events.read(id, input, request);
      const event = json instanceof Uint8Array ? parseEvent(json) : (json as FeedEvent);
      const url = `${request.baseUrl}/events/${id}.ics`;
      const written = calendarEvent(event, hostOf());
      if (!written) throw eventWithoutDate();
      const body = calendarFile([written], { name: nameOf(), url });
      return { ...response, body, headers: calendarHeaders(`event-${id}`) };
    },

    async atom(input: Input, request: RequestContext): Promise<ApiResponse> {
      const { items, caching } = await writeList(input, request, ATOM_LISTS, ({ read }) => atomEntry(read()));
      const url = `${request.baseUrl}/events.atom${queryOf(input)}`;
      const body = Buffer.from(atomText(items, { name: nameOf(), host: hostOf(), url, link: site().url }));
      return { status: 200, body, headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' }, ...caching };
    },
  };
}

const parseEvent = (json: Uint8Array): FeedEvent => JSON.parse(Buffer.from(json).toString());

/** An event in the trash, for apps that have imported its file, which they know by its UID. */
const cancelledEvent = (event: CancelledEvent): FeedEvent => ({
  id: event.id,
  status: 'trash',
  title: 'Cancelled',
  description: '',
  excerpt: '',
  url: '',
  modified_utc: event.modifiedUtc,
  date_utc: event.modifiedUtc,
  all_day: event.allDay,
  start_date: event.start,
  end_date: event.end,
  utc_start_date: event.startUtc,
  utc_end_date: event.endUtc,
  timezone: event.timezone,
  venue: [],
  categories: [],
});

const calendarHeaders = (name: string): Record<string, string> => ({
  'Content-Type': 'text/calendar; charset=utf-8',
  'Content-Disposition': `inline; filename="${name}.ics"`,
});

/** The declared parameters as sent. */
function queryOf({ values, sent }: Input): string {
  const params = Object.keys(values).flatMap((name) => pageLinkParams(name, sent[name]));
  const query = new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value]));
  return query.size === 0 ? '' : `?${query}`;
}
