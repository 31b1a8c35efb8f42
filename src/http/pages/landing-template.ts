// The landing page around its events: filters, links to months and views, subscription.

import { subscribeLinks } from './calendar-links.ts';
import { shiftMonth, spanOf } from './dates.ts';
import { Html, html } from './html.ts';
import { type Filter, hrefOf, type LandingQuery, viewOf } from './landing-query.ts';
import { fill, type Language } from './language.ts';
import { type Brand, pageFrame } from './page-template.ts';
import type { FilterOptions, PublicEvent } from './read-events.ts';

export interface LandingPage {
  brand: Brand;
  query: LandingQuery;
  title: string;
  /** Metadata: canonical address, JSON-LD. */
  head: Html;
  /** The filters and the events, or one event. */
  content: Html;
}

export function landingPage({ brand, query, title, head, content }: LandingPage): Html {
  const { asset, language } = brand;
  const { texts } = language;
  const view = viewOf(query);
  return pageFrame(brand, {
    title,
    data: html`${view !== undefined && html` data-view="${view}"`}`,
    head: html`<link rel="stylesheet" href="${asset('landing.css')}">
<link rel="stylesheet" href="${asset('events.css')}">
<script src="${asset('view.js')}"></script>
<script type="module" src="${asset('landing.mjs')}"></script>
${head}`,
    body: html`<main id="main" tabindex="-1">
<p id="notice" role="status" data-away="${texts.away}" data-stale="${texts.stale}"></p>
${content}
</main>
<footer><a href="docs">${texts.forDevelopers}</a></footer>
<dialog id="dialog" aria-labelledby="event-title">
<form method="dialog">
<button class="close" aria-label="${texts.close}"><span aria-hidden="true">&times;</span></button>
</form>
</dialog>`,
  });
}

export interface EventsView {
  query: LandingQuery;
  today: string;
  language: Language;
  /** The month that the month view shows. */
  month: string;
  list: Html;
  /** Undefined if the query asks for the list. */
  grid: Html | undefined;
  /** The number of events in the list. */
  total: number;
  options: FilterOptions;
  /** Names of the filters that have no control. */
  filterNames: Partial<Record<Filter, string>>;
  /** The next event, if the shown days have none. */
  next: PublicEvent | undefined;
  /** The name of the calendar. */
  name: string;
  /** The address of the events as an iCalendar file. */
  calendarFile: string;
}

/** Without JavaScript the filters lead to the list; with it they keep the view. */
export function eventsView(view: EventsView): Html {
  return html`${filterForm(view)}
${eventsSection(view)}`;
}

function filterForm({ query: { filters }, options, language: { texts } }: EventsView): Html {
  const select = (name: keyof FilterOptions, label: string, all: string): Html => {
    const selected = filters[name];
    const isListed = options[name].some(({ id }) => id === selected);
    const listed =
      selected === undefined || isListed
        ? options[name]
        : [{ id: selected, name: `${label} ${selected}` }, ...options[name]];
    return html`<label>${label}<select name="${name}" id="filter-${name}"><option value="">${all}</option>${listed.map(
      ({ id, name: text }) => html`<option value="${id}"${id === selected && ' selected'}>${text}</option>`,
    )}</select></label>`;
  };
  return html`<form id="filters" role="search" action="./" method="get">
<label>${texts.search}
<input type="search" name="search" id="filter-search" maxlength="100" value="${filters.search}"></label>
${select('venue', texts.venue, texts.allVenues)}
${select('categories', texts.category, texts.allCategories)}
<button>${texts.search}</button>
</form>`;
}

/** What a change of the query replaces. */
function eventsSection(view: EventsView): Html {
  const { query, list, grid, total, today, language, month } = view;
  const { texts, dates } = language;
  const summary = language.counted(texts.eventCount, total);
  return html`<section id="events" aria-label="${texts.events}" data-summary="${summary}">
${activeFilters(view)}
<div class="toolbar">
<h1 class="in-list">${listTitle(view)}</h1>
${grid && html`<h1 class="in-month">${dates.month(month)}</h1>`}
${monthLinks(query, month, language)}
${viewLinks(query, month, today, language)}
</div>
${searchLink(view)}
${nextLink(view)}
<div class="in-list list">${list}</div>
${grid && html`<div class="in-month month">${grid}</div>`}
${subscription(view)}
</section>`;
}

