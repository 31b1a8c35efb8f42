// The landing page: renders it for a query, and keeps rendered pages until a public record or the day changes.

import { isDeepStrictEqual } from 'node:util';
import { bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { type Config, DEFAULTS } from '../../config-schema.ts';
import type { Site } from '../../model/records.ts';
import { textLine } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { webAddress } from '../../text/text.ts';
import type { PublicRead } from '../endpoints.ts';
import { type Asset, asset } from './assets.ts';
import { feedUrl } from './calendar-links.ts';
import { addDays, shiftMonth } from './dates.ts';
import { eventArticle } from './event-template.ts';
import { nextEvent } from './further-links.ts';
import { jsonLdScript } from './json-ld-template.ts';
import { type LandingQuery, parseLandingQuery, queryText, viewOf } from './landing-query.ts';
import { backLink, eventsContent, landingPage } from './landing-template.ts';
import { fill } from './language.ts';
import { monthRange } from './month-template.ts';
import { type Brand, Html, html } from './page-template.ts';
import { type DayRange, EventReader, type FilterOptions, type PublicEvent } from './read-events.ts';
import { metadata, sitemap } from './search-engines.ts';

export interface LandingOptions {
  config: Config['pages'];
  /** The currency of costs without one. */
  cost: Config['cost'];
  site: () => Site;
  /** Today at the site, `YYYY-MM-DD`. */
  today: () => string;
  /** Changes with every change of a public record. */
  replicaVersion: () => number;
  read: PublicRead;
  /** Throws ApiError unless the replica has the event for the public: a page asks the CMS for nothing. */
  assertPublic: (eventId: number) => void;
  publicUrl: string;
  /** Paths at which the API is mounted; the pages use the first. */
  mounts: readonly string[];
}

interface Rendering {
  render: (reader: EventReader) => Promise<Html>;
  /** Charges the first visitor alone, also if others get the same rendering. */
  charge: () => void;
  extension?: string;
}

/** Pages that are rendered at the same time: each reads up to 8 MB, of which it keeps what it shows. */
const slots = bulkhead(2, Number.POSITIVE_INFINITY);

const CACHE_BYTES = 4 * 1024 * 1024;
const COLORS = 12;
/** A month shows four events of a day, so that more than these are seldom seen. */
const MAX_MONTH_EVENTS = 300;
const MAX_SITEMAP_EVENTS = 1000;

export class Landing {
  readonly #options: LandingOptions;
  readonly #base: string;
  /** Concurrent requests for a page share one rendering, as long as the cache has room for it. */
  readonly #pages = new LRUCache<string, Asset, Rendering>({
    maxSize: CACHE_BYTES,
    // The second copy is the compressed one.
    sizeCalculation: ({ content }) => content.length * 2 + 1000,
    fetchMethod: (_key, _stale, { context }) => slots.execute(() => this.#render(context)),
    // Many other pages can push a page that is still rendered out of the cache: its visitors get it all the same.
    ignoreFetchAbort: true,
  });
  /** Read once per version of the records, not with every page. A failed read is not kept. */
  readonly #filterOptions = new LRUCache<number, FilterOptions, EventReader>({
    max: 1,
    fetchMethod: (_version, _stale, { context: reader }) => reader.filterOptions(),
    ignoreFetchAbort: true,
  });

  constructor(options: LandingOptions) {
    this.#options = options;
    this.#base = `${options.publicUrl}${options.mounts[0]}`;
  }

  /**
   * Throws what the API throws: 404 for an event that the public does not see, 503 until the initial sync is complete.
   * Calls `charge` for each read of the API that the page takes; a page that is kept takes none.
   */
  async page(querystring: string, brand: Brand, charge: () => void): Promise<Asset> {
    const { replicaVersion, today, site } = this.#options;
    const query = parseLandingQuery(querystring);
    const { tag } = brand.language;
    const key = [replicaVersion(), today(), JSON.stringify(site()), tag, queryText(query)].join(' ');
    const render = (reader: EventReader): Promise<Html> =>
      query.event === undefined
        ? this.#renderEvents(reader, query, brand)
        : this.#renderEvent(reader, query, brand, query.event);
    return (await this.#pages.fetch(key, { context: { render, charge } }))!;
  }

  /** The page and its next events, for search engines. Throws what the API throws. */
  async sitemap(charge: () => void): Promise<Asset> {
    const { replicaVersion, today } = this.#options;
    const render = async (reader: EventReader): Promise<Html> => {
      const { events } = await reader.many({ first: today() }, {}, MAX_SITEMAP_EVENTS);
      return sitemap([this.#urlOf({}), ...events.map(({ id }) => this.#urlOf({ event: id }))]);
    };
    const key = `sitemap ${replicaVersion()} ${today()}`;
    return (await this.#pages.fetch(key, { context: { render, charge, extension: '.xml' } }))!;
  }

  async #render({ render, charge, extension = '.html' }: Rendering): Promise<Asset> {
    const reader = new EventReader((path, parameters) => {
      charge();
      return this.#options.read(path, parameters);
    });
    return asset(extension, (await render(reader)).text);
  }

  async #renderEvents(reader: EventReader, query: LandingQuery, brand: Brand): Promise<Html> {
    const { name, language } = brand;
    const { filters } = query;
    const today = this.#options.today();
    const month = query.month ?? (query.day ?? today).slice(0, 7);
    const range = listRange(query, today);
    const list = await reader.list(range, query);
    const options = (await this.#filterOptions.fetch(this.#options.replicaVersion(), { context: reader }))!;
    const days = monthRange(month, language.dates.firstWeekday);
    // If the visitor has chosen no view, the page has both, and its script shows one. `nextEvent` needs both too.
    const ofMonth = viewOf(query) === 'list' ? undefined : await reader.many(days, filters, MAX_MONTH_EVENTS);
    const shownDays = [{ ...list, last: range.last }, ...(ofMonth ? [{ ...ofMonth, last: days.last }] : [])];
    const feed = (file: string, endsAfter: string) => `${this.#base}/${feedUrl(file, filters, endsAfter)}`;
    // Calendar apps remove what the file lacks: it has the events of the last month too.
    const calendarFile = feed('events.ics', '-1month');
    const content = eventsContent({
      query,
      today,
      language,
      colorClass: colorsOf(options),
      range,
      list,
      month,
      ofMonth,
      next: await nextEvent(reader, shownDays, query),
      options,
      calendarName: name,
      calendarFile,
    });
    const title = fill(language.texts.title, { name });
    const description = fill(language.texts.description, { name });
    const head = html`${metadata(brand, { title, description, url: this.#urlOf({ ...query, view: undefined }) })}
<link rel="alternate" type="text/calendar" title="${name}" href="${calendarFile}">
<link rel="alternate" type="application/atom+xml" title="${name}" href="${feed('events.atom', 'yesterday')}">
${jsonLdScript(list.events, (event) => this.#urlOf({ event }), this.#isCurrencyKnown())}`;
    return landingPage({ brand, query, title, head, content });
  }

  async #renderEvent(reader: EventReader, query: LandingQuery, brand: Brand, id: number): Promise<Html> {
    const { site, assertPublic, mounts } = this.#options;
    const { name, language } = brand;
    assertPublic(id);
    const event = await reader.event(id);
    const description = new Html(await safeHtml(event.description, webAddress(event.url) ?? site().url));
    const shareUrl = this.#urlOf({ event: id });
    const calendarFile = `${mounts[0]!.slice(1)}/events/${id}.ics`;
    const details = { event, description, language, shareUrl, calendarFile };
    const title = language.title(event);
    const image = event.image ? webAddress(event.image.url) : undefined;
    const texts = [language.dates.when(event), textLine(event.excerpt || event.description)];
    const summary = texts.filter((text) => text !== '').join(': ');
    const head = html`${metadata(brand, { title, description: summary, url: shareUrl, image })}
${jsonLdScript([event], () => shareUrl, this.#isCurrencyKnown())}`;
    const content = html`${backLink(brand, query)}${eventArticle(details)}`;
    return landingPage({ brand, query, title: `${title} – ${name}`, head, content });
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

/** The days of the list: those before today, one day, one month, or from today on. */
function listRange({ day, month, past }: LandingQuery, today: string): DayRange {
  if (past) return { first: today, isPast: true };
  if (day !== undefined) return { first: day, last: day };
  if (month === undefined) return { first: today };
  return { first: `${month}-01`, last: addDays(`${shiftMonth(month, 1)}-01`, -1) };
}

/** The CSS class with an event's colour: that of its first category, if it is among the options of the filter. */
function colorsOf({ categories }: FilterOptions): (event: PublicEvent) => string {
  const places = new Map(categories.map(({ id }, place) => [id, place % COLORS]));
  return ({ categories: [first] }) => `k${places.get(String(first?.id)) ?? ''}`;
}
