// Links of the landing page to what its days or its search do not show: the next event, and events that are past.

import { addDays, spanOf } from './dates.ts';
import { hrefOf, type LandingQuery } from './landing-query.ts';
import { fill, type Language } from './language.ts';
import { type Html, html } from './page-template.ts';
import type { DayRange, EventList, EventReader, PublicEvent } from './read-events.ts';

interface Shown {
  query: LandingQuery;
  today: string;
  language: Language;
  /** The next event, if the shown days have none. */
  next: PublicEvent | undefined;
}

/**
 * The first event after shown days that have none: of June 2 for the list of May, although the month of May, which ends
 * with that week, shows it.
 */
export async function nextEvent(
  reader: EventReader,
  shown: readonly (Pick<EventList, 'total'> & Pick<DayRange, 'last'>)[],
  { filters }: LandingQuery,
) {
  const last = shown.find(({ total }) => total === 0)?.last;
  if (last === undefined) return undefined;
  const { events } = await reader.list({ first: addDays(last, 1) }, { filters });
  return events[0];
}

export function nextLink({ next, query, today, language: { texts, dates } }: Shown): Html | false {
  if (!next) return false;
  const { first } = spanOf(next);
  const href = hrefOf(query, { month: first.slice(0, 7), day: undefined, page: 1 });
  return html`<p><a id="next-event" href="${href}">${fill(texts.nextEvent, { day: dates.day(first, today) })}</a></p>`;
}

/** From a search of what is to come to one of what is past, and back. */
export function pastLink({ query, language: { texts } }: Pick<Shown, 'query' | 'language'>): Html | false {
  const href = hrefOf(query, { past: query.past ? undefined : true, page: 1 });
  const text = query.past ? texts.searchUpcoming : texts.searchPast;
  return query.filters.search !== undefined && html`<p><a id="past" href="${href}">${text}</a></p>`;
}
