// The legend of a month: what the colours of its events mean.

import { textLine } from '../../text/html.ts';
import { hrefOf, type LandingQuery } from './landing-query.ts';
import type { Language } from './language.ts';
import { type Html, html } from './page-template.ts';
import type { EventList, PublicEvent } from './read-events.ts';

export interface ColoredView {
  query: LandingQuery;
  language: Language;
  /** A CSS class with the colour of the event's category. */
  colorClass: (event: PublicEvent) => string;
}

/** The first category of each shown event, once, with a link to its events. */
export function legend({ events }: EventList, { query, language, colorClass }: ColoredView): Html | false {
  const items = new Map<number, Html>();
  for (const event of events) {
    const [category] = event.categories;
    if (!category) continue;
    const href = hrefOf(query, { filters: { ...query.filters, categories: String(category.id) } });
    const link = html`<a href="${href}">${textLine(category.name)}</a>`;
    items.set(category.id, html`<li class="${colorClass(event)}">${link}</li>`);
  }
  if (items.size === 0) return false;
  return html`<ul class="legend" aria-label="${language.texts.categories}">${[...items.values()]}</ul>`;
}
