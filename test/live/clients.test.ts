// Existing clients run unmodified: a published Gatsby source plugin, and the three ways of paging through
// lists.

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { calendar, gatewayUrl, request } from './environment.ts';

interface Listed {
  events: { id: number; title: string }[];
  total: number;
  total_pages: number;
  next_rest_url?: string;
}

const COUNT = 23;
const WINDOW = 'start_date=2034-05-01&end_date=2034-05-31';
const sorted = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);

describe('existing clients of the API', () => {
  const createdIds: number[] = [];

  before(async () => {
    for (let i = 0; i < COUNT; i++) {
      const day = String(1 + (i % 28)).padStart(2, '0');
      const json = {
        title: `Walk ${i}`,
        start_date: `2034-05-${day} 10:00`,
        end_date: `2034-05-${day} 11:00`,
        categories: ['Walks'],
        tags: ['outdoors'],
        venue: { venue: 'Harbour' },
        organizer: [{ organizer: 'Walkers' }],
      };
      const { body } = await request<{ id: number }>(`${calendar}/events`, { as: 'admin', method: 'POST', json });
      createdIds.push(body.id);
    }
    // The published client asks for the default window, which ends in two years.
    const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const next = { title: 'Next month', start_date: `${day} 10:00`, end_date: `${day} 11:00` };
    await request(`${calendar}/events`, { as: 'admin', method: 'POST', json: next });
  });

  it('gatsby-source-tribe-events reads all five lists through the second mount', async () => {
    const { sourceNodes } = createRequire(import.meta.url)('gatsby-source-tribe-events/gatsby-node.js') as {
      sourceNodes: (api: object, options: object) => Promise<void>;
    };
    const nodes: { id: string; internal: { type: string; contentDigest: string } }[] = [];
    const api = {
      actions: { createNode: (node: (typeof nodes)[number]) => nodes.push(node) },
      createNodeId: (text: string) => text,
      createContentDigest: (content: unknown) => createHash('md5').update(JSON.stringify(content)).digest('hex'),
    };
    await sourceNodes(api, { baseUrl: gatewayUrl, maxEvents: 50 });
    const types = new Set(nodes.map(({ internal }) => internal.type));
    expect([...types].sort()).to.deep.equal([
      'TribeCategories',
      'TribeEvents',
      'TribeOrganizers',
      'TribeTags',
      'TribeVenues',
    ]);
  });

  it('a loop on next_rest_url sees every event once', async () => {
    const ids: number[] = [];
    for (let url: string | undefined = `${calendar}/events?${WINDOW}&per_page=5&categories=walks`; url; ) {
      const { body }: { body: Listed } = await request<Listed>(url.replace(/^http:\/\/[^/]+/, gatewayUrl));
      ids.push(...body.events.map(({ id }) => id));
      url = body.next_rest_url;
    }
    expect(ids).to.have.lengthOf(COUNT);
    expect(sorted(ids)).to.deep.equal(sorted(createdIds));
  });

  it('a loop on total_pages sees every event once', async () => {
    const ids: number[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { body } = await request<Listed>(`${calendar}/events?${WINDOW}&per_page=4&page=${page}`);
      pages = body.total_pages;
      ids.push(...body.events.map(({ id }) => id));
    }
    expect(sorted(ids)).to.deep.equal(sorted(createdIds));
  });

  it('a loop until 404 sees every event once', async () => {
    const ids: number[] = [];
    for (let page = 1; ; page++) {
      const { status, body } = await request<Listed>(`${calendar}/events?${WINDOW}&per_page=7&page=${page}`);
      if (status === 404) break;
      ids.push(...body.events.map(({ id }) => id));
    }
    expect(sorted(ids)).to.deep.equal(sorted(createdIds));
  });

  it('the second mount appears in every URL', async () => {
    const { body } = await request<{ rest_url: string; events: { rest_url: string }[] }>(
      `${gatewayUrl}/wp-json/tribe/events/v1/events?${WINDOW}&per_page=1`,
    );
    expect(body.rest_url).to.match(/\/wp-json\/tribe\/events\/v1\/events\//);
    expect(body.events[0]!.rest_url).to.match(/\/wp-json\/tribe\/events\/v1\/events\/\d+$/);
  });
});
