// The landing page: renders it for a query, and keeps rendered pages until a public record or the day changes.

import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { createPlaces } from '../../calendar/limits.ts';
import { type Config, DEFAULTS } from '../../config-schema.ts';
import { ApiError } from '../../errors.ts';
import type { Site } from '../../model/records.ts';
import { textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import type { PublicRead } from '../routes.ts';
import { type Asset, asset } from './assets.ts';
import { feedUrl } from './calendar-links.ts';
import { addDays, shiftMonth } from './dates.ts';
import { eventArticle } from './event-template.ts';
import { type Html, html } from './html.ts';
import { jsonLdScript } from './json-ld-template.ts';
import { type Filter, type LandingQuery, parseLandingQuery, queryText, viewOf } from './landing-query.ts';
import { eventsView, landingPage } from './landing-template.ts';
import { fill, type Language, languageOf } from './language.ts';
import { eventList } from './list-template.ts';
import { monthGrid, monthRange } from './month-template.ts';
import type { Brand } from './page-template.ts';
import { type DayRange, EventReader, type FilterOptions, type PublicEvent } from './read-events.ts';
import { richText } from './rich-text.ts';

export interface LandingOptions {
  config: Config['pages'];
  /** The currency of costs without one. */
  cost: Config['cost'];
  brand: (language: Language) => Brand;
  site: () => Site;
  /** Today at the site, `YYYY-MM-DD`. */
  today: () => string;
  /** Changes with every change of a public record. */
  replicaVersion: () => number;
  read: PublicRead;
  /** Throws ApiError unless the replica has the event for the public: a page asks the CMS for nothing. */
  assertPublic: (eventId: number) => void;
  publicUrl: string;
  /** The path of the API, without slashes at its ends. */
  mount: string;
}

interface Rendering {
  query: LandingQuery;
  language: Language;
  /** The network of the visitor, for fairness between them. */
  caller: string;
  charge: () => void;
}

/** For pages that are being rendered: each reads up to 8 MB at a time, of which it keeps what it shows. */
const renderInPlace = createPlaces(2);

const CACHE_BYTES = 4 * 1024 * 1024;
const COLORS = 8;

/** A page as it is sent. No cache keeps one with another status than 200. */
export interface RenderedPage {
  status: number;
  page: Asset;
  headers?: Record<string, string> | undefined;
}

export class Landing {
  readonly #options: LandingOptions;
  /** The API's absolute address. */
  readonly #base: string;
  /** Concurrent requests for a page share one rendering, as long as the cache has room for it. */
  readonly #pages = new LRUCache<string, Asset, Rendering>({
    maxSize: CACHE_BYTES,
    // The second copy is the compressed one.
    sizeCalculation: ({ content }) => content.length * 2 + 1000,
    fetchMethod: (_key, _stale, { context }) => renderInPlace(context.caller, () => this.#render(context)),
    // Many other pages can push one out of the cache that is still rendered: visitors get it all the same.
    ignoreFetchAbort: true,
  });
  /** Read once per version of the records, not with every page. */
  #filterOptions: { version: number; options: Promise<FilterOptions> } | undefined;

  constructor(options: LandingOptions) {
    this.#options = options;
    this.#base = `${options.publicUrl}/${options.mount}`;
  }

  /**
   * Renders the page for a query string, or one that explains an error: 404 for an event that the public does not see,
   * 503 until the initial sync is complete. Calls `charge` for each read of the API that the page takes; a page that is
   * kept takes none.
   * @param tag of the language: `de-AT`
   */
  async page(querystring: string, tag: string, caller: string, charge: () => void): Promise<RenderedPage> {
    const { replicaVersion, today, site } = this.#options;
    const query = parseLandingQuery(querystring);
    const language = languageOf(tag);
    const key = [replicaVersion(), today(), JSON.stringify(site()), tag, queryText(query)].join(' ');
    try {
      return { status: 200, page: (await this.#pages.fetch(key, { context: { query, language, caller, charge } }))! };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { status, title, message } = describeError(error, query, language);
      const page = htmlAsset(this.#errorPage(query, language, title, message));
      return { status, page, headers: error.headers };
    }
  }

  async #render({ query, language, charge }: Rendering): Promise<Asset> {
    const reader = new EventReader((path, parameters) => {
      charge();
      return this.#options.read(path, parameters);
    });
    const { event } = query;
    const page = await (event === undefined
      ? this.#renderEvents(reader, query, language)
      : this.#renderEvent(reader, query, language, event));
    return htmlAsset(page);
  }

  async #renderEvents(reader: EventReader, query: LandingQuery, language: Language): Promise<Html> {
    const { today } = this.#options;
    const { name } = this.#options.brand(language);
    const day = today();
    const month = query.month ?? (query.day ?? day).slice(0, 7);
    const range = listRange(query, day);
    const list = await reader.list(range, query);
    const options = await this.#readFilterOptions(reader);
    const shared = { query, today: day, language, colorClass: colorsOf(options) };
    const days = monthRange(month, language.dates.firstWeekday);
    const grid =
      viewOf(query) === 'list'
        ? undefined
        : monthGrid({ ...shared, month, list: await reader.month(days, query.filters) });
    const feed = (file: string, endsAfter: string) => `${this.#base}/${feedUrl(file, query.filters, endsAfter)}`;
    // Calendar apps remove what the file lacks: it has the events of the last month too.
    const calendarFile = feed('events.ics', '-1month');
    const content = eventsView({
      ...shared,
      month,
      list: eventList({ ...shared, list, range }),
      grid,
      total: list.total,
      options,
      filterNames: filterNames(query, list.events),
      name,
      calendarFile,
    });
    const head = html`<link rel="canonical" href="${this.#urlOf({ ...query, view: undefined })}">
<meta name="description" content="${fill(language.texts.description, { name })}">
<link rel="alternate" type="text/calendar" title="${name}" href="${calendarFile}">
<link rel="alternate" type="application/atom+xml" title="${name}" href="${feed('events.atom', 'yesterday')}">
${jsonLdScript(list.events, (event) => this.#urlOf({ event }), this.#isCurrencyKnown())}`;
    return this.#frame(query, language, fill(language.texts.title, { name }), head, content);
  }

  async #renderEvent(reader: EventReader, query: LandingQuery, language: Language, id: number): Promise<Html> {
    const { site, assertPublic, mount, brand } = this.#options;
    assertPublic(id);
    const event = await reader.event(id);
    const { url: siteUrl } = site();
    const eventUrl = webAddress(event.url) ?? siteUrl;
    const description = await richText(event.description, { eventUrl, siteUrl });
    const shareUrl = this.#urlOf({ event: id });
    const calendarFile = `${mount}/events/${id}.ics`;
    const isCurrencyKnown = this.#isCurrencyKnown();
    const details = { event, description, query, language, shareUrl, calendarFile, isCurrencyKnown };
    const title = language.title(event);
    const image = event.image && webAddress(event.image.url);
    const summary = [language.dates.when(event), textLine(event.excerpt || event.description)].filter(
      (text) => text !== '',
    );
    const head = html`<link rel="canonical" href="${shareUrl}">
<meta name="description" content="${summary.join(': ')}">
<meta property="og:title" content="${title}">
${image && html`<meta property="og:image" content="${image}">`}
${jsonLdScript([event], () => shareUrl, isCurrencyKnown)}`;
    const content = html`${backLink(query, language)}${eventArticle(details)}`;
    return this.#frame(query, language, `${title} – ${brand(language).name}`, head, content);
  }

  #readFilterOptions(reader: EventReader): Promise<FilterOptions> {
    const version = this.#options.replicaVersion();
    if (this.#filterOptions?.version === version) return this.#filterOptions.options;
    const reading = reader.filterOptions();
    this.#filterOptions = { version, options: reading };
    // The next page tries again.
    reading.catch(() => {
      this.#filterOptions = undefined;
    });
    return reading;
  }

  #errorPage(query: LandingQuery, language: Language, title: string, message: string): Html {
    const head = html`<meta name="robots" content="noindex">`;
    const content = html`${query.event !== undefined && backLink(query, language)}<h1>${title}</h1>
<p class="empty" id="unavailable">${message}</p>`;
    return this.#frame(query, language, `${title} – ${this.#options.brand(language).name}`, head, content);
  }

  #frame(query: LandingQuery, language: Language, title: string, head: Html, content: Html): Html {
    return landingPage({ brand: this.#options.brand(language), query, title, head, content });
  }

  /** Costs without a currency are in dollars by default, which nobody said. */
  #isCurrencyKnown(): boolean {
    const { site, cost } = this.#options;
    const { currencySymbol, currencyCode } = site().settings ?? {};
    return (currencySymbol ?? currencyCode) !== undefined || !isDeepStrictEqual(cost, DEFAULTS.cost);
  }

  #urlOf(query: Partial<LandingQuery>): string {
    return `${this.#options.publicUrl}/${queryText({ filters: {}, ...query })}`;
  }
}

