// The landing page: filters, links to months and views, the events as a list, subscription.

import { textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { subscription } from './calendar-links.ts';
import { shiftMonth, spanOf } from './dates.ts';
import { nextLink, pastLink } from './further-links.ts';
import { hrefOf, type LandingQuery, VIEWS, type View, viewOf } from './landing-query.ts';
import { fill, type Language } from './language.ts';
import { type MonthView, monthGrid } from './month-template.ts';
import { type Brand, type Html, html, pageFrame } from './page-template.ts';
import type { DayRange, EventList, FilterOptions, PublicEvent } from './read-events.ts';

interface LandingPage {
  brand: Brand;
  query: LandingQuery;
  title: string;
  /** Metadata: canonical address, JSON-LD. */
  head: Html;
  /** The filters and the events, or one event. */
  content: Html;
}

export function landingPage({ brand, query, title, head, content }: LandingPage): Html {
  const { asset, language, root } = brand;
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
<p id="notice" class="visually-hidden" role="status" data-away="${texts.away}" data-stale="${texts.stale}"></p>
${content}
</main>
<footer><a href="${root}docs">${texts.forDevelopers}</a></footer>
<dialog id="dialog" aria-labelledby="event-title">
<form method="dialog">
<button class="close" aria-label="${texts.close}"><span aria-hidden="true">&times;</span></button>
</form>
</dialog>`,
  });
}

export const backLink = ({ root, language: { texts } }: Brand, query: LandingQuery): Html =>
  html`<p class="back"><a href="${root}${hrefOf(query, { event: undefined })}">${texts.allEvents}</a></p>`;

interface EventsPage extends MonthView {
  range: DayRange;
  list: EventList;
  /** Undefined if the query asks for the list. */
  ofMonth: EventList | undefined;
  options: FilterOptions;
  /** The next event, if the shown days have none. */
  next: PublicEvent | undefined;
  calendarName: string;
  calendarFile: string;
}

/** Without JavaScript the filters lead to the list; with it they keep the view. */
export function eventsContent(page: EventsPage): Html {
  return html`${filterForm(page)}
${eventsSection(page)}`;
}

function filterForm({ query: { filters }, options, language: { texts } }: EventsPage): Html {
  const select = (name: keyof FilterOptions, label: string, all: string): Html => {
    const selected = filters[name];
    const isListed = selected === undefined || options[name].some(({ id }) => id === selected);
    const listed = [...(isListed ? [] : [{ id: selected, name: `${label} ${selected}` }]), ...options[name]];
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

/** The part of the page that `landing.mjs` replaces when the query changes. */
function eventsSection(page: EventsPage): Html {
  const { query, list, ofMonth, language, month } = page;
  const { texts, dates } = language;
  // The API's total: it counts the events that `eventList` leaves out, and is 0 on a page after the last one.
  const announced = language.counted(texts.eventCount, list.total);
  // The page has list and month, unless the query asks for the list: `landing.css` hides one of them by `data-view`.
  const partOf: Record<View, { title: string; content: Html } | undefined> = {
    list: { title: listTitle(page), content: eventList(page) },
    month: ofMonth && { title: dates.format('month', month), content: monthGrid(ofMonth, page) },
  };
  const parts = Object.entries(partOf).flatMap(([view, part]) => (part ? [{ view, ...part }] : []));
  return html`<section id="events" aria-label="${texts.events}" data-announced="${announced}">
${activeFilters(page)}
<div class="toolbar">
${parts.map(({ view, title }) => html`<h1 class="in-${view}">${title}</h1>\n`)}
${monthLinks(query, month, language)}
${viewLinks(page)}
</div>
${pastLink(page)}
${nextLink(page)}
${parts.map(({ view, content }) => html`<div class="in-${view} ${view}">${content}</div>\n`)}
${subscription(page.calendarFile, page.calendarName, texts)}
</section>`;
}

function listTitle({ query, today, language: { texts, dates } }: EventsPage): string {
  const { month, day, past, filters } = query;
  if (day !== undefined) return dates.day(day, today);
  if (month !== undefined) return dates.format('month', month);
  return filters.search === undefined
    ? texts.upcoming
    : fill(past ? texts.pastWith : texts.upcomingWith, { search: filters.search });
}

/** Names organizer and tag, which the form does not have, as an event of the list does: `Organizer: The Choir.` */
function activeFilters({ query, list: { events }, language: { texts } }: EventsPage): Html | false {
  const { organizer, tags } = query.filters;
  if (Object.keys(query.filters).length === 0) return false;
  const shownOrganizer = events.flatMap((event) => event.organizer).find(({ id }) => String(id) === organizer);
  const shownTag = events.flatMap((event) => event.tags).find(({ id }) => String(id) === tags);
  const named = (text: string, name: unknown) => html`${fill(text, { name: textLine(String(name)) })} `;
  const all = hrefOf(query, { filters: {}, page: 1 });
  return html`<p class="active">${organizer && named(texts.organizerFilter, shownOrganizer?.organizer ?? organizer)}
${tags && named(texts.tagFilter, shownTag?.name ?? tags)}<a id="all" href="${all}">${texts.removeFilters}</a></p>`;
}

function monthLinks(query: LandingQuery, month: string, { dates, texts }: Language): Html {
  const to = (other: string) => hrefOf(query, { month: other, day: undefined, page: 1 });
  const [previous, next] = [shiftMonth(month, -1), shiftMonth(month, 1)];
  const now = hrefOf(query, { month: undefined, day: undefined, page: 1 });
  const isNow = query.month === undefined && query.day === undefined;
  const hidden = (sign: string) => html`<span aria-hidden="true">${sign}</span>`;
  return html`<nav class="months" aria-label="${texts.months}">
<a id="previous" class="button" href="${to(previous)}">${hidden('‹ ')}${dates.format('shortMonth', previous)}</a>
<a id="today" class="button" href="${now}"${isNow && html` aria-current="date"`}>${texts.today}</a>
<a id="next" class="button" href="${to(next)}">${dates.format('shortMonth', next)}${hidden(' ›')}</a>
</nav>`;
}

/** Without JavaScript the page is the list, unless the query asks for another view. */
function viewLinks({ query, month, today, language: { texts } }: EventsPage): Html {
  const otherMonth = month === today.slice(0, 7) ? undefined : month;
  const changes: Record<View, Partial<LandingQuery>> = {
    month: { view: 'month', month: otherMonth, day: undefined, page: 1 },
    list: { view: 'list' },
  };
  const current = viewOf(query) ?? 'list';
  const links = VIEWS.map((view) => {
    const isCurrent = view === current && html` aria-current="page"`;
    return html`<a id="view-${view}" href="${hrefOf(query, changes[view])}"${isCurrent}>${texts[view]}</a>\n`;
  });
  return html`<nav class="views" aria-label="${texts.view}">
${links}</nav>`;
}

/** Events by the day they start, each once. */
function eventList(page: EventsPage): Html {
  const { list, range, query, today, language } = page;
  const { texts, dates } = language;
  // The API lists an event that ended in the night to the first day, because it overlaps that day. The page does not.
  const shown = list.events.filter((event) => range.isPast || spanOf(event).last >= range.first);
  const days = Map.groupBy(shown, (event) => {
    const { first } = spanOf(event);
    return !range.isPast && first < range.first ? 'running' : first;
  });
  const heading = (day: string) =>
    day === 'running' ? (range.first === today ? texts.now : texts.running) : dates.relativeDay(day, today);
  if (days.size === 0)
    return html`<p class="empty">${query.filters.search === undefined ? texts.noEvents : texts.noneFound}</p>`;
  return html`${[...days].map(
    ([day, events]) => html`<section class="day">
<h2>${heading(day)}</h2>
<ul>${events.map((event) => listItem(event, page))}</ul>
</section>`,
  )}
${pager(page)}`;
}

function listItem(event: PublicEvent, { query, today, language, colorClass }: EventsPage): Html {
  const { dates } = language;
  const span = spanOf(event);
  const when = span.last > span.first ? dates.days(span, today) : dates.times(event);
  const venue = [event.venue].flat().find(({ venue: name }) => typeof name === 'string');
  const place = venue && [venue.venue, venue.city].filter(Boolean).join(', ');
  const image = event.image && webAddress(event.image.sizes?.thumbnail?.url ?? event.image.url);
  return html`<li class="item ${colorClass(event)}">
${event.start_date !== '' && html`<time datetime="${event.start_date.replace(' ', 'T')}">${when}</time>`}
<div><a href="${hrefOf(query, { event: event.id })}" data-event="${event.id}">${language.title(event)}</a>
${place && html`<p>${textLine(place)}</p>`}</div>
${image && html`<img src="${image}" alt="" width="56" height="56" loading="lazy">`}
</li>`;
}

function pager({ list: { pages }, query, language: { texts } }: EventsPage): Html | false {
  const { page = 1 } = query;
  if (pages <= 1) return false;
  return html`<nav class="pager" aria-label="${texts.pagesOfList}">
${page > 1 && html`<a id="earlier" class="button" href="${hrefOf(query, { page: page - 1 })}">${texts.earlier}</a>`}
<span>${fill(texts.pageOf, { page, pages })}</span>
${page < pages && html`<a id="later" class="button" href="${hrefOf(query, { page: page + 1 })}">${texts.later}</a>`}
</nav>`;
}
