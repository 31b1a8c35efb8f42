// A gateway without a service account: the copy holds what is public, and callers see the rest with their own credentials.

import { expect } from 'chai';
import type { Json } from '../../gateway-under-test.ts';
import { expectForbidden, expectInvalid } from '../expectations.ts';
import { gatewayScene } from '../gateway-scene.ts';

const times = { start_date: '2027-02-10 10:00:00', end_date: '2027-02-10 12:00:00' };
const WINDOW = 'start_date=2027-02-10&end_date=2027-02-10';

export const scene = gatewayScene('gateway-bare', { service: false }, (rule) => {
  rule(
    'lists of staff are exact: own records, and those of others where the caller may see them',
    async ({ ask, make }) => {
      const own: Record<string, number[]> = { contributor: [], author: [], editor: [] };
      for (const as of Object.keys(own)) {
        for (const status of ['draft', 'pending'])
          own[as]?.push((await make('/events', { title: `${status} of ${as}`, status, ...times }, as)).id);
      }
      const shared = (await make('/events', { title: 'Published', ...times }, 'author')).id;
      const listed = async (as?: string) => {
        const { body } = await ask(`/events?${WINDOW}&per_page=50`, { as });
        expect(body.total).to.equal(body.events.length);
        return new Set(body.events.map(({ id }: Json) => id));
      };
      const all = Object.values(own).flat();
      expect(await listed()).to.deep.equal(new Set([shared]));
      expect(await listed('subscriber')).to.deep.equal(new Set([shared]));
      expect(await listed('contributor')).to.deep.equal(new Set([shared, ...(own.contributor ?? [])]));
      expect(await listed('author')).to.deep.equal(new Set([shared, ...(own.author ?? [])]));
      for (const as of ['editor', 'admin']) expect(await listed(as)).to.deep.equal(new Set([shared, ...all]));
      expect(await listed()).to.deep.equal(new Set([shared]));
    },
  );

  rule(
    'what changed in the CMS behind the gateway shows in the next list of its editor',
    async ({ ask, make, upstream, as }) => {
      const { id } = await make('/events', { title: 'Hidden change', status: 'draft', ...times }, 'editor');
      await upstream.update('events', id, { title: 'Changed behind' }, { credentials: as.editor });
      const { body } = await ask(`/events?${WINDOW}&status=draft&per_page=50`, { as: 'editor' });
      expect(body.events.find((one: Json) => one.id === id)?.title).to.equal('Changed behind');
      await upstream.remove('events', id, { force: true }, { credentials: as.editor });
      const after = await ask(`/events?${WINDOW}&status=draft&per_page=50`, { as: 'editor' });
      expect(after.body.events.map((one: Json) => one.id)).to.not.include(id);
    },
  );

  rule('single reads, writes and deletes go by the caller alone', async ({ ask, make }) => {
    const made = await make('/events', { title: 'Mine', status: 'private', ...times }, 'author');
    expect((await ask(`/events/${made.id}`)).status).to.equal(403);
    expect((await ask(`/events/${made.id}`, { as: 'contributor' })).status).to.equal(403);
    expect((await ask(`/events/${made.id}`, { as: 'author' })).body.title).to.equal('Mine');
    expect((await ask(`/events/by-slug/${made.slug}`, { as: 'editor' })).body.id).to.equal(made.id);
    expectForbidden(await ask(`/events/${made.id}`, { as: 'contributor', json: { title: 'x' } }), 403);
    expect(await make(`/events/${made.id}`, { cost: 3 }, 'author')).to.include({ cost: '$3', status: 'private' });
    expect((await ask(`/events/${made.id}`, { as: 'author', method: 'DELETE' })).body.status).to.equal('trash');
    expect((await ask(`/events/${made.id}`, { as: 'author', method: 'DELETE' })).status).to.equal(410);
    expect((await ask('/venues/999999', { as: 'author' })).status).to.equal(400);
  });

  rule('trash, and venues and organizers that are drafts, in lists by status', async ({ ask, make }) => {
    for (const kind of ['venue', 'organizer']) {
      const made = await make(`/${kind}s`, { [kind]: 'Draft one', status: 'draft' }, 'author');
      for (const [as, seen] of [
        ['author', true],
        ['editor', true],
        ['contributor', false],
      ] as const) {
        const { body } = await ask(`/${kind}s?status=draft&per_page=50`, { as });
        expect(
          body[`${kind}s`].some(({ id }: Json) => id === made.id),
          `${as} ${kind}`,
        ).to.equal(seen);
      }
      await ask(`/${kind}s/${made.id}`, { as: 'author', method: 'DELETE' });
      const { body } = await ask(`/${kind}s?status=trash&per_page=50`, { as: 'editor' });
      expect(body[`${kind}s`].map(({ id }: Json) => id)).to.include(made.id);
      expectInvalid(await ask(`/${kind}s?status=trash`), 'status');
    }
  });
});
