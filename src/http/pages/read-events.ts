// Reads what the landing page shows: events, and the options of its filters, through the public API in this process.

import type { FeedEvent, FeedVenue } from '../../calendar/feeds/icalendar.ts';
import { soloTurn } from '../../calendar/turns.ts';
import { ApiError } from '../../errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { textLine } from '../../text/html.ts';
import type { PublicRead } from '../endpoints.ts';
import { addDays, type ShownTimes } from './dates.ts';
import type { LandingQuery } from './landing-query.ts';

interface ImageSize {
  url: string;
  width: number;
  height: number;
}

interface Linked {
  id: number;
  website?: string;
}

export type Venue = Linked & FeedVenue;

export interface Organizer extends Linked {
  organizer: string | [];
}

export interface Term {
  id: number;
  name: string;
}

/** What the pages use of an event in a response of the API, besides what feeds use of it. */
export type PublicEvent = ShownTimes &
  Omit<FeedEvent, 'venue' | 'categories'> & {
    website: string;
    cost: string;
    cost_details: { currency_symbol: string; currency_code: string; values: string[] };
    /** Events in lists have none. JSON-LD has the currency, which the other properties lack. */
    json_ld?: { offers?: { priceCurrency?: string } };
    image: (ImageSize & { sizes?: Record<string, ImageSize> }) | false;
    venue: Venue | Venue[];
    organizer: Organizer[];
    categories: Term[];
    tags: Term[];
    source?: string;
    also_at?: { source: string; url: string }[];
  };

export interface EventList {
  events: PublicEvent[];
  total: number;
  pages: number;
}

export interface Option {
  id: string;
  name: string;
}

export interface FilterOptions {
  venue: Option[];
  categories: Option[];
}

const EVENTS_PER_PAGE = 30;
/** The API's largest page unless configured otherwise. */
const LARGEST_PAGE = 50;
const MAX_OPTIONS = 200;

const FINDS_NOTHING = ['rest_invalid_param', 'event-archive-page-not-found'];
const NOTHING: EventList = { events: [], total: 0, pages: 0 };

/** From `first` to `last`; without `last` everything later. With `isPast` all before `first`, the latest first. */
export interface DayRange {
  first: string;
  last?: string | undefined;
  isPast?: boolean | undefined;
}

/** Every method throws what the API throws, above all 503 `calendar_not_ready` until the initial sync is complete. */
export class EventReader {
  readonly #read: PublicRead;

  constructor(read: PublicRead) {
    this.#read = read;
  }

  list(range: DayRange, { filters, page = 1 }: LandingQuery): Promise<EventList> {
    return this.#page(range, { ...filters, per_page: String(EVENTS_PER_PAGE), page: String(page) });
  }

  /** Pages of the earliest events, without texts, until these are `max` or more; `total` counts all. */
  async many(range: DayRange, filters: LandingQuery['filters'], max: number): Promise<EventList> {
    const list: EventList = { events: [], total: 0, pages: 1 };
    for (let number = 1; number <= list.pages && list.events.length < max; number++) {
      const next = await this.#page(range, { ...filters, per_page: String(LARGEST_PAGE), page: String(number) });
      // A cell of a month shows none of these, and three hundred descriptions may be 30 MB.
      for (const event of next.events)
        list.events.push({ ...event, description: '', excerpt: '', venue: [], organizer: [] });
      list.total = next.total;
      list.pages = next.pages;
    }
    return list;
  }

  /** Throws ApiError 404, 410, 401 or 403 for an event that the public does not see. */
  async event(id: number): Promise<PublicEvent> {
    return (await this.#read(`/events/${id}`, {})) as PublicEvent;
  }

  /** At most two hundred of each: of the categories those with the most events. */
  async filterOptions(): Promise<FilterOptions> {
    const venues = await this.#all('venues', {});
    const categories = await this.#all('categories', { orderby: 'count', order: 'desc' });
    return { venue: optionsOf(venues, ({ venue }) => venue), categories: optionsOf(categories, ({ name }) => name) };
  }

  /** One page of events that overlap the days. A filter that names an unknown record finds nothing. */
  async #page({ first, last, isPast }: DayRange, query: Record<string, string>): Promise<EventList> {
    const day = `${first} 00:00:00`;
    const bounds: Record<string, string> = {
      strict_dates: '1',
      ...(isPast ? { order: 'desc', ends_before: day } : { ends_after: day }),
    };
    if (last !== undefined) bounds.starts_before = `${addDays(last, 1)} 00:00:00`;
    try {
      const { events, total, total_pages: pages } = await this.#readInTurn('/events', { ...query, ...bounds });
      return { events: events as PublicEvent[], total: Number(total), pages: Number(pages) };
    } catch (error) {
      if (error instanceof ApiError && FINDS_NOTHING.includes(error.code)) return NOTHING;
      throw error;
    }
  }

  async #all(collection: string, query: Record<string, string>): Promise<JsonObject[]> {
    const records: JsonObject[] = [];
    for (let number = 1, pages = 1; number <= pages && records.length < MAX_OPTIONS; number++) {
      const page = { per_page: String(LARGEST_PAGE), page: String(number) };
      const body = await this.#readInTurn(`/${collection}`, { ...query, ...page });
      records.push(...(body[collection] as JsonObject[]));
      pages = Number(body.total_pages);
    }
    return records.slice(0, MAX_OPTIONS);
  }

  /** Lets other requests go first: a page takes several reads, each of which takes milliseconds. */
  async #readInTurn(path: string, query: Record<string, string>): Promise<JsonObject> {
    await soloTurn();
    return this.#read(path, query);
  }
}

/** Sorted by name. A venue whose name a password hides is left out. */
function optionsOf(records: JsonObject[], nameOf: (record: JsonObject) => unknown): Option[] {
  return records
    .map((record) => ({ id: String(record.id), name: textLine(String(nameOf(record))) }))
    .filter(({ name }) => name !== '')
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
}
