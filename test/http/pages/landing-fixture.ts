// For tests of the landing page: a gateway with given records, and what its page shows.

import { expect } from 'chai';
import type { CalendarRecord, EventRecord, ImageRecord } from '../../../src/model/records.ts';
import { seededGateway } from '../../calendar/seeded-gateway.ts';
import type { TestGateway } from '../../start-gateway.ts';
import { event } from '../../store/sample-records.ts';

/** The evening of 9 March at the site: 10 March in UTC. */
const NOW_MS = Date.UTC(2027, 2, 10, 2, 0);
export const TODAY = '2027-03-09';

export const at = (id: number, start: string, end: string, more: Partial<EventRecord> = {}) =>
  event(id, { start, end, startUtc: start, endUtc: end, ...more });
/** An event of an hour on a day of March. */
export const on = (id: number, day: string, more: Partial<EventRecord> = {}) =>
  at(id, `2027-03-${day} 19:00:00`, `2027-03-${day} 20:30:00`, more);

export const image = (id: number, url: string): ImageRecord => ({
  id,
  url,
  extension: 'jpg',
  width: 1600,
  height: 900,
  filesizeBytes: 1,
  sizes: {},
});

/** Stops the gateway after each test of the suite. */
export function landingFixture() {
  const fixture = {
    gateway: undefined as unknown as TestGateway,

    async start(records: CalendarRecord[], images: ImageRecord[] = []): Promise<void> {
      const pages = { landing: true, documentation: true };
      fixture.gateway = await seededGateway(records, { nowMs: NOW_MS, images, pages });
    },

    async get(query = ''): Promise<string> {
      const { status, text } = await fixture.gateway.requestPath(`/${query}`);
      expect(status, query).to.equal(200);
      return text;
    },
  };
  afterEach(() => fixture.gateway.stop());
  return fixture;
}

/** The ids of the events in the part of the page with this class, in their order. */
export function idsIn(html: string, part: 'list' | 'month'): number[] {
  const [, after = ''] = html.split(`<div class="in-${part} ${part}">`);
  const [content = ''] = after.split(/<div class="in-month month">|<footer>/);
  return [...content.matchAll(/data-event="(\d+)"/g)].map(([, id]) => Number(id));
}
/** The text, with single blanks. */
export const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/\u2060/g, '')
    .replace(/[\s\u2009\u202f]+/g, ' ');
