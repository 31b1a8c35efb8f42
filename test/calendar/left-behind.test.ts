// A refused write leaves nothing behind, whichever of its steps was refused.

import { expect } from 'chai';
import type { Asked } from '../../src/calendar/asked.ts';
import { createImages } from '../../src/calendar/images.ts';
import { GatewayError, UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { validate } from '../../src/interface/validate.ts';
import type { Lookups } from '../../src/interface/value-kind.ts';
import { BASE, type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, type FakeCms, fakeCms, type Step } from './fake-cms.ts';

const nowMs = () => Date.UTC(2027, 0, 1);
const event = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
/** Each part is a write of its own, in the CMS. */
const EVERYTHING = {
  ...event,
  image: 'https://elsewhere.example/a.png',
  categories: ['New category'],
  tags: ['New tag'],
  venue: { venue: 'New venue' },
  organizer: [{ organizer: 'New organizer' }],
};
const STEPS: Step[] = [
  { method: 'upload', base: 'media' },
  { method: 'create', base: 'event_categories' },
  { method: 'create', base: 'tags' },
  { method: 'create', base: 'venues' },
  { method: 'create', base: 'organizers' },
  { method: 'create', base: 'events' },
];
const refusal = () => new UpstreamRefused(400, 'rest_meta_database_error', 'Could not update the meta value.');
const yes = async () => true;
const lookups: Lookups = { staff: true, exists: yes, slug: yes, term: async () => undefined, user: yes, image: yes };

describe('a refused write leaves nothing behind', () => {
  let cms: FakeCms;
  let gateway: GatewayUnderTest;
  let asked: Asked;

  beforeEach(async () => {
    cms = fakeCms(nowMs);
    gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS, nowMs });
    const caller = { credentials: AS.admin, account: await cms.account({ credentials: AS.admin }) };
    const png = { bytes: new Uint8Array(1), mimeType: 'image/png', filename: 'a.png' };
    asked = { caller, base: BASE, images: createImages(gateway.backing, { caller }, async () => png) };
  });
  afterEach(() => gateway.close());

  /** As routing does it, with pictures from a network that is not there. */
  async function write(
    path: string,
    operation: 'create' | 'update',
    body: Record<string, unknown>,
    id = 0,
  ): Promise<unknown> {
    const route = ROUTES.find((one) => one.path === (operation === 'create' ? path : `${path}/{id}`));
    const endpoint = route!.endpoints.find((one) => one.operation === operation)!;
    if (typeof body.image === 'string') await asked.images.usable(body.image);
    const input = await validate(endpoint, { path: { id: String(id) }, query: {}, body }, lookups);
    const { event, venue } = gateway.operations;
    const operations = path === '/events' ? event : venue;
    return operation === 'create' ? operations.create(input, asked) : operations.update(id, input, asked);
  }

  const thrown = async (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  const failing = (at: Step, wanted: boolean, error: () => Error) => (step: Step, inserted: boolean) => {
    if (step.method === at.method && step.base === at.base && inserted === wanted) throw error();
  };

  /** In the CMS and in the copy. */
  function expectNothing(): void {
    expect([...cms.stored.values()]).to.deep.equal([]);
    expect(gateway.backing.replica.counts()).to.deep.equal({ event: 0, venue: 0, organizer: 0, category: 0, tag: 0 });
  }

  it('writes everything in these steps when nothing is refused', async () => {
    await write('/events', 'create', EVERYTHING);
    expect(cms.steps).to.deep.equal(STEPS);
    expect(gateway.backing.replica.counts()).to.deep.equal({ event: 1, venue: 1, organizer: 1, category: 1, tag: 1 });
  });

  for (const step of STEPS) {
    it(`${step.method} of ${step.base} refused`, async () => {
      cms.refuse = failing(step, false, refusal);
      const error = await thrown(write('/events', 'create', EVERYTHING));
      expect(error).to.be.instanceOf(GatewayError);
      expect((error as GatewayError).status).to.equal(400);
      expect(cms.steps.at(-1)).to.deep.equal(step);
      expectNothing();
    });

    it(`${step.method} of ${step.base}: the CMS is away before it was sent`, async () => {
      cms.refuse = failing(step, false, () => new UpstreamAway('refused', 'connect ECONNREFUSED'));
      expect(await thrown(write('/events', 'create', EVERYTHING))).to.be.instanceOf(UpstreamAway);
      expectNothing();
    });
  }

  for (const base of ['venues', 'organizers', 'events']) {
    it(`create of ${base} refused once the record was inserted`, async () => {
      cms.refuse = failing({ method: 'create', base }, true, refusal);
      expect(await thrown(write('/events', 'create', EVERYTHING))).to.be.instanceOf(GatewayError);
      expectNothing();
    });
  }

  it('what was there before stays', async () => {
    await write('/events', 'create', EVERYTHING);
    const before = new Map(cms.stored);
    cms.refuse = failing({ method: 'create', base: 'events' }, true, refusal);
    await thrown(write('/events', 'create', { ...EVERYTHING, title: 'Other', venue: { venue: 'Other venue' } }));
    expect(cms.stored).to.deep.equal(before);
  });

  it('a venue by itself, refused once it was inserted', async () => {
    cms.refuse = failing({ method: 'create', base: 'venues' }, true, refusal);
    expect(await thrown(write('/venues', 'create', { venue: 'Hall' }))).to.be.instanceOf(GatewayError);
    expectNothing();
  });

  it('a second write of the same event refused: of a sticky one with a publication date', async () => {
    cms.refuse = failing({ method: 'update', base: 'events' }, false, refusal);
    const body = { ...EVERYTHING, sticky: true, date: '2026-01-01 10:00:00' };
    expect(await thrown(write('/events', 'create', body))).to.be.instanceOf(GatewayError);
    expect(cms.steps.at(-1)).to.deep.equal({ method: 'update', base: 'events' });
    expectNothing();
  });

  for (const method of ['remove', 'update'] as const) {
    for (const [path, base, body] of [
      ['/events', 'events', { ...EVERYTHING, status: 'trash' }],
      ['/venues', 'venues', { venue: 'Hall', status: 'trash' }],
    ] as const) {
      it(`a create in the trash whose ${method} is refused: ${base}`, async () => {
        cms.refuse = failing({ method, base }, false, refusal);
        expect(await thrown(write(path, 'create', body))).to.be.instanceOf(GatewayError);
        expectNothing();
      });
    }
  }

  it('an update that is refused changes nothing and takes back what it made on its way', async () => {
    await write('/events', 'create', event);
    const [id] = cms.stored.keys();
    const before = structuredClone([...cms.stored.values()]);
    cms.refuse = failing({ method: 'update', base: 'events' }, false, refusal);
    const { title: _, ...parts } = EVERYTHING;
    expect(await thrown(write('/events', 'update', parts, id))).to.be.instanceOf(GatewayError);
    expect([...cms.stored.values()]).to.deep.equal(before);
    expect(gateway.backing.replica.counts()).to.deep.equal({ event: 1, venue: 0, organizer: 0, category: 0, tag: 0 });
  });

  it('an end before the start is refused before anything is made', async () => {
    const error = await thrown(write('/events', 'create', { ...EVERYTHING, end_date: '2027-01-09' }));
    expect((error as GatewayError).code).to.equal('rest_invalid_param');
    expectNothing();
  });

  it('says how many could not be taken back', async () => {
    cms.refuse = failing({ method: 'create', base: 'events' }, false, refusal);
    cms.remove = async () => {
      throw new UpstreamAway('refused', 'connect ECONNREFUSED');
    };
    const error = (await thrown(write('/events', 'create', EVERYTHING))) as GatewayError;
    expect(error.data.left_behind).to.equal(5);
  });
});
