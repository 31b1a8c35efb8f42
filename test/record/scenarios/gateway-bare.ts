// A gateway without a service account: the replica has public records only, and actors read others with their
// own credentials.

import { expect } from 'chai';
import { plainCollection } from '../../../src/cms/port.ts';
import type { Json } from '../../start-gateway.ts';
import { expectForbidden, expectInvalid } from '../expectations.ts';
import { gatewayScenario } from '../gateway-scenario.ts';

const times = { start_date: '2027-02-10 10:00:00', end_date: '2027-02-10 12:00:00' };
const WINDOW = 'start_date=2027-02-10&end_date=2027-02-10';

export const scenario = gatewayScenario('gateway-bare', { service: false }, (define) => {
  define(
    'lists of staff are exact: their own records, and those of others that the actor may see',
    async ({ request, create }) => {
      const own: Record<string, number[]> = { contributor: [], author: [], editor: [] };
      for (const as of Object.keys(own)) {
        for (const status of ['draft', 'pending'])
          own[as]?.push((await create('/events', { title: `${status} of ${as}`, status, ...times }, as)).id);
      }
      const shared = (await create('/events', { title: 'Published', ...times }, 'author')).id;
      const listed = async (as?: string) => {
        const { body } = await request(`/events?${WINDOW}&per_page=50`, { as });
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

  define(
    'the next list of an editor shows changes of the CMS itself that a webhook has reported',
    async ({ request, create, cms, as, gateway }) => {
      const { id } = await create('/events', { title: 'Hidden change', status: 'draft', ...times }, 'editor');
      const report = () => gateway.sync.fetchChanged([{ kind: 'event', id }]);
      await cms.update(plainCollection('events', 'posts'), id, { title: 'Changed behind' }, { credentials: as.editor });
      await report();
      const { body } = await request(`/events?${WINDOW}&status=draft&per_page=50`, { as: 'editor' });
      expect(body.events.find((each: Json) => each.id === id)?.title).to.equal('Changed behind');
      await cms.delete(plainCollection('events', 'posts'), id, { credentials: as.editor });
      await report();
      const after = await request(`/events?${WINDOW}&status=draft&per_page=50`, { as: 'editor' });
      expect(after.body.events.map((each: Json) => each.id)).to.not.include(id);
    },
  );

  define('single reads, writes and deletes use the credentials of the caller', async ({ request, create }) => {
    const created = await create('/events', { title: 'Mine', status: 'private', ...times }, 'author');
    expect((await request(`/events/${created.id}`)).status).to.equal(403);
    expect((await request(`/events/${created.id}`, { as: 'contributor' })).status).to.equal(403);
    expect((await request(`/events/${created.id}`, { as: 'author' })).body.title).to.equal('Mine');
    expect((await request(`/events/by-slug/${created.slug}`, { as: 'editor' })).body.id).to.equal(created.id);
    expectForbidden(await request(`/events/${created.id}`, { as: 'contributor', json: { title: 'x' } }), 403);
    expect(await create(`/events/${created.id}`, { cost: 3 }, 'author')).to.include({ cost: '$3', status: 'private' });
    expect((await request(`/events/${created.id}`, { as: 'author', method: 'DELETE' })).body.status).to.equal('trash');
    expect((await request(`/events/${created.id}`, { as: 'author', method: 'DELETE' })).status).to.equal(410);
    expect((await request('/venues/999999', { as: 'author' })).status).to.equal(400);
  });

  define('lists by status: trash, and drafts of venues and organizers', async ({ request, create }) => {
    for (const kind of ['venue', 'organizer']) {
      const created = await create(`/${kind}s`, { [kind]: 'Draft one', status: 'draft' }, 'author');
      for (const [as, seen] of [
        ['author', true],
        ['editor', true],
        ['contributor', false],
      ] as const) {
        const { body } = await request(`/${kind}s?status=draft&per_page=50`, { as });
        expect(
          body[`${kind}s`].some(({ id }: Json) => id === created.id),
          `${as} ${kind}`,
        ).to.equal(seen);
      }
      await request(`/${kind}s/${created.id}`, { as: 'author', method: 'DELETE' });
      const { body } = await request(`/${kind}s?status=trash&per_page=50`, { as: 'editor' });
      expect(body[`${kind}s`].map(({ id }: Json) => id)).to.include(created.id);
      expectInvalid(await request(`/${kind}s?status=trash`), 'status');
    }
  });
});