function subscription({ calendarFile, name, language: { texts } }: EventsView): Html {
  const links = subscribeLinks(calendarFile, name);
  return html`<div class="subscribe">
<p><a class="button" href="${calendarFile.replace(/^https?:/, 'webcal:')}">${texts.subscribe}</a>
${links.map(({ name: program, url }) => html`<a class="button" href="${url}">${program}</a>\n`)}</p>
<p>${texts.subscribeHint}</p>
<label>${texts.feedAddress}<input readonly value="${calendarFile}"></label>
</div>`;
}

/** From a search of what is to come to one of what is past, and back. */
function searchLink({ query, language: { texts } }: EventsView): Html | false {
  const href = hrefOf(query, { past: !query.past || undefined, page: 1 });
  const text = query.past ? texts.searchUpcoming : texts.searchPast;
  return query.filters.search !== undefined && html`<p><a id="past" href="${href}">${text}</a></p>`;
}

function nextLink({ next, query, today, language: { texts, dates } }: EventsView): Html | false {
  if (!next) return false;
  const { first } = spanOf(next);
  const href = hrefOf(query, { month: first.slice(0, 7), day: undefined, page: 1 });
  return html`<p><a id="next-event" href="${href}">${fill(texts.nextEvent, { day: dates.day(first, today) })}</a></p>`;
}

function listTitle({ query, today, language: { texts, dates } }: EventsView): string {
  const { month, day, past, filters } = query;
  if (day !== undefined) return dates.day(day, today);
  if (month !== undefined) return dates.month(month);
  return filters.search === undefined
    ? texts.upcoming
    : fill(past ? texts.pastWith : texts.upcomingWith, { search: filters.search });
}

function activeFilters({ query, filterNames, language: { texts } }: EventsView): Html | false {
  if (Object.keys(query.filters).length === 0) return false;
  const named = Object.entries(filterNames).map(
    ([filter, name]) => `${fill(filter === 'tags' ? texts.tagFilter : texts.organizerFilter, { name })} `,
  );
  const all = hrefOf(query, { filters: {}, page: 1 });
  return html`<p class="active">${named}<a id="all" href="${all}">${texts.removeFilters}</a></p>`;
}

function monthLinks(query: LandingQuery, month: string, { dates, texts }: Language): Html {
  const to = (other: string) => hrefOf(query, { month: other, day: undefined, page: 1 });
  const [previous, next] = [shiftMonth(month, -1), shiftMonth(month, 1)];
  const now = hrefOf(query, { month: undefined, day: undefined, page: 1 });
  const isNow = query.month === undefined && query.day === undefined;
  const hidden = (sign: string) => html`<span aria-hidden="true">${sign}</span>`;
  return html`<nav class="months" aria-label="${texts.months}">
<a id="previous" class="button" href="${to(previous)}">${hidden('‹ ')}${dates.shortMonth(previous)}</a>
<a id="today" class="button" href="${now}"${isNow && new Html(' aria-current="date"')}>${texts.today}</a>
<a id="next" class="button" href="${to(next)}">${dates.shortMonth(next)}${hidden(' ›')}</a>
</nav>`;
}

function viewLinks(query: LandingQuery, month: string, today: string, { texts }: Language): Html {
  const isList = viewOf(query) !== 'month';
  const monthHref = hrefOf(query, {
    view: 'month',
    month: month === today.slice(0, 7) ? undefined : month,
    day: undefined,
    page: 1,
  });
  const listHref = hrefOf(query, { view: 'list' });
  return html`<nav class="views" aria-label="${texts.view}">
<a id="view-month" href="${monthHref}"${!isList && new Html(' aria-current="page"')}>${texts.month}</a>
<a id="view-list" href="${listHref}"${isList && new Html(' aria-current="page"')}>${texts.list}</a>
</nav>`;
}
