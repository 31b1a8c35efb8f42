// A web server on this machine with one iCalendar file.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One event that can be served, and one without a start. */
const FEED = [
  ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test'],
  ...['BEGIN:VEVENT', 'UID:jazz', 'DTSTART:20350101T100000Z', 'DTEND:20350101T110000Z'],
  ...['SUMMARY:Jazz & Blues', 'LOCATION:Old Hall', 'END:VEVENT'],
  ...['BEGIN:VEVENT', 'UID:broken', 'SUMMARY:No start', 'END:VEVENT', 'END:VCALENDAR', ''],
].join('\r\n');

/** @returns the addresses of the file and of a page that is no calendar */
export async function startFeedSite() {
  const server = createServer(({ url }, response) => response.end(url === '/events.ics' ? FEED : '<html>Hello</html>'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { feed: `${origin}/events.ics`, page: `${origin}/page.ics`, close: () => void server.close() };
}
