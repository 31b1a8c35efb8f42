// The parts of the Payload adapter that decide without the site: pages, ids, bodies, errors and permissions. The JSON
// is what Payload 3.90 answered.

import { expect } from 'chai';
import fc from 'fast-check';
import type { RestCall } from '../../../src/cms/client.ts';
import { IdMap } from '../../../src/cms/id-map.ts';
import { createAccounts } from '../../../src/cms/payload/accounts.ts';
import { createCollections } from '../../../src/cms/payload/collections.ts';
import { createIds } from '../../../src/cms/payload/ids.ts';
import { listQuery, payloadPage } from '../../../src/cms/payload/list-query.ts';
import { apiKeyLogin } from '../../../src/cms/payload/payload.ts';
import { PAYLOAD_RECORDS, type PayloadSite, toGatewayRecord, toPayloadBody } from '../../../src/cms/payload/records.ts';
import { rejection } from '../../../src/cms/payload/rest-calls.ts';
import { type CollectionSpec, type Detail, MEDIA } from '../../../src/cms/port.ts';
import type { CmsResponse } from '../../../src/cms/response.ts';
import { CmsRejected, CmsUnavailable, ConfigError } from '../../../src/errors.ts';
import { compileMapping } from '../../../src/mapping/compile.ts';
import { loadMapping } from '../../../src/mapping/load.ts';

const integerIds = createIds();
const { event: eventWithStatuses, venue, category } = loadMapping('payload').kinds;
/** Without a field of the site that tells unpublished records apart. */
const event = {
  ...eventWithStatuses,
  paths: new Map([...eventWithStatuses.paths].filter(([key]) => key !== 'status')),
};
/** With an embedded venue and a custom field. */
const { event: withPlace } = compileMapping(
  {
    name: 'sample',
    upstream: 'payload',
    event: {
      collection: 'events',
      fields: { start_date: 'start', end_date: 'end', venue: { embedded: { venue: 'place' } } },
      custom_fields: { doors: 'doors' },
    },
  },
  'sample',
).kinds;
/** What the parts of the adapter know of the site. */
const site: PayloadSite = {
  ...{ ids: integerIds, users: 'users', media: 'media', specs: [event], siteUrl: '', recordQuery: {} },
  nowMs: () => 0,
};
const responseOf = (json: unknown, status = 200): CmsResponse => ({
  ...{ status, json, headers: {}, bytes: Buffer.alloc(0) },
});

describe('an id of Payload', () => {
  it('is never that of another record, whether it is a number or a text', () => {
    const map = new IdMap();
    const ids = createIds(map);
    const own = [
      ['event', 2],
      ['event', '2'],
      ['event', 'abc'],
      ['event', 'käse/1'],
      ['venue', 2],
      ['venue', 'abc'],
    ] as const;
    const numbers = own.map(([kind, id]) => ids.toGateway(kind, id)!);
    expect(new Set(numbers).size).to.equal(own.length);
    expect(own.map(([kind], n) => ids.toPayload(kind, numbers[n]!))).to.deep.equal(own.map(([, id]) => id));
    // Commas separate ids in a query.
    for (const id of ['a,b', '', 'x'.repeat(201), 'a\nb', 'a\ud800', 'a\udc00', -1, 1.5, null])
      expect(ids.toGateway('event', id)).to.equal(undefined);
    map.close();
  });
});

describe('the API key of the service account', () => {
  it('has only characters that a header can have, and no error names it', () => {
    expect(apiKeyLogin('users', '3b241101-e2bb')).to.equal('users API-Key 3b241101-e2bb');
    for (const key of ['geheim€', 'geheim\u00e4', 'geheim\n', '\u0000geheim'])
      expect(() => apiKeyLogin('users', key))
        .to.throw(ConfigError)
        .with.property('message')
        .that.does.not.include('geheim');
  });
});

