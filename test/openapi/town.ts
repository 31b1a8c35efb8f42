// A gateway on a port with twelve concerts of a town, for the programs, the client and the examples that use the API.

import { seededGateway } from '../calendar/seeded-gateway.ts';
import { CREDENTIALS } from '../cms/fake-cms.ts';
import type { MemoryOptions, TestGateway } from '../start-gateway.ts';
import { MOUNT } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';

export const CONCERTS = 12;
export const FIRST_ID = 101;
/** The title of the second concert. */
export const HTML_TITLE = 'Drums &amp; <em>Bass</em>';

/** Concert `n` of 0 to 11, a day each from 2027-01-01 on. */
const concert = (n: number) => {
  const day = `2027-01-${String(n + 1).padStart(2, '0')}`;
  return event(FIRST_ID + n, {
    title: n === 1 ? HTML_TITLE : `Concert ${n + 1}`,
    slug: `concert-${n + 1}`,
    excerpt: '<p>Music &amp; more</p>',
    start: `${day} 19:00:00`,
    end: `${day} 21:00:00`,
    startUtc: `${day} 18:00:00`,
    endUtc: `${day} 20:00:00`,
    categories: [31],
    venues: [21],
    organizers: [26],
  });
};

export interface Town {
  gateway: TestGateway;
  /** The URL of the API. */
  url: string;
  /** The `Authorization` of an editor. */
  authorization: string;
}

export async function startTown({ mcp = 'read' }: Pick<MemoryOptions, 'mcp'> = {}): Promise<Town> {
  const records = [
    ...Array.from({ length: CONCERTS }, (_, n) => concert(n)),
    venue(21, { title: 'Old Pier', city: 'Gullhaven' }),
    organizer(26, { title: 'Music Society' }),
    term('category', 31, { name: 'Concerts', slug: 'concerts' }),
  ];
  const gateway = await seededGateway(records, { perPage: 4, mcp });
  const { url } = await gateway.listen();
  return { gateway, url: url + MOUNT, authorization: CREDENTIALS.editor };
}
