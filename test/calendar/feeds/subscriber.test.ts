// A visitor's calendar app over the weeks of an exhibition: it saved the address that the page gave on the first day, and
// asks the same address every day.

import { expect } from 'chai';
import type { TestGateway } from '../../start-gateway.ts';
import { event } from '../../store/sample-records.ts';
import { seededGateway } from '../seeded-gateway.ts';
import { PARSERS } from './parsers.ts';

const DAY_MS = 86_400_000;
const FIRST_DAY_MS = Date.UTC(2027, 2, 1, 12, 0);
const EXHIBITION = 'event-1@cms.example';
const CONCERT = 'event-2@cms.example';

const during = (id: number, start: string, end: string) => event(id, { start, end, startUtc: start, endUtc: end });

describe("a subscriber's calendar", () => {
  let gateway: TestGateway;
  let nowMs = FIRST_DAY_MS;
  beforeEach(async () => {
    nowMs = FIRST_DAY_MS;
    gateway = await seededGateway(
      [
        during(1, '2027-03-01 10:00:00', '2027-03-21 18:00:00'),
        during(2, '2027-03-02 19:00:00', '2027-03-02 21:00:00'),
      ],
      { nowMs: () => nowMs, pages: { landing: true } },
    );
  });
  afterEach(() => gateway.stop());

  /** The address of the calendar file in the page's head. */
  async function addressOnThePage(): Promise<string> {
    const { text } = await gateway.requestPath('/');
    const [, href = ''] = /<link rel="alternate" type="text\/calendar"[^>]* href="([^"]+)"/.exec(text) ?? [];
    const { pathname, search } = new URL(href.replaceAll('&amp;', '&'), 'http://gateway.example');
    return pathname + search;
  }

  for (const [name, parse] of Object.entries(PARSERS))
    it(`as ${name} reads it has the exhibition for its three weeks, and for a month after`, async () => {
      const address = await addressOnThePage();
      const daysWith: Record<string, number[]> = { [EXHIBITION]: [], [CONCERT]: [] };
      for (let day = 1; day <= 60; day += 1) {
        const { status, text } = await gateway.requestPath(address);
        expect(status, `day ${day}`).to.equal(200);
        for (const { uid } of parse(text)) daysWith[uid]!.push(day);
        nowMs += DAY_MS;
      }
      // `ends_after` means after the end of that day: the file of 21 April has what ends after 21 March.
      expect(daysWith[EXHIBITION]).to.deep.equal(Array.from({ length: 31 + 20 }, (_, i) => i + 1));
      expect(daysWith[CONCERT]!.at(-1)).to.equal(31 + 1);
    });
});