describe('a status at a path within an object', () => {
  const spec = { ...eventWithStatuses, paths: new Map([...eventWithStatuses.paths, ['status', 'workflow.status']]) };

  it('is read', () => {
    const workflow = { status: 'pending', reviewer: 'Ada' };
    const record = toGatewayRecord(integerIds, spec, { id: 1, _status: 'draft', workflow });
    expect(record).to.deep.include({ status: 'pending', workflow });
    expect(toGatewayRecord(integerIds, spec, { id: 1, _status: 'published' })).to.deep.include({ status: 'publish' });
  });

  it('is written, and decides whether the record is published', () => {
    const write = (status: string) => toPayloadBody(integerIds, spec, { title: 'A', workflow: { status } });
    expect(write('private')).to.deep.equal({ title: 'A', _status: 'draft', workflow: { status: 'private' } });
    expect(write('draft')).to.deep.equal({ title: 'A', _status: 'draft', workflow: { status: null } });
    expect(write('publish')).to.deep.equal({ title: 'A', _status: 'published', workflow: { status: null } });
    expect(() => write('future')).to.throw(CmsRejected);
  });
});

describe('a page of Payload', () => {
  it('contains the wanted part of the list, and is not much longer', () => {
    fc.assert(
      fc.property(fc.nat(200_000), fc.integer({ min: 1, max: 100 }), (offset, limit) => {
        const page = payloadPage({ limit, offset });
        const first = (page.page - 1) * page.limit + page.skip;
        expect([first, page.take]).to.deep.equal([offset, limit]);
        expect(page.skip + page.take).to.be.at.most(page.limit);
        // The most for offsets up to two million.
        expect(page.limit).to.be.at.most(limit * 2 + 13);
      }),
    );
  });
});

describe('a list of Payload', () => {
  const features = { drafts: true, trash: true };

  it('without statuses has published records only, if the collection has drafts', () => {
    const conditions = (drafts: boolean) =>
      Object.keys(listQuery(integerIds, event, { view: 'public' }, { drafts, trash: false })!.query);
    expect(conditions(true)).to.include('where[and][0][_status][in]');
    expect(conditions(false).filter((name) => name.startsWith('where'))).to.deep.equal([]);
  });

  it('is not asked for ids and statuses that no record has', () => {
    expect(listQuery(integerIds, event, { view: 'public', ids: [2 ** 40] }, features)).to.equal(undefined);
    expect(listQuery(integerIds, event, { view: 'editor', statuses: ['private'] }, features)).to.equal(undefined);
  });

  const conditions = (spec: CollectionSpec, statuses: string[], { drafts = true } = {}) => {
    const { query } = listQuery(integerIds, spec, { view: 'editor', statuses }, { drafts, trash: true })!;
    return Object.fromEntries(Object.entries(query).filter(([name]) => /^(where|trash)/.test(name)));
  };

  it('of the trash asks for trashed records', () => {
    expect(conditions(event, ['draft', 'trash'])).to.deep.equal({
      trash: true,
      'where[and][0][or][0][_status][in]': 'draft',
      'where[and][0][or][1][deletedAt][exists]': true,
    });
    expect(conditions(event, ['draft', 'trash'], { drafts: false })).to.deep.equal({
      ...{ trash: true, 'where[and][0][deletedAt][exists]': true },
    });
  });

  it('of a status that Payload stores as a draft asks for all drafts', () => {
    for (const statuses of [['private'], ['draft'], ['draft', 'pending', 'private', 'future']])
      expect(conditions(eventWithStatuses, statuses)).to.deep.equal({ 'where[and][0][_status][in]': 'draft' });
    expect(conditions(eventWithStatuses, ['publish'])).to.deep.equal({ 'where[and][0][_status][in]': 'published' });
  });
});

