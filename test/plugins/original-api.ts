// Compares the gateway with the original API (`tribe/events/v1`) on the same site: the same ids and values,
// except for known differences.

import { cpuMs, median, processTree } from '../../bench/processes.ts';
import { differenceText, judgeAnswers } from './known-differences.ts';
import type { PluginRequest, PluginSite } from './plugin-test.ts';

export interface Comparison {
  queries: number;
  equal: number;
  /** Queries whose differences all have a reason, by reason. */
  explained: Map<string, number>;
  /** The others, as texts. */
  unexplained: string[];
}

/** Sends every query to both, and compares status and body. */
export async function compareWithOriginal(
  site: PluginSite,
  queries: readonly string[],
  as: PluginRequest['as'],
): Promise<Comparison> {
  const comparison: Comparison = { queries: queries.length, equal: 0, explained: new Map(), unexplained: [] };
  for (const query of queries) {
    const original = await site.wordpress(`tribe/events/v1/${query}`, { as });
    const here = await site.request(query, { as, mount: '/wp-json/tribe/events/v1' });
    const { reasons, unexplained } = judgeAnswers({ as, query }, original, here);
    comparison.unexplained.push(...unexplained.map((difference) => `${query}: ${differenceText(difference)}`));
    if (reasons.size === 0 && unexplained.length === 0) comparison.equal += 1;
    for (const reason of reasons) comparison.explained.set(reason, (comparison.explained.get(reason) ?? 0) + 1);
  }
  return comparison;
}

/** Lists and single reads of every kind, by every parameter of the lists. */
export function queriesOf(ids: Readonly<Record<string, number>>): string[] {
  const all = 'start_date=2019-01-01&end_date=2040-01-01&per_page=50';
  const spring = 'start_date=2031-05-01&end_date=2031-05-31&per_page=50';
  return [
    `events?${all}`,
    `events?${spring}`,
    'events?per_page=50',
    'events?per_page=3',
    'events?per_page=3&page=2',
    'events?per_page=3&page=4',
    'events?per_page=3&page=9',
    `events?start_date=2020-01-01&end_date=2020-12-31&per_page=50`,
    `events?start_date=2025-01-01&end_date=2026-01-01&per_page=50`,
    `events?end_date=2026-01-01&start_date=2000-01-01&per_page=50`,
    'events?start_date=2031-06-12&end_date=2031-06-12&per_page=50',
    'events?start_date=2031-07-05&end_date=2031-07-05&per_page=50',
    'events?start_date=2031-07-05%2012:00:00&per_page=50',
    'events?start_date=2031-05-01%2020:00:00&end_date=2031-05-01%2021:00:00&per_page=50',
    'events?starts_before=2026-01-01&start_date=2000-01-01&per_page=50',
    `events?${all}&starts_before=2031-05-03`,
    `events?${all}&starts_after=2031-05-03`,
    `events?${all}&ends_before=2031-05-03`,
    `events?${all}&ends_after=2031-07-01`,
    `events?${all}&categories=${ids.music}`,
    `events?${all}&categories=music`,
    `events?${all}&categories=${ids.music},${ids.markets}`,
    `events?${all}&categories=crafts`,
    `events?${all}&categories[]=${ids.markets}`,
    `events?${all}&tags=${ids.open}`,
    `events?${all}&tags=open-air`,
    `events?${all}&venue=${ids.hall}`,
    `events?${all}&venue=${ids.mill}`,
    `events?${all}&venue=${ids.hall},${ids.mill}`,
    `events?${all}&organizer=${ids.players}`,
    `events?${all}&organizer=${ids.council}`,
    `events?${all}&organizer=${ids.players},${ids.council}`,
    `events?${all}&featured=true`,
    `events?${all}&featured=false`,
    `events?${all}&search=concert`,
    `events?${all}&search=water`,
    `events?${all}&search=nothing-such`,
    `events?include=${ids.concert},${ids.fair}&per_page=50`,
    `events?${all}&post_parent=${ids.concert}`,
    `events?${all}&status=publish`,
    `events?${all}&strict_dates=true`,
    `events?${all}&venue=999999`,
    `events?${all}&categories=no-such`,
    'events?start_date=nonsense',
    'events?per_page=0',
    'events?per_page=x',
    'events?page=0',
    `events/${ids.concert}`,
    `events/${ids.fair}`,
    `events/${ids.weekend}`,
    `events/${ids.free}`,
    `events/${ids.longAgo}`,
    `events/${ids.hidden}`,
    `events/${ids.featured}`,
    `events/${ids.sticky}`,
    `events/${ids.cancelled}`,
    `events/${ids.postponed}`,
    `events/${ids.draft}`,
    `events/${ids.private}`,
    `events/${ids.locked}`,
    `events/${ids.locked}?password=open%20sesame`,
    `events/${ids.hall}`,
    'events/999999',
    'events/by-slug/harbour-concert',
    'events/by-slug/no-such',
    'venues?per_page=50',
    'venues?per_page=1&page=2',
    'venues?search=Quay&per_page=50',
    `venues?event=${ids.concert}&per_page=50`,
    'venues?only_with_upcoming=true&per_page=50',
    `venues?include=${ids.hall}&per_page=50`,
    `venues/${ids.hall}`,
    `venues/${ids.mill}`,
    'venues/by-slug/quay-hall',
    'venues/999999',
    'organizers?per_page=50',
    `organizers?event=${ids.concert}&per_page=50`,
    'organizers?search=Town&per_page=50',
    'organizers?has_events=true&per_page=50',
    `organizers/${ids.players}`,
    'organizers/by-slug/town-council',
    'categories?per_page=50',
    'categories?per_page=50&hide_empty=true',
    `categories?event=${ids.concert}&per_page=50`,
    `categories/${ids.music}`,
    `categories/${ids.crafts}`,
    'categories?search=Mus&per_page=50',
    'categories?parent=0&per_page=50',
    'categories?orderby=count&order=desc&per_page=50',
    'tags?per_page=50',
    `tags/${ids.open}`,
    `tags?event=${ids.concert}&per_page=50`,
    'tags/999999',
  ];
}

