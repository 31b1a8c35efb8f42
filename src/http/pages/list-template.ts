// The list view: events by the day they start, each once.

import { textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { spanOf } from './dates.ts';
import { type Html, html } from './html.ts';
import { hrefOf, type LandingQuery } from './landing-query.ts';
import { fill, type Language } from './language.ts';
import type { DayRange, EventList, PublicEvent } from './read-events.ts';

export interface ListView {
  list: EventList;
  range: DayRange;
  query: LandingQuery;
  today: string;
  language: Language;
  /** A CSS class with the colour of the event's category. */
  colorClass: (event: PublicEvent) => string;
}

export function eventList(view: ListView): Html {
  const { list, range, query, today, language } = view;
  const { texts, dates } = language;
  const days = Map.groupBy(list.events, (event) => {
    const { first, last } = spanOf(event);
    if (range.isPast) return first;
    if (last < range.first) return 'over';
    return first < range.first ? 'running' : first;
  });
  const heading = (day: string) =>
    day === 'running' ? (range.first === today ? texts.now : texts.running) : dates.relativeDay(day, today);
  // The API lists an event that ended in the night to the first day, because it overlaps that day. The page
  // does not show it.
  days.delete('over');
  if (days.size === 0)
    return html`<p class="empty">${query.filters.search === undefined ? texts.noEvents : texts.noneFound}</p>`;
  return html`${[...days].map(
    ([day, events]) => html`<section class="day">
<h2>${heading(day)}</h2>
<ul>${events.map((event) => item(event, view))}</ul>
</section>`,
  )}
${pager(view)}`;
}

function item(event: PublicEvent, { query, today, language, colorClass }: ListView): Html {
  const { dates } = language;
  const span = spanOf(event);
  const when = span.isLong ? dates.days(span, today) : dates.times(event);
  const venue = [event.venue].flat().find(({ venue: name }) => typeof name === 'string');
  const place = venue && [venue.venue, venue.city].filter(Boolean).join(', ');
  const image = event.image && webAddress(event.image.sizes?.thumbnail?.url ?? event.image.url);
  return html`<li class="item ${colorClass(event)}">
<time datetime="${event.start_date.replace(' ', 'T')}">${when}</time>
<div><a href="${hrefOf(query, { event: event.id })}" data-event="${event.id}">${language.title(event)}</a>
${place && html`<p>${textLine(place)}</p>`}</div>
${image && html`<img src="${image}" alt="" width="56" height="56" loading="lazy">`}
</li>`;
}

function pager({ list: { pages }, query, language: { texts } }: ListView): Html | false {
  const { page = 1 } = query;
  if (pages <= 1) return false;
  return html`<nav class="pager" aria-label="${texts.pagesOfList}">
${page > 1 && html`<a id="earlier" class="button" href="${hrefOf(query, { page: page - 1 })}">${texts.earlier}</a>`}
<span>${fill(texts.pageOf, { page, pages })}</span>
${page < pages && html`<a id="later" class="button" href="${hrefOf(query, { page: page + 1 })}">${texts.later}</a>`}
</nav>`;
}