describe('a record of Payload', () => {
  const doc = { id: 7, title: 'A', venue: 3, organizers: [3, 4], image: null, updatedAt: '2027-01-10T15:00:00.123Z' };

  it('has ids of one id space, a status and a modification time', () => {
    const record = toGatewayRecord(integerIds, event, { ...doc, _status: 'published', deletedAt: null });
    expect(record).to.deep.include({ id: 7, status: 'publish', modifiedUtc: '2027-01-10 15:00:00' });
    expect(record.venue)
      .to.equal(toGatewayRecord(integerIds, venue!, { id: 3 }).id)
      .and.to.be.above(2 ** 31);
    expect(record.organizers).to.deep.equal([2_000_000_000_003, 2_000_000_000_004]);
    expect(toPayloadBody(integerIds, event, { venue: record.venue, organizers: record.organizers })).to.deep.equal({
      venue: 3,
      organizers: [3, 4],
    });
  });

  it('is public only with the word of Payload, or in a collection without drafts', () => {
    const statusOf = (more: object) => toGatewayRecord(integerIds, event, { ...doc, ...more }).status;
    expect(statusOf({})).to.equal('publish');
    expect(statusOf({ _status: 'draft' })).to.equal('draft');
    expect(statusOf({ _status: 'nope' })).to.equal('draft');
    expect(statusOf({ _status: 'published', deletedAt: '2027-01-10T15:00:00.123Z' })).to.equal('trash');
  });

  it('that is not published has the status of the field that tells these apart', () => {
    const read = (more: object) => toGatewayRecord(integerIds, eventWithStatuses, { ...doc, ...more });
    expect(read({ _status: 'draft', workflow: 'private' })).to.include({ status: 'private', workflow: 'private' });
    expect(read({ _status: 'draft', workflow: 'other' }).status).to.equal('draft');
    expect(read({ _status: 'published', workflow: 'private' }).status).to.equal('publish');
    const write = (status: string) => toPayloadBody(integerIds, eventWithStatuses, { workflow: status });
    expect(write('private')).to.deep.equal({ _status: 'draft', workflow: 'private' });
    expect(write('draft')).to.deep.equal({ _status: 'draft', workflow: null });
    expect(write('publish')).to.deep.equal({ _status: 'published', workflow: null });
    expect(() => write('future'))
      .to.throw(CmsRejected)
      .and.to.deep.include({ kind: 'invalid', written: 'no' });
  });

  it('has the text of an embedded venue as Payload sends it', () => {
    expect(toGatewayRecord(integerIds, withPlace, { id: 1, place: 'Old Mill' })).to.include({ place: 'Old Mill' });
  });

  it('has relations as ids, records, or names of a collection with an id', () => {
    const categoriesOf = (categories: unknown) => toGatewayRecord(integerIds, event, { ...doc, categories }).categories;
    expect(categoriesOf([1, { id: 2 }, { relationTo: 'categories', value: 3 }, {}])).to.deep.equal([1, 2, 3]);
    expect(categoriesOf(null)).to.equal(null);
  });

  it('is written with no status and no id that Payload would store or answer with 500', () => {
    expect(toPayloadBody(integerIds, event, { status: 'publish', image: 0 })).to.deep.equal({
      ...{ _status: 'published', image: null },
    });
    for (const body of [{ status: 'pending' }, { venue: 3 }, { author: 2 ** 40 }])
      expect(() => toPayloadBody(integerIds, event, body))
        .to.throw(CmsRejected)
        .and.to.deep.include({ kind: 'invalid', fields: Object.keys(body), written: 'no' });
  });
});

describe('the form of records of Payload', () => {
  it('promises of each detail only what Payload sends with it', () => {
    const requested = (spec: CollectionSpec, detail: Detail) => PAYLOAD_RECORDS.certainPaths(spec, detail);
    expect(requested(event, 'id')).to.deep.equal(['id']);
    expect(requested(event, 'time')).to.deep.equal(['id', 'modifiedUtc']);
    expect(requested(event, 'stamp')).to.deep.equal(['id', 'modifiedUtc', 'status']);
    expect(requested(MEDIA, 'time')).to.deep.equal(['id', 'modifiedUtc']);
    expect(requested(category!, 'mapped')).to.deep.equal(['id']);
  });
});