/** Milliseconds of CPU time that a request costs each side, by what was requested. */
export interface CpuTime {
  what: string;
  /** PHP, its web server and the database. */
  original: number;
  here: number;
}

const MEASURED_REQUESTS = 15;

/**
 * Sends the same requests to both, anonymously and one at a time. Of CPU time a busy machine changes less
 * than of response times.
 */
export async function compareCpuTime(site: PluginSite): Promise<CpuTime[]> {
  const list = (index: number) => `events?start_date=2019-01-01&end_date=2040-01-01&per_page=${20 + index}`;
  const { total } = (await site.request(list(0))).body;
  const requests: readonly [string, (index: number) => string][] = [
    [`a list of ${total} events that was requested before`, () => list(0)],
    [`a list of ${total} events that was not requested before`, list],
    ['an event', () => `events/${site.ids.concert}`],
  ];
  const gatewayPids = processTree(site.gateway.child.pid!);
  const sitePids = processTree(process.pid).filter((pid) => pid !== process.pid && !gatewayPids.includes(pid));
  const times: CpuTime[] = [];
  for (const [what, query] of requests)
    times.push({
      what,
      original: await medianCpuMs(sitePids, (index) =>
        site.wordpress(`tribe/events/v1/${query(index)}`, { as: 'anonymous' }),
      ),
      here: await medianCpuMs(gatewayPids, (index) => site.request(query(index))),
    });
  return times;
}

/** The median leaves out the requests during which the gateway polled the site. */
async function medianCpuMs(pids: readonly number[], send: (index: number) => Promise<unknown>): Promise<number> {
  await send(0);
  const spent: number[] = [];
  for (let index = 0; index < MEASURED_REQUESTS; index += 1) {
    const before = cpuMs(pids);
    await send(index + 1);
    spent.push(cpuMs(pids) - before);
  }
  return median(spent);
}