const htmlAsset = ({ text }: Html): Asset => asset('.html', Buffer.from(text));

const backLink = (query: LandingQuery, { texts }: Language): Html =>
  html`<p class="back"><a href="./${queryText({ ...query, event: undefined })}">${texts.allEvents}</a></p>`;

/** The status and texts of the page that explains an error of the API. */
function describeError({ status, code, message, data }: ApiError, { event }: LandingQuery, { texts }: Language) {
  if (code === 'calendar_not_ready')
    return { status, title: texts.events, message: fill(texts.syncing, { percent: String(data?.percent) }) };
  if (status === 503 || event === undefined) return { status, title: texts.events, message };
  return code === 'event-password-protected'
    ? { status: 403, title: texts.protectedEvent, message: texts.protectedEventText }
    : { status: 404, title: texts.eventNotFound, message: texts.eventNotFoundText };
}

/** The days of the list: one day, one month, or from today on. */
function listRange({ day, month }: LandingQuery, today: string): DayRange {
  if (day !== undefined) return { first: day, last: day };
  if (month === undefined) return { first: today };
  return { first: `${month}-01`, last: addDays(`${shiftMonth(month, 1)}-01`, -1) };
}

/**
 * The CSS class with the colour of an event: that of its first category, which has one if it is among the
 * options of the filter.
 */
function colorsOf({ categories }: FilterOptions): (event: PublicEvent) => string {
  const places = new Map(categories.map(({ id }, place) => [id, place % COLORS]));
  return ({ categories: [first] }) => `k${places.get(String(first?.id)) ?? ''}`;
}

/** The names of organizer and tag, which an event of the list has. */
function filterNames(
  { filters: { organizer, tags } }: LandingQuery,
  events: PublicEvent[],
): Partial<Record<Filter, string>> {
  const named = events.flatMap(({ organizer: all }) => all).find(({ id }) => String(id) === organizer);
  const tag = events.flatMap(({ tags: all }) => all).find(({ id }) => String(id) === tags);
  return {
    ...(organizer === undefined ? {} : { organizer: textLine(String(named?.organizer ?? organizer)) }),
    ...(tags === undefined ? {} : { tags: textLine(tag?.name ?? tags) }),
  };
}
