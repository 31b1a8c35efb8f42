// What holds for the series of every plugin that keeps the occurrences in one post.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import type { Checks, PluginSite } from './plugin-test.ts';

interface Occurrence {
  /** `YYYY-MM-DD HH:MM:SS` */
  start: string;
  end: string;
}

const DAY_MS = 86_400_000;
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** The occurrences of a series that the gateway lists, over several pages. */
export async function listedOccurrences(site: PluginSite, seriesId: number, as?: 'admin'): Promise<Json[]> {
  const events: Json[] = [];
  for (let page = 1; ; page += 1) {
    const query = `post_parent=${seriesId}&start_date=2000-01-01&end_date=2100-01-01&per_page=50&page=${page}`;
    const statuses = as ? '&status=publish,draft,private' : '';
    const { status, body } = await site.request(`events?${query}${statuses}`, as ? { as } : {});
    if (status !== 200) return events;
    events.push(...(body.events as Json[]));
    if (page >= Number(body.total_pages)) return events;
  }
}

/**
 * @param own the occurrences of the series `site.ids.weekly` as the plugin stores them
 * @param unpublished the series that only staff may see and that the plugin keeps occurrences of, in `site.ids`
 * @param refusal what the gateway answers to a write of an occurrence
 */
export const seriesChecks = (
  own: (site: PluginSite) => Promise<Occurrence[]>,
  unpublished: readonly string[] = ['draft', 'private'],
  refusal = /^This site offers its events for reading only\.$/,
): Checks => ({
  async 'every occurrence of the plugin within the window is an event'(site) {
    const expected = (await own(site)).filter(({ start }) => start < dayFromNow(360));
    expect(expected.length).to.be.above(20);
    const listed = (await listedOccurrences(site, site.ids.weekly!)).filter(
      ({ start_date: start }) => String(start) < dayFromNow(360),
    );
    expect(listed.map(({ start_date: start, end_date: end }) => ({ start, end }))).to.deep.equal(expected);
  },
  async 'a weekly class is in the list of every week'(site) {
    for (let week = 1; week <= 20; week += 1) {
      const query = `start_date=${dayFromNow(week * 7)}&end_date=${dayFromNow(week * 7 + 6)} 23:59:59&per_page=50`;
      const events = (await site.request(`events?${query}`)).body.events as Json[];
      expect(events.filter(({ title }) => title === 'Yoga').length, query).to.equal(1);
    }
  },
  async 'an occurrence is read by id and by slug, and no list has the series itself'(site) {
    const [first] = await listedOccurrences(site, site.ids.weekly!);
    expect((await site.request(`events/${first!.id}`)).body.start_date).to.equal(first!.start_date);
    expect((await site.request(`events/by-slug/${first!.slug}`)).body.id).to.equal(first!.id);
    expect((await site.request(`events/${site.ids.weekly}`)).body.hide_from_listings).to.equal(true);
    const { body } = await site.request('events?start_date=2000-01-01&end_date=2100-01-01&per_page=50');
    expect((body.events as Json[]).map(({ id }) => id)).not.to.include(site.ids.weekly);
  },
  async [`the occurrences are for staff: ${unpublished.join(', ')}`](site) {
    for (const id of unpublished.map((name) => site.ids[name]!)) {
      expect(await listedOccurrences(site, id)).to.deep.equal([]);
      const own = await listedOccurrences(site, id, 'admin');
      expect(own.length, String(id)).to.be.above(2);
      expect((await site.request(`events/${own[0]!.id}`)).status).to.equal(403);
      expect((await site.request(`events/${own[0]!.id}`, { as: 'admin' })).body.id).to.equal(own[0]!.id);
    }
  },
  async 'an occurrence cannot be written'(site) {
    const [first] = await listedOccurrences(site, site.ids.weekly!);
    for (const request of [{ method: 'PATCH', json: { title: 'X' } }, { method: 'DELETE' }] as const) {
      const { status, body } = await site.request(`events/${first!.id}`, request);
      expect(status).to.equal(403);
      expect(body.message).to.match(refusal);
    }
  },
});
