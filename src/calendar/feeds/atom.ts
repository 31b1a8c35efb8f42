// Writes serialized events as an Atom feed (RFC 4287).

import { Feed } from 'feed';
import { type Site, siteName } from '../../model/records.ts';
import { escapeHtml, textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { wholeDays } from '../../time/wall-time.ts';
import { type CalendarInfo, type FeedEvent, lastChangeMs, linesOf, placeOf, titleOf } from './icalendar.ts';

const MAX_SUMMARY = 1000;

/** What the feed shows of an event. */
export interface AtomEntry {
  id: number;
  /** Of the last change. */
  changedMs: number;
  link: string | undefined;
  title: string;
  /** Lines of text. */
  summary: string[];
}

/** The summary begins with date and place, because readers show no other fields. */
export const atomEntry = (event: FeedEvent): AtomEntry => ({
  id: event.id,
  changedMs: lastChangeMs(event),
  link: webAddress(event.url),
  title: titleOf(event),
  summary: [
    [whenOf(event), placeOf(event)].filter((text) => text !== '').join(', '),
    ...linesOf(event, event.excerpt || event.description, MAX_SUMMARY),
  ],
});

export function atomText(entries: readonly AtomEntry[], { name, site, url }: CalendarInfo & { site: Site }): string {
  const link = site.url;
  // A tag URI (RFC 4151) begins with the host alone: `tag:example.org,2000:theatre/event-5`.
  const [host = '', ...folders] = siteName(site).split('/');
  const feed = new Feed({
    id: url,
    title: textLine(name),
    link,
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
      link: entry.link ?? link,
      title: asHtml([entry.title]),
      date: new Date(entry.changedMs),
      description: asHtml(entry.summary),
    });
  return feed.atom1();
}

/** `2027-03-12`, `2027-03-12 to 2027-03-14` or `2027-03-12 19:00 to 21:00 (Europe/Berlin)`; empty without a date. */
function whenOf({ start_date: start, end_date: end, all_day, timezone }: FeedEvent): string {
  if (start === '') return '';
  const [firstDay, lastDay] = all_day ? wholeDays(start, end) : [start.slice(0, 10), end.slice(0, 10)];
  if (all_day) return firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  const until = firstDay === lastDay ? end.slice(11, 16) : end.slice(0, 16);
  const zone = textLine(timezone);
  return `${start.slice(0, 16)}${end > start ? ` to ${until}` : ''} (${zone})`;
}
