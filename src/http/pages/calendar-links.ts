// Links that put the shown events, or one event, into a visitor's calendar.

import { placeOf } from '../../calendar/feeds/icalendar.ts';
import { textLine } from '../../text/html.ts';
import { wholeDays } from '../../time/wall-time.ts';
import { addDays } from './dates.ts';
import type { LandingQuery } from './landing-query.ts';
import type { Texts } from './language.ts';
import { type Html, html } from './page-template.ts';
import type { PublicEvent } from './read-events.ts';

/**
 * The feed of the shown events. A feed without a date has what starts yesterday or later: an exhibition of two months
 * would leave it on its third day. This one has everything that ends after `endsAfter`, for example `-1month`. That is
 * a phrase, because subscribers keep the address for years.
 */
export const feedUrl = (file: string, filters: LandingQuery['filters'], endsAfter: string): string =>
  `${file}?${new URLSearchParams({ ends_after: endsAfter, ...filters })}`;

const linkTo = (name: string, address: string, params: Record<string, string>) => ({
  name,
  url: `${address}?${new URLSearchParams(params)}`,
});

const GOOGLE = 'https://calendar.google.com/calendar/render';

/** The part of the page to subscribe to a calendar file. `webcal:` makes calendar apps subscribe instead of import. */
export function subscription(fileUrl: string, calendarName: string, texts: Texts): Html {
  const url = fileUrl.replace(/^https?:/, 'webcal:');
  const outlook = { path: '/calendar/action/compose', rru: 'addsubscription', url, name: calendarName };
  const links = [
    linkTo('Google Calendar', GOOGLE, { cid: url }),
    linkTo('Outlook.com', 'https://outlook.live.com/owa', outlook),
    linkTo('Microsoft 365', 'https://outlook.office.com/owa', outlook),
  ];
  return html`<div class="subscribe">
<p><a class="button" href="${url}">${texts.subscribe}</a>
${links.map(({ name, url: address }) => html`<a class="button" href="${address}">${name}</a>\n`)}</p>
<p>${texts.subscribeHint}</p>
<label>${texts.feedAddress}<input readonly value="${fileUrl}"></label>
</div>`;
}

/** Links that open the form for a new event with this one; none for an event without a date. */
export function addLinks(event: PublicEvent, pageUrl: string) {
  if (event.start_date === '') return [];
  const text = textLine(event.title);
  const location = placeOf(event);
  const [first, last] = wholeDays(event.start_date, event.end_date);
  const utc = (wall: string) => `${wall.replace(' ', 'T')}Z`;
  // Both programs want the day after the last one: of an all-day event on 12 March the dates are 20270312/20270313.
  const [startdt, enddt] = event.all_day
    ? [first, addDays(last, 1)]
    : [utc(event.utc_start_date), utc(event.utc_end_date)];
  const dates = `${startdt}/${enddt}`.replace(/[-:]/g, '');
  const outlook = { rru: 'addevent', subject: text, startdt, enddt, allday: String(event.all_day), location };
  return [
    linkTo('Google Calendar', GOOGLE, { action: 'TEMPLATE', text, dates, location, details: pageUrl }),
    linkTo('Outlook.com', 'https://outlook.live.com/calendar/0/action/compose', { ...outlook, body: pageUrl }),
  ];
}
