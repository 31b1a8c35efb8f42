// The sources of `npm run demo -- --sources`: three iCalendar files of neighbours of the town, on a server of the demo.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Temporal } from 'temporal-polyfill';
import { townCalendar } from './town/content.ts';

/** The town announces it too: the gateway shows it once. */
const SHARED_EVENT = 'Knots in an Hour';

interface FeedEvent {
  title: string;
  /** In the town's zone, as in a body: `2026-11-28 17:30:00`. */
  start: string;
  place: string;
  rule?: string;
}

export interface DemoFeeds {
  /** For the gateway's configuration. */
  config: object;
  stop(): Promise<void>;
}

/** @param firstDay of the demo: the day on which the town's calendar was made */
export async function startDemoFeeds(firstDay: Temporal.PlainDate): Promise<DemoFeeds> {
  const files = feedsOf(firstDay);
  const server = createServer(({ url = '' }, response) => {
    const text = files[url.slice(1)];
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/calendar; charset=utf-8' }).end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    config: {
      sources: Object.keys(files).map((file) => ({ name: file.replace('.ics', ''), icalendar: `${origin}/${file}` })),
      sync: { privateSources: true },
    },
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The files by name. */
export function feedsOf(firstDay: Temporal.PlainDate): Record<string, string> {
  const at = (days: number, time: string) => `${firstDay.add({ days })} ${time}:00`;
  const { body } = townCalendar(firstDay).events.find((event) => event.body.title === SHARED_EVENT)!;
  return {
    'library.ics': fileOf('library', [
      {
        title: 'Chess for Everybody',
        start: at(2, '16:00'),
        place: 'Gullhaven Public Library',
        rule: 'WEEKLY;COUNT=8',
      },
      { title: 'Book Sale', start: at(9, '10:00'), place: 'Gullhaven Public Library' },
    ]),
    'theatre.ics': fileOf('theatre', [
      { title: 'The Lighthouse: a play in one act', start: at(6, '20:00'), place: 'Harbor Theatre' },
      { title: 'Open Rehearsal', start: at(13, '18:30'), place: 'Harbor Theatre' },
    ]),
    'sailing-club.ics': fileOf('sailing-club', [
      { title: SHARED_EVENT, start: String(body.start_date), place: 'Community Boathouse' },
      { title: 'Winter Regatta', start: at(16, '11:00'), place: 'Community Boathouse' },
    ]),
  };
}

function fileOf(name: string, events: readonly FeedEvent[]): string {
  const lines = events.flatMap(({ title, start, place, rule }, index) => [
    ...['BEGIN:VEVENT', `UID:${index}@${name}.example`, 'DTSTAMP:20260101T000000Z'],
    ...[`DTSTART;TZID=America/New_York:${start.replace(' ', 'T').replace(/[-:]/g, '')}`, 'DURATION:PT1H'],
    ...(rule === undefined ? [] : [`RRULE:FREQ=${rule}`]),
    ...[`SUMMARY:${title}`, `LOCATION:${place}`, 'END:VEVENT'],
  ]);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:demo', ...lines, 'END:VCALENDAR', ''].join('\r\n');
}
