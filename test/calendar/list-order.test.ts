// The order of event lists, and lists of posts that changed after a time.

import { expect } from 'chai';
import type { TestGateway } from '../start-gateway.ts';
import { event, organizer, venue } from '../store/sample-records.ts';
import { seededGateway } from './seeded-gateway.ts';

const on = (id: number, day: number, more: object = {}) =>
  event(id, { start: `2027-01-0${day} 10:00:00`, end: `2027-01-0${day} 11:00:00`, ...more });

describe('the order of events', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([
      on(1, 3, { title: 'Éclair', modifiedUtc: '2026-11-02 10:00:00' }),
      on(2, 1, { title: 'Zebra &amp; Co', modifiedUtc: '2026-11-01 10:00:00' }),
      on(3, 2, { title: '<em>apple</em>', modifiedUtc: '2026-11-03 10:00:00' }),
      on(4, 2, { title: 'Eclair 2', modifiedUtc: '2026-11-01 10:00:00', protected: true }),
    ]);
  });
  after(() => gateway.stop());

  async function list(query: string) {
    const { status, body, text } = await gateway.request(`/events?${query}`);
    expect(status, text).to.equal(200);
    return body;
  }
  const ids = async (query: string): Promise<number[]> =>
    (await list(query)).events.map(({ id }: { id: number }) => id);

  it('is by start, modification or title, ascending or descending', async () => {
    const orders: Record<string, number[]> = {
      '': [2, 3, 4, 1],
      'order=desc': [1, 4, 3, 2],
      'orderby=start_date&order=asc': [2, 3, 4, 1],
      'orderby=modified': [2, 4, 1, 3],
      'orderby=modified&order=desc': [3, 1, 4, 2],
      'orderby=title': [3, 1, 4, 2],
      'orderby=TITLE&order=DESC': [2, 4, 1, 3],
      'include=1,2,3&orderby=start_date': [2, 3, 1],
      'include=3,1,2&orderby=title': [3, 1, 2],
    };
    for (const [query, expected] of Object.entries(orders)) expect(await ids(query), query).to.deep.equal(expected);
  });

  it('is that of the original for values that clients of the original send, and their links stay as they were', async () => {
    const plain = await list('');
    for (const query of ['order=asc', 'order=', 'order=ASC', 'orderby=event_date', 'order[]=desc', 'orderby=rand'])
      expect(await list(query), query).to.deep.equal(plain);
  });

  it('is the same on every page, which the URLs lead through', async () => {
    const shown: number[] = [];
    let url: string | undefined = '/events?orderby=modified&order=desc&per_page=1';
    while (url !== undefined) {
      const { body } = await gateway.request(url);
      shown.push(body.events[0].id);
      url = body.next_rest_url?.replace(/^.*\/v1/, '');
    }
    expect(shown).to.deep.equal([3, 1, 4, 2]);
  });
});

describe('modified_after', () => {
  let gateway: TestGateway;
  const at = (modifiedUtc: string) => ({ modifiedUtc });
  before(async () => {
    gateway = await seededGateway([
      ...[1, 2].map((id) => on(id, id, at(`2026-11-0${id} 10:00:00`))),
      ...[21, 22].map((id) => venue(id, at(`2026-11-${id} 10:00:00`))),
      ...[26, 27].map((id) => organizer(id, at(`2026-11-0${id - 25} 10:00:00`))),
      on(3, 3, { ...at('2026-11-20 10:00:00'), status: 'draft' }),
      on(4, 4, { ...at('2026-11-20 10:00:00'), hidden: true }),
    ]);
  });
  after(() => gateway.stop());

  async function ids(path: string, as?: string): Promise<number[]> {
    const { status, body, text } = await gateway.request(path, { as });
    expect(status, text).to.equal(200);
    return (Object.values(body)[0] as { id: number }[]).map(({ id }) => id);
  }

  it('is exclusive, and in UTC unless it names a zone', async () => {
    const lists: Record<string, number[]> = {
      '2026-11-01 09:59:59': [1, 2],
      '2026-11-01 10:00:00': [2],
      '2026-11-01T10:00:00Z': [2],
      '2026-11-01T10:59:59%2B01:00': [1, 2],
      '2026-11-01T11:00:00%2B01:00': [2],
      [Date.UTC(2026, 10, 1, 10) / 1000]: [2],
      '0': [1, 2],
      '2026-11-02 10:00:00': [],
    };
    for (const [time, expected] of Object.entries(lists))
      expect(await ids(`/events?modified_after=${time.replace(' ', '+')}`), time).to.deep.equal(expected);
  });

  it('restricts venues, organizers, feeds and what staff see too', async () => {
    expect(await ids('/venues?modified_after=2026-11-21+10:00:00')).to.deep.equal([22]);
    expect(await ids('/organizers?modified_after=2026-11-01+10:00:00')).to.deep.equal([27]);
    expect(await ids('/events?modified_after=2026-11-02+10:00:00', 'admin')).to.deep.equal([3]);
    const { text } = await gateway.request('/events.ics?modified_after=2026-11-01+10:00:00');
    expect(text.match(/UID:event-\d/g)).to.deep.equal(['UID:event-2']);
  });

  it('is relative to now for a phrase, and a 400 for any other text', async () => {
    // It is 2026-11-21 02:42 UTC.
    expect(await ids('/venues?modified_after=-1+day')).to.deep.equal([21, 22]);
    for (const path of ['/events', '/venues', '/organizers', '/events.ics']) {
      const { status, body } = await gateway.request(`${path}?modified_after=someday`);
      expect([status, Object.keys(body.data.params)], path).to.deep.equal([400, ['modified_after']]);
    }
  });
});
