// The use cases of feeds: the events of a list, or one event, as an iCalendar file or an Atom feed.

import { LRUCache } from 'lru-cache';
import { eventWithoutDate } from '../../interface/errors.ts';
import type { Input } from '../../interface/parameter.ts';
import { siteName } from '../../model/records.ts';
import type { CancelledEvent } from '../../store/change-journal.ts';
import { getRecord } from '../../store/records.ts';
import { utf8 } from '../../text/bytes.ts';
import { decodeEntities } from '../../text/html.ts';
import type { Events } from '../events.ts';
import { assertPageExists, buildFound, extraRequests, type PageSizes, pageLinkParams } from '../list-response.ts';
import { contentHash, type ListItem, publicItems, type Steps, staffItems, TURN_BYTES } from '../rendered-records.ts';
import type { ApiResponse, RequestContext } from '../request-context.ts';
import { type Audience, shownIn } from '../serializer.ts';
import type { Services } from '../services.ts';
import { atomEntry, atomText } from './atom.ts';
import { type CalendarEvent, calendarEvent, calendarFile, type FeedEvent } from './icalendar.ts';

/** A calendar app shows one file, and follows no links to further pages. */
const CALENDAR_LISTS: PageSizes = { perPage: 1000, maxPerPage: 1000 };
const ATOM_LISTS: PageSizes = { perPage: 50, maxPerPage: 200 };

/** Events of a feed that cost about as much as one request, if they were not written before. */
const EVENTS_PER_REQUEST = 20;
/** Writing an event takes about as long as rendering this many bytes. */
const BYTES_PER_EVENT = TURN_BYTES / 10;
const EVENTS_PER_STEP = 5;
/** Written events: a few thousand. */
const WRITTEN_BYTES = 8 * 1024 * 1024;

export type EventFeeds = ReturnType<typeof createEventFeeds>;

/** Each use case throws `ApiError` and `CmsUnavailable`, as the JSON response with the same events does. */
export function createEventFeeds(services: Services, events: Pick<Events, 'find' | 'read' | 'withEvents'>) {
  const { replica, site } = services;
  /** By the ETag of the JSON that they are written from. */
  const written = new LRUCache<string, CalendarEvent>({
    maxSize: WRITTEN_BYTES,
    sizeCalculation: ({ bytes }) => bytes.byteLength + 500,
  });

  const nameOf = (): string => decodeEntities(site().name) || 'Calendar';

  type Found = Awaited<ReturnType<Events['find']>>;

  /** A feed is written from the JSON of the list: it shows nothing else. */
  function* feedSteps<T>(
    { listPage, access }: Found,
    baseUrl: string,
    write: (entry: ListItem) => T,
    respond: (items: T[]) => ApiResponse,
  ): Steps<ApiResponse> {
    assertPageExists(listPage);
    const { ids, serialize, validUntilMs, extraRequests: toFind = 0 } = listPage;
    const audience: Audience = { baseUrl, shown: shownIn(access.view) };
    const replicaVersion = replica.version;
    const cacheTags = new Set(['events']);
    const items: T[] = [];
    let builtBytes = 0;
    for (let from = 0; from < ids.length; from += EVENTS_PER_STEP) {
      const some = ids.slice(from, from + EVENTS_PER_STEP);
      const entries: ListItem[] = access.isPublic
        ? yield* publicItems<'event'>(services, 'event', some, audience, serialize)
        : yield* staffItems<'event'>('event', some, audience, serialize);
      for (const entry of entries) {
        items.push(write(entry));
        builtBytes += entry.bytes.byteLength;
        for (const tag of entry.cacheTags ?? []) cacheTags.add(tag);
        yield entry.bytes.byteLength + BYTES_PER_EVENT;
      }
    }
    const caching = access.isPublic ? { validUntilMs, replicaVersion, cacheTags: [...cacheTags] } : {};
    return {
      ...respond(items),
      ...caching,
      builtBytes,
      extraRequests: toFind + extraRequests(ids.length, EVENTS_PER_REQUEST),
    };
  }

  function writeOnce({ etag, bytes }: ListItem): CalendarEvent | undefined {
    const known = etag === undefined ? undefined : written.get(etag);
    if (known) return known;
    const event = calendarEvent(parseEvent(bytes), siteName(site()));
    if (event && etag !== undefined) written.set(etag, event);
    return event;
  }

  return {
    calendar(input: Input, request: RequestContext): Promise<ApiResponse> {
      const write = (entry: ListItem) => ({ etag: entry.etag ?? '', event: writeOnce(entry) });
      const url = `${request.baseUrl}/events.ics${queryOf(input)}`;
      const respond = (items: ReturnType<typeof write>[]): ApiResponse => ({
        status: 200,
        body: calendarFile(
          items.flatMap(({ event }) => event ?? []),
          { name: nameOf(), url },
        ),
        headers: calendarHeaders('events'),
        etag: `"${contentHash([nameOf(), url, ...items.map((item) => item.etag)].join('\n'))}"`,
      });
      return events.withEvents(input, request, (access) =>
        buildFound(
          request,
          () => events.find(input, request, access, CALENDAR_LISTS),
          (found) => feedSteps(found, request.baseUrl, write, respond),
        ),
      );
    },

    async eventCalendar(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
      const cancelled = getRecord(replica.db, 'event', id) ? undefined : replica.journal.cancelled(id);
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
      const written = calendarEvent(event, siteName(site()));
      if (!written) throw eventWithoutDate();
      const body = calendarFile([written], { name: nameOf(), url });
      return { ...response, body, headers: calendarHeaders(`event-${id}`) };
    },

    atom(input: Input, request: RequestContext): Promise<ApiResponse> {
      const write = ({ bytes }: ListItem) => atomEntry(parseEvent(bytes));
      const url = `${request.baseUrl}/events.atom${queryOf(input)}`;
      const respond = (items: ReturnType<typeof write>[]): ApiResponse => ({
        status: 200,
        body: utf8(atomText(items, { name: nameOf(), site: site(), url })),
        headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' },
      });
      return events.withEvents(input, request, (access) =>
        buildFound(
          request,
          () => events.find(input, request, access, ATOM_LISTS),
          (found) => feedSteps(found, request.baseUrl, write, respond),
        ),
      );
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
