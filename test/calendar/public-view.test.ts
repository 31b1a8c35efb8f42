// Reads and writes of one actor never show others what the CMS rendered for that actor, not even for a
// moment.

import { expect } from 'chai';
import { CmsUnavailable } from '../../src/errors.ts';
import { type CmsLink, holdNext, linkTo } from '../cms/cms-link.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, SERVICE } from '../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const SECRET = 'members only';
const WINDOW = 'start_date=2027-01-01&end_date=2027-12-31';
const TIMES = { start_date: '2027-03-12 19:00:00', end_date: '2027-03-12 21:00:00' };
const META = { meta: TIMES };
const EDITOR = { as: 'editor' };

for (const service of [SERVICE, undefined]) {
  describe(`the public view, ${service ? 'with' : 'without'} a service account`, () => {
    let cms: FakeCms;
    let link: CmsLink;
    let gateway: TestGateway;

    beforeEach(async () => {
      cms = createFakeCms(Date.now);
      link = linkTo(cms);
      gateway = await startGateway({ cms: link.cms, service, as: CREDENTIALS });
    });
    afterEach(() => gateway.stop());

    const publish = async (more: object = {}): Promise<Json> => {
      const created = await gateway.request('/events', { ...EDITOR, json: { title: 'Concert', ...TIMES, ...more } });
      expect(created.status).to.equal(201);
      return created.body;
    };
    /** All texts of responses to anonymous callers. */
    const shownToPublic = async (id: number): Promise<string> => {
      const paths = [`/events?${WINDOW}`, `/events/${id}`, `/events?${WINDOW}&search=members`, '/venues'];
      const responses = await Promise.all(paths.map((path) => gateway.request(path)));
      return responses.map(({ text }) => text).join('\n');
    };
    const failPublicView = () => {
      link.before = (what) => {
        if (what === 'list') throw new CmsUnavailable('timeout', 'no response');
      };
    };

    it('is what other callers see of a write; its actor sees the response of the CMS', async () => {
      const created = await publish();
      expect(created.description).to.include(SECRET);
      expect(await shownToPublic(created.id))
        .to.include('<p>Concert</p>')
        .and.to.not.include(SECRET);
      expect((await gateway.request(`/events?${WINDOW}&search=members`)).body.total, 'found by a search').to.equal(0);
      const changed = await gateway.request(`/events/${created.id}`, { ...EDITOR, json: { title: 'Recital' } });
      expect(changed.body.description).to.include(SECRET);
      expect(await shownToPublic(created.id))
        .to.include('<p>Recital</p>')
        .and.to.not.include(SECRET);
    });

    it('stays the same when the next poll reads a written record again', async () => {
      const event = await publish({ description: '<!-- wp:paragraph -->Come[members] in[/members]' });
      const venue = cms.createPost('venues', { password: 'sesame', content: 'Behind the harbour' });
      await gateway.services.sync.poll();
      const renamed = await gateway.request(`/venues/${venue.id}`, { ...EDITOR, json: { venue: 'Hall' } });
      expect(renamed.status).to.equal(200);
      const shown = () =>
        Promise.all([`/events/${event.id}`, `/venues/${venue.id}`].map((path) => gateway.request(path)));
      const before = await shown();
      link.requests = 0;
      await gateway.services.sync.poll();
      expect(link.requests).to.be.greaterThan(0);
      const after = await shown();
      expect(after.map(({ headers, text }) => [headers.etag, text])).to.deep.equal(
        before.map(({ headers, text }) => [headers.etag, text]),
      );
    });

    it('is shown only after the CMS has sent it', async () => {
      const call = holdNext(link, 'before', 'list');
      const writing = publish();
      await until(call.isHeld, 'the gateway requests the public view');
      const [{ id = 0 } = {}] = cms.posts.values();
      expect((await gateway.request(`/events?${WINDOW}`)).body.events).to.deep.equal([]);
      call.release();
      await writing;
      expect(await shownToPublic(id))
        .to.include('<p>Concert</p>')
        .and.to.not.include(SECRET);
    });

    it('is withheld while the CMS does not send it after a write, which is accepted: lists show neither the old nor the new record', async () => {
      const { id } = await publish();
      failPublicView();
      const changed = await gateway.request(`/events/${id}`, { ...EDITOR, json: { title: 'Recital' } });
      expect([changed.status, changed.body.title]).to.deep.equal([200, 'Recital']);
      const another = await publish({ title: 'Another' });
      expect(await shownToPublic(id))
        .to.not.include('Concert')
        .and.to.not.include(SECRET)
        .and.to.not.include('Another');
      expect((await gateway.request(`/events?${WINDOW}`)).body.total).to.equal(0);
      link.before = undefined;
      await gateway.services.sync.poll();
      expect(await shownToPublic(id))
        .to.include('<p>Recital</p>')
        .and.to.include('Another')
        .and.to.not.include(SECRET);
      expect((await gateway.request(`/events/${another.id}`)).body.description).to.equal('<p>Another</p>');
    });

    for (const [kind, as] of [
      ['events', 'editor'],
      ['events', 'subscriber'],
      ['venues', 'editor'],
      ['venues', 'subscriber'],
    ] as const) {
      it(`is what other callers see of one of the ${kind} that the ${as} was the first to read`, async () => {
        const { id } = cms.createPost(kind, META);
        const read = await gateway.request(`/${kind}/${id}`, { as });
        expect(read.status).to.equal(200);
        const { body } = await gateway.request(`/${kind}/${id}`);
        expect(body.description).to.equal(`<p>Post ${id}</p>`);
        expect(JSON.stringify(await gateway.request(`/${kind}?${kind === 'events' ? WINDOW : ''}`))).to.not.include(
          SECRET,
        );
      });
    }

    it('keeps no event that the CMS sent to a visitor and deleted before the gateway fetched it', async () => {
      const { id } = cms.createPost('events', META);
      failPublicView();
      const read = await gateway.request(`/events/${id}`);
      expect([read.status, read.body.description]).to.deep.equal([200, `<p>Post ${id}</p>`]);
      cms.posts.delete(id);
      expect((await gateway.request(`/events/${id}`)).status).to.equal(404);
    });

    it('does not exist for a published event that the CMS hides from the public, which staff reach by its id only', async () => {
      const { id } = cms.createPost('events', { ...META, hiddenFromPublic: true });
      await gateway.services.sync.poll();
      const read = await gateway.request(`/events/${id}`, EDITOR);
      expect([read.status, read.body.status]).to.deep.equal([200, 'publish']);
      expect((await gateway.request(`/events?${WINDOW}`)).body.events).to.deep.equal([]);
      expect((await gateway.request(`/events/${id}`)).status).to.equal(403);
      expect((await gateway.request(`/events?${WINDOW}&search=post`)).body.total).to.equal(0);
      const listed = (await gateway.request(`/events?${WINDOW}`, EDITOR)).body.events;
      expect(listed.map((event: Json) => [event.id, event.status])).to.deep.equal([]);
    });
  });
}
