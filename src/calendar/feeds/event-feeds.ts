// The use cases of feeds: the events of a list, or one event, as an iCalendar file or an Atom feed (RFC 4287), and
// `/changes`: what the public lists gained, changed and lost since a token.

import { Feed } from 'feed';
import { changesGone, eventWithoutDate } from '../../interface/errors.ts';
import type { Input } from '../../interface/parameter.ts';
import { type Site, siteName } from '../../model/records.ts';
import { type CancelledEvent, type JournalPosition, toldChange } from '../../store/change-journal.ts';
import { getRecord } from '../../store/records.ts';
import { utf8 } from '../../text/bytes.ts';
import { decodeEntities, escapeHtml, textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { eventList } from '../event-reads.ts';
import { assertPageExists, assertServable, type ListPage, type PageSizes, urlParams } from '../list-response.ts';
import { singlePost } from '../read-post.ts';
import { contentHash, listItems, parseRendered } from '../rendered-records.ts';
import type { ApiResponse } from '../request.ts';
import type { ApiRequest } from '../services.ts';
import { type Steps, TURN_BYTES } from '../turns.ts';
import {
  type CalendarInfo,
  calendarEvent,
  calendarFile,
  type FeedEvent,
  lastChangeMs,
  linesOf,
  placeOf,
  titleOf,
  whenOf,
} from './icalendar.ts';

/** A calendar app shows one file, and follows no links to further pages. */
const CALENDAR_LISTS: PageSizes = { perPage: 1000, maxPerPage: 1000 };
const ATOM_LISTS: PageSizes = { perPage: 50, maxPerPage: 200 };

/** Added to the bytes of an event's JSON: writing it takes about as long as rendering this many bytes. */
const BYTES_PER_EVENT = TURN_BYTES / 10;
/** Events of a feed that one call of `listItems` renders. `MAX_LIST_BYTES` limits each call, not the whole feed. */
const EVENTS_PER_SLICE = 5;

/** What a feed writes of the events of a list, and how it responds with it. */
interface FeedFormat<T> {
  pageSizes: PageSizes;
  write(event: FeedEvent): T;
  respond(items: T[]): Pick<ApiResponse, 'body' | 'headers'>;
}

/** A feed is written from the JSON of the list: it shows nothing else. */
function* feedSteps<T>(page: ListPage, request: ApiRequest, { write, respond }: FeedFormat<T>): Steps<ApiResponse> {
  assertPageExists(page);
  const { ids, validUntilMs, isPublic } = page;
  const replicaVersion = request.services.replica.version;
  const cacheTags = new Set(['events']);
  const items: T[] = [];
  let chargedBytes = 0;
  for (let from = 0; from < ids.length; from += EVENTS_PER_SLICE) {
    const slice = { ...page, ids: ids.slice(from, from + EVENTS_PER_SLICE) };
    for (const entry of yield* listItems(slice, request)) {
      items.push(write(parseRendered(entry.bytes)));
      for (const tag of entry.cacheTags) cacheTags.add(tag);
      // What the client pays for at the end (its rate limit): for cached events too.
      chargedBytes += entry.bytes.byteLength + BYTES_PER_EVENT;
      // What this turn took for the writing: `listItems` has yielded the bytes of the events that it rendered.
      yield BYTES_PER_EVENT;
    }
  }
  return {
    status: 200,
    ...respond(items),
    ...(isPublic && { validUntilMs, replicaVersion, cacheTags: [...cacheTags] }),
    chargedBytes,
  };
}

const listFeed = <T>(input: Input, request: ApiRequest, format: FeedFormat<T>): Promise<ApiResponse> =>
  eventList(input, request, format.pageSizes, (page) => feedSteps(page, request, format));

export const calendarName = ({ services }: Pick<ApiRequest, 'services'>): string =>
  decodeEntities(services.site().name) || 'Calendar';

/** Each use case throws `ApiError` and `CmsUnavailable`, as the JSON response with the same events does. */
export const feeds = {
  calendar: (input: Input, request: ApiRequest): Promise<ApiResponse> =>
    listFeed(input, request, {
      pageSizes: CALENDAR_LISTS,
      write: (event) => calendarEvent(event, siteName(request.services.site())),
      respond(items) {
        const events = items.filter((event) => event !== undefined);
        const url = `${request.baseUrl}/events.ics${queryOf(input)}`;
        return { body: calendarFile(events, { name: calendarName(request), url }), headers: calendarHeaders('events') };
      },
    }),

  async eventCalendar(id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
    const { replica, site } = request.services;
    const cancelled = getRecord(replica.db, 'event', id) ? undefined : replica.journal.cancelled(id);
    // A JSON read of an event in the trash is a 403; its file says CANCELLED, which the journal remembers.
    const response: ApiResponse = cancelled
      ? { status: 200, body: cancelledEvent(cancelled), cacheTags: [`event-${id}`], validUntilMs: Infinity }
      : await singlePost('event', id, input, request);
    const { body: json, etag: _, ...rest } = response;
    // Bytes if everybody gets the same event of the replica; else an object.
    const event = json instanceof Uint8Array ? parseRendered<FeedEvent>(json) : (json as FeedEvent);
    const url = `${request.baseUrl}/events/${id}.ics`;
    const written = calendarEvent(event, siteName(site()));
    if (!written) throw eventWithoutDate();
    const body = calendarFile([written], { name: calendarName(request), url });
    return { ...rest, body, headers: calendarHeaders(`event-${id}`) };
  },

  atom: (input: Input, request: ApiRequest): Promise<ApiResponse> =>
    listFeed(input, request, {
      pageSizes: ATOM_LISTS,
      write: atomEntry,
      respond(items) {
        const url = `${request.baseUrl}/events.atom${queryOf(input)}`;
        const body = utf8(atomText(items, { name: calendarName(request), site: request.services.site(), url }));
        return { body, headers: { 'Content-Type': 'application/atom+xml; charset=utf-8' } };
      },
    }),
};

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

function queryOf({ values, raw }: Input): string {
  const query = new URLSearchParams(Object.keys(values).flatMap((name) => urlParams(name, raw[name])));
  return query.size === 0 ? '' : `?${query}`;
}

const MAX_SUMMARY = 1000;

/** The summary begins with date and place, because readers show no other fields. */
export const atomEntry = (event: FeedEvent) => ({
  id: event.id,
  changedMs: lastChangeMs(event),
  link: webAddress(event.url),
  title: titleOf(event),
  summary: [
    [whenOf(event), placeOf(event)].filter((text) => text !== '').join(', '),
    ...linesOf(event, event.excerpt || event.description, MAX_SUMMARY),
  ],
});

type AtomEntry = ReturnType<typeof atomEntry>;

function atomText(entries: readonly AtomEntry[], { name, site, url }: CalendarInfo & { site: Site }): string {
  // A tag URI (RFC 4151) begins with the host alone: `tag:example.org,2000:theatre/event-5`.
  const [host = '', ...folders] = siteName(site).split('/');
  const feed = new Feed({
    id: url,
    title: textLine(name),
    link: site.url,
    feedLinks: { atom: url },
    // An empty feed has no change, and the same text every time.
    updated: new Date(Math.max(0, ...entries.map(({ changedMs }) => changedMs))),
    author: { name: textLine(name) || host },
    generator: 'calendar-gateway',
    copyright: '',
  });
  // The library writes both texts as HTML in CDATA sections.
  const asHtml = (lines: string[]) => lines.map(escapeHtml).join('<br>');
  for (const entry of entries)
    feed.addItem({
      id: `tag:${host},2000:${[...folders, `event-${entry.id}`].join('/')}`,
      link: entry.link ?? site.url,
      title: asHtml([entry.title]),
      date: new Date(entry.changedMs),
      description: asHtml(entry.summary),
    });
  return feed.atom1();
}

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 1000;
/** After this time a response is built again, although nothing changed: its token may name a later scan (`scanS`). */
const TOKEN_MS = 60_000;

/**
 * The same response for every caller. Without a token it has no changes, and a token for the next request.
 * @throws ApiError 410 for a token that is too old or of another replica; 503 until the initial sync is complete
 */
export function changesSince({ values }: Input, { services }: ApiRequest): ApiResponse {
  const { replica, site, mapping, nowMs } = services;
  const { journal } = replica;
  assertServable(services);
  const replicaVersion = replica.version;
  /** Tokens of another site mean nothing here. */
  const siteKey = contentHash(`${site().url} ${mapping.name}`).slice(0, 8);
  const since = values.since as (JournalPosition & { siteKey: string }) | undefined;
  const limit = Math.min(Number(values.limit ?? DEFAULT_LIMIT), MAX_LIMIT);
  const isOfSite = since === undefined || since.siteKey === siteKey;
  const page = isOfSite ? journal.since(since ?? journal.head(), limit) : undefined;
  if (!page) throw changesGone();
  // `JournalPosition` says what each is.
  const { epoch, number, scanS } = page.next;
  const changes = page.entries.map(toldChange);
  const body = { changes, next_token: [siteKey, epoch, number, scanS].join('.'), has_more: page.hasMore };
  return { status: 200, body, cacheTags: ['changes'], validUntilMs: nowMs() + TOKEN_MS, replicaVersion };
}