describe('an error of Payload', () => {
  const reject = (status: number, json: unknown) => rejection(responseOf(json, status), true);

  it('tells a missing record from a missing collection and from an answer of something else', () => {
    expect(reject(404, { errors: [{ message: 'Not Found' }] }).kind).to.equal('not-found');
    expect(reject(404, { message: 'Route not found "/api/nope"' }).kind).to.equal('no-collection');
    expect(reject(404, { message: 'no such host' })).to.include({ kind: 'failed', written: 'no' });
  });

  it('names the invalid fields; only checks before the write have written nothing', () => {
    const errors = [{ label: 'Start Date', message: 'This field is required.', path: 'startDate' }];
    const invalid = { name: 'ValidationError', data: { collection: 'events', errors }, message: 'Invalid: Start Date' };
    expect(reject(400, { errors: [invalid] })).to.deep.include({
      ...{ kind: 'invalid', fields: ['startDate'], written: 'no' },
    });
    expect(reject(403, { errors: [{ message: 'Not allowed.' }] })).to.include({ kind: 'forbidden', written: 'no' });
    expect(reject(400, { errors: [{ message: 'A hook of the site' }] })).to.include({
      ...{ kind: 'invalid', written: 'unknown' },
    });
  });
});

describe('an account of Payload', () => {
  /** The actions that an account may do with events. */
  async function actionsOf(access: object, spec: CollectionSpec = event): Promise<string[]> {
    const call: RestCall = async (_method, route) =>
      responseOf(
        route === 'access'
          ? { collections: { events: { fields: true, ...access } } }
          : { user: { id: 7, role: 'author' } },
      );
    const { account } = createAccounts(call, { ...site, specs: [spec, category!] });
    const { permissions } = await account({ credentials: 'users API-Key x' });
    return [...permissions].map((name) => name.replace('events:', ''));
  }

  it('may do everything if Payload limits nothing', async () => {
    const all = await actionsOf({ create: true, read: true, update: true, delete: true });
    expect(all).to.include.members(['edit', 'editOthers', 'readOthers', 'readOwn']);
  });

  it('may ask for the drafts of everybody if it may read some, of which Payload lists those, and edits its own', async () => {
    const limited = { permission: true, where: { author: { equals: 7 } } };
    const actions = await actionsOf({ create: true, read: limited, update: limited });
    expect(actions).to.deep.equal(['edit', 'editPublished', 'readOwn', 'readOthers', 'readPrivate', 'publish']);
  });

  it('may not ask for drafts if it may read nothing', async () => {
    expect(await actionsOf({ create: true, read: { permission: false } })).to.deep.equal(['edit', 'publish']);
  });
});

describe('the author of a record in a Payload whose ids are texts', () => {
  it('exists if the CMS has the account, whatever letters its id has', async () => {
    const map = new IdMap();
    const ids = createIds(map);
    const asked: string[] = [];
    const call: RestCall = async (_method, route) => {
      asked.push(route);
      if (route.startsWith('users/k')) return responseOf({ id: 'käse/1?x' });
      throw rejection(responseOf({ errors: [{ message: 'Not Found' }] }, 404), false);
    };
    const { accountExists } = createAccounts(call, { ...site, ids });
    const admin = { credentials: 'users API-Key x' };
    expect(await accountExists(ids.toGateway('account', 'käse/1?x')!, admin)).to.equal(true);
    expect(await accountExists(ids.toGateway('account', '../users/7')!, admin)).to.equal(false);
    expect(await accountExists(4_000_000_000_999, admin)).to.equal(false);
    expect(asked).to.deep.equal(['users/k%C3%A4se%2F1%3Fx', 'users/..%2Fusers%2F7']);
    map.close();
  });
});

describe('a change of a published record of Payload', () => {
  const { event } = loadMapping('payload').kinds;
  const admin = { credentials: 'users API-Key x' };

  it('is refused while Payload has unpublished changes of it, which it would merge', async () => {
    const sent: string[] = [];
    const call: RestCall = async (method, route, { query = {} } = {}) => {
      sent.push(`${method} ${route}`);
      return responseOf({ id: 7, _status: query.draft ? 'draft' : 'published', docs: [], totalDocs: 0 });
    };
    const parts = { ...site, specs: [event] };
    const collections = createCollections(call, parts, createAccounts(call, parts));
    for (const change of [
      () => collections.update(event, 7, { cost: '2' }, admin),
      () => collections.trash(event, 7, admin),
    ]) {
      const error = await change().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsRejected).and.to.include({ code: 'unpublished-changes', written: 'no' });
    }
    expect(sent.filter((request) => !request.startsWith('GET'))).to.deep.equal([]);
  });
});

