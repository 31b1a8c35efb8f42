// What one caller's reads and writes show the others: never what the CMS rendered for that caller, not for one moment.

import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import type { CallOptions } from '../../src/upstream/port.ts';
import { holdNext, type Link, type WritableCms, writableCms } from '../cluster/writable-cms.ts';
import { type GatewayUnderTest, gatewayUnderTest, type Json } from '../gateway-under-test.ts';
import { SERVICE } from '../replica/fake-wordpress.ts';
import { until } from '../until.ts';

const SECRET = 'members only';
const WINDOW = 'start_date=2027-01-01&end_date=2027-12-31';
const TIMES = { start_date: '2027-03-12 19:00:00', end_date: '2027-03-12 21:00:00' };
const META = { meta: TIMES };
const EDITOR = { as: 'editor' };

for (const service of [SERVICE, undefined]) {
  describe(`the public rendering, ${service ? 'with' : 'without'} a service account`, () => {
    let cms: WritableCms;
    let link: Link;
    let gateway: GatewayUnderTest;

    beforeEach(async () => {
      cms = writableCms();
      link = cms.link();
      const upstream = {
        ...link.upstream,
        account: async ({ credentials }: CallOptions) =>
          credentials === SERVICE ? cms.editor : { userId: 9, roles: ['subscriber'], capabilities: new Set(['read']) },
      };
      gateway = await gatewayUnderTest({
        upstream,
        service,
        as: { editor: SERVICE, subscriber: 'Basic c3Vic2NyaWJlcjp4' },
      });
    });
    afterEach(() => gateway.close());

    const publish = async (more: object = {}): Promise<Json> => {
      const made = await gateway.ask('/events', { ...EDITOR, json: { title: 'Concert', ...TIMES, ...more } });
      expect(made.status).to.equal(201);
      return made.body;
    };
    /** Everything that anybody but the editor may be shown. */
    const shownToPublic = async (id: number): Promise<string> => {
      const paths = [`/events?${WINDOW}`, `/events/${id}`, `/events?${WINDOW}&search=members`, '/venues'];
      const answers = await Promise.all(paths.map((path) => gateway.ask(path)));
      return answers.map(({ text }) => text).join('\n');
    };
    const failsToRender = () => {
      link.before = (what) => {
        if (what === 'list') throw new UpstreamAway('timeout', 'no answer');
      };
    };

    it('is what everybody is shown of a write; its actor is shown what the CMS answered', async () => {
      const made = await publish();
      expect(made.description).to.include(SECRET);
      expect(await shownToPublic(made.id))
        .to.include('<p>Concert</p>')
        .and.to.not.include(SECRET);
      expect((await gateway.ask(`/events?${WINDOW}&search=members`)).body.total, 'found by a search').to.equal(0);
      const changed = await gateway.ask(`/events/${made.id}`, { ...EDITOR, json: { title: 'Recital' } });
      expect(changed.body.description).to.include(SECRET);
      expect(await shownToPublic(made.id))
        .to.include('<p>Recital</p>')
        .and.to.not.include(SECRET);
    });

    it('is shown only once the CMS has answered with it', async () => {
      const held = holdNext(link, 'before', 'list');
      const writing = publish();
      await until(held.isHeld, 'the public rendering is asked for');
      const [{ id = 0 } = {}] = cms.fake.posts.values();
      expect((await gateway.ask(`/events?${WINDOW}`)).body.events).to.deep.equal([]);
      held.letGo();
      await writing;
      expect(await shownToPublic(id))
        .to.include('<p>Concert</p>')
        .and.to.not.include(SECRET);
    });

    it('is withheld while the CMS does not tell it after a write: the write is accepted, and lists show neither the old record nor the new one', async () => {
      const { id } = await publish();
      failsToRender();
      const changed = await gateway.ask(`/events/${id}`, { ...EDITOR, json: { title: 'Recital' } });
      expect([changed.status, changed.body.title]).to.deep.equal([200, 'Recital']);
      const another = await publish({ title: 'Another' });
      expect(await shownToPublic(id))
        .to.not.include('Concert')
        .and.to.not.include(SECRET)
        .and.to.not.include('Another');
      expect((await gateway.ask(`/events?${WINDOW}`)).body.total).to.equal(0);
      link.before = undefined;
      await gateway.backing.sync.look();
      expect(await shownToPublic(id))
        .to.include('<p>Recital</p>')
        .and.to.include('Another')
        .and.to.not.include(SECRET);
      expect((await gateway.ask(`/events/${another.id}`)).body.description).to.equal('<p>Another</p>');
    });

    for (const [kind, as] of [
      ['events', 'editor'],
      ['events', 'subscriber'],
      ['venues', 'editor'],
      ['venues', 'subscriber'],
    ] as const) {
      it(`is what everybody is shown of one of the ${kind} that the ${as} was the first to read`, async () => {
        const { id } = cms.fake.create(kind, META);
        const read = await gateway.ask(`/${kind}/${id}`, { as });
        expect(read.status).to.equal(200);
        const { body } = await gateway.ask(`/${kind}/${id}`);
        expect(body.description).to.equal(`<p>Post ${id}</p>`);
        expect(JSON.stringify(await gateway.ask(`/${kind}?${kind === 'events' ? WINDOW : ''}`))).to.not.include(SECRET);
      });
    }

    it('does not exist for a published event that the CMS hides from the public', async () => {
      const { id } = cms.fake.create('events', { ...META, hiddenFromPublic: true });
      await gateway.backing.sync.look();
      const read = await gateway.ask(`/events/${id}`, EDITOR);
      expect([read.status, read.body.status]).to.deep.equal([200, 'publish']);
      expect((await gateway.ask(`/events?${WINDOW}`)).body.events).to.deep.equal([]);
      expect((await gateway.ask(`/events/${id}`)).status).to.equal(403);
      expect((await gateway.ask(`/events?${WINDOW}&search=post`)).body.total).to.equal(0);
      const listed = (await gateway.ask(`/events?${WINDOW}`, EDITOR)).body.events;
      expect(listed.map((one: Json) => [one.id, one.status])).to.deep.equal(service ? [[id, 'publish']] : []);
    });
  });
}