describe('a trashed record of Payload', () => {
  const read = (access: object, credentials?: string) => {
    const call: RestCall = async (_method, route, { query = {} } = {}) => {
      if (route === 'access') return responseOf({ collections: { events: access } });
      if (route === 'users/me') return responseOf({ user: { id: 7 } });
      if (query.trash !== true) throw rejection(responseOf({ errors: [{ message: 'Not Found' }] }, 404), false);
      return responseOf({ id: 3, deletedAt: '2027-01-10T15:00:00.123Z' });
    };
    const parts = { ...site, specs: [event] };
    const collections = createCollections(call, parts, createAccounts(call, parts));
    return collections.read(event, 3, { view: 'public' }, { credentials }).catch((error: unknown) => error);
  };

  it('is found in any view by who may edit it, and by nobody else', async () => {
    expect(await read({ update: true }, 'users API-Key x')).to.include({ id: 3, status: 'trash' });
    expect(await read({ read: true }, 'users API-Key x')).to.include({ kind: 'not-found' });
    expect(await read({ update: true })).to.include({ kind: 'not-found' });
  });
});

describe('a term of Payload', () => {
  const category = loadMapping('payload').kinds.category!;
  const admin = { credentials: 'users API-Key x' };
  /** `taken`: slugs that the site rejects. Resolves with the body of the create that it accepts. */
  const createAmong = async (
    docs: object[],
    body: Record<string, unknown>,
    taken: string[] = [],
    created: object = { id: 9 },
  ) => {
    let accepted: Record<string, unknown> = {};
    const call: RestCall = async (method, _route, { json } = {}) => {
      if (method === 'GET') return responseOf({ docs, totalDocs: docs.length });
      const errors = [{ name: 'ValidationError', message: 'slug', data: { errors: [{ path: 'slug' }] } }];
      if (taken.includes(String(json?.slug))) throw rejection(responseOf({ errors }, 400), true);
      accepted = json ?? {};
      return responseOf({ doc: { ...json, ...created } });
    };
    const parts = { ...site, specs: [category] };
    const collections = createCollections(call, parts, createAccounts(call, parts));
    await collections.create(category, body, admin);
    return accepted;
  };

  it('has a name that no other has in any case', async () => {
    const error = await createAmong([{ id: 3, name: 'Open Air' }], { name: 'open air' }).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(CmsRejected).and.to.include({ kind: 'conflict', existingId: 3 });
    const longer = await createAmong([{ id: 3, name: 'Open Air Cinema' }], { name: 'open air' });
    expect(longer.name).to.equal('open air');
  });

  for (const created of [{}, { id: null }, { id: '' }, { id: 0 }, { id: [3] }])
    it(`has an unknown outcome if the response to its create names no record: ${JSON.stringify(created)}`, async () => {
      const error = await createAmong([], { name: 'Open Air' }, [], created).catch((thrown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable).and.to.include({ reason: 'not-json', outcomeUnknown: true });
    });

  it('gets another slug if its own is taken', async () => {
    const docs = [{ id: 3, name: 'Foo', slug: 'foo' }];
    expect((await createAmong(docs, { name: 'Another', slug: 'foo' }, ['foo'])).slug).to.equal('foo-2');
  });
});

describe('rich text of Payload', () => {
  it('is without the div that Payload puts around it', () => {
    const descriptionOf = (descriptionHtml: unknown) =>
      toGatewayRecord(integerIds, event, { id: 7, descriptionHtml }).descriptionHtml;
    expect(descriptionOf('<div class="payload-richtext"><p>A</p><div>B</div></div>')).to.equal('<p>A</p><div>B</div>');
    for (const other of ['<div><p>A</p></div>', '<div class="payload-richtext"><p>A</p>', '', null])
      expect(descriptionOf(other)).to.equal(other);
  });
});
