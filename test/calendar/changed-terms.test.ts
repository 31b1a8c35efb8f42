// `modified_after` in the lists of categories and tags: the terms whose last change the gateway noticed since then.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createIds } from '../../src/cms/payload/ids.ts';
import { toGatewayRecord } from '../../src/cms/payload/records.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Kind } from '../../src/model/records.ts';
import { listTerms } from '../../src/store/lists.ts';
import { Replica } from '../../src/store/replica.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, type FakeTerm } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';

const START_MS = Date.UTC(2027, 0, 1, 10, 0, 0, 400);
const MINUTE_MS = 60_000;
const SCAN_MS = 10 * MINUTE_MS;

describe('modified_after of categories and tags', () => {
  const dir = mkdtempSync(join(tmpdir(), 'changed-terms-'));
  let nowMs: number;
  let cms: FakeCms;
  let gateway: TestGateway;
  let music: FakeTerm;
  let jazz: FakeTerm;

  const start = (file?: string) =>
    startGateway({
      cms,
      service: CREDENTIALS.admin,
      as: CREDENTIALS,
      nowMs: () => nowMs,
      scanIntervalMs: SCAN_MS,
      perPage: 1,
      ...(file !== undefined && { file }),
    });
  beforeEach(async () => {
    nowMs = START_MS;
    cms = createFakeCms(() => nowMs);
    music = cms.createTerm('event_categories', { name: 'Music' });
    jazz = cms.createTerm('event_categories', { name: 'Jazz', parent: music.id });
    cms.createTerm('tags', { name: 'Free' });
    gateway = await start();
  });
  afterEach(() => gateway.stop());
  after(() => rmSync(dir, { recursive: true }));

  /** A client's request at this moment: the names that changed since its last one, whose time it remembers. */
  async function names(since: string, query = '', path = '/categories'): Promise<string[]> {
    const { status, body, text } = await gateway.request(
      `${path}?hide_empty=0&per_page=50&modified_after=${since}${query}`,
    );
    expect(status, text).to.equal(200);
    const terms = Object.values(body)[0] as { name: string }[];
    expect(body.total).to.equal(terms.length);
    return terms.map(({ name }) => name);
  }
  const now = () => new Date(nowMs).toISOString();
  const reread = (kind: Kind, id: number) => gateway.sync.fetchChanged([{ kind, id }]);
  async function scan(): Promise<void> {
    nowMs += SCAN_MS;
    for (let poll = 0; poll < 10; poll += 1) await gateway.sync.poll();
  }

  it('lists all terms of a new replica', async () => {
    expect(await names('2027-01-01T10:00:00Z')).to.deep.equal(['Jazz', 'Music']);
    expect(await names('0', '', '/tags')).to.deep.equal(['Free']);
    expect(await names('2027-01-01T10:00:01Z')).to.deep.equal([]);
  });

  it('lists a new term and a changed one, whichever of its fields changed', async () => {
    nowMs += MINUTE_MS;
    let since = now();
    await gateway.request('/categories', { as: 'admin', json: { name: 'Blues' } });
    expect(await names(since)).to.deep.equal(['Blues']);
    for (const change of [{ name: 'Soul' }, { slug: 'soul' }, { description: 'Slow.' }, { parent: 0 }]) {
      nowMs += MINUTE_MS;
      since = now();
      expect(await names(since), JSON.stringify(change)).to.deep.equal([]);
      Object.assign(jazz, change);
      await scan();
      expect(await names(since), JSON.stringify(change)).to.deep.equal(['Soul']);
    }
  });

  it('lists the children of a deleted category, which moved up, and not the deleted one', async () => {
    nowMs += MINUTE_MS;
    const since = now();
    const { next_token: token } = (await gateway.request('/changes')).body;
    await gateway.request(`/categories/${music.id}`, { as: 'admin', method: 'DELETE' });
    expect(await names(since)).to.deep.equal(['Jazz']);
    expect((await gateway.request(`/changes?since=${token}`)).body.changes).to.have.deep.members([
      { kind: 'category', id: music.id, change: 'deleted' },
      { kind: 'category', id: jazz.id, change: 'updated' },
    ]);
  });

  it('lists a term that changed in the second of the last request', async () => {
    nowMs += MINUTE_MS;
    const since = now();
    nowMs += 100;
    await gateway.request(`/categories/${jazz.id}`, { as: 'admin', json: { name: 'Soul' } });
    expect(await names(since)).to.deep.equal(['Soul']);
    expect(await names(String(Math.floor(nowMs / 1000)))).to.deep.equal(['Soul']);
  });

  it('does not list a term that was read again without a change, or got another number of events', async () => {
    nowMs += MINUTE_MS;
    const since = now();
    cms.createPost('events', {
      meta: { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' },
      terms: { event_categories: [jazz.id], tags: [] },
    });
    await reread('category', jazz.id);
    await scan();
    const { body } = await gateway.request(`/categories/${jazz.id}`);
    expect(body.count).to.equal(1);
    expect(await names(since)).to.deep.equal([]);
  });

  it('has the same answer after a restart', async () => {
    await gateway.stop();
    const file = join(dir, 'replica.sqlite');
    gateway = await start(file);
    nowMs += MINUTE_MS;
    const since = now();
    await gateway.request(`/categories/${jazz.id}`, { as: 'admin', json: { name: 'Soul' } });
    await gateway.stop();
    nowMs += MINUTE_MS;
    gateway = await start(file);
    await scan();
    expect(await names(since)).to.deep.equal(['Soul']);
    expect(await names('2027-01-01')).to.deep.equal(['Music', 'Soul']);
  });

  it('combines with other filters and with contexts, and the URLs of other pages have it', async () => {
    nowMs += MINUTE_MS;
    const since = now();
    for (const name of ['Blues', 'Bluegrass']) await gateway.request('/categories', { as: 'admin', json: { name } });
    expect(await names(since, '&search=grass')).to.deep.equal(['Bluegrass']);
    expect(await names(since, '&search=jazz')).to.deep.equal([]);
    expect(await names(since, '&hide_empty=1')).to.deep.equal([]);
    const { body } = await gateway.request(`/categories?hide_empty=0&context=edit&modified_after=${since}`, {
      as: 'admin',
    });
    expect([body.total, body.total_pages]).to.deep.equal([2, 2]);
    expect(new URL(body.next_rest_url).searchParams.get('modified_after')).to.equal(since);
    const { pathname, search } = new URL(body.next_rest_url);
    const next = await gateway.requestPath(pathname + search, { as: 'admin' });
    expect(next.body.categories.map(({ name }: { name: string }) => name)).to.deep.equal(['Blues']);
  });

  it('restricts the terms of an event', async () => {
    const terms = { event_categories: [music.id, jazz.id], tags: [] };
    const meta = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
    const { id } = cms.createPost('events', { meta, terms });
    await reread('event', id);
    nowMs += MINUTE_MS;
    const since = now();
    await gateway.request(`/categories/${jazz.id}`, { as: 'admin', json: { name: 'Soul' } });
    for (const name of ['event', 'post']) {
      expect(await names('0', `&${name}=${id}`)).to.deep.equal(['Music', 'Soul']);
      expect(await names(since, `&${name}=${id}`)).to.deep.equal(['Soul']);
    }
  });

  it('is a 400 for a text that is no time, or too long', async () => {
    for (const path of ['/categories', '/tags'])
      for (const text of ['someday', `2027-01-01${' '.repeat(200)}`]) {
        const { status, body } = await gateway.request(`${path}?modified_after=${encodeURIComponent(text)}`);
        expect([status, Object.keys(body.data.params)], path).to.deep.equal([400, ['modified_after']]);
      }
  });

  it('is not answered from a cache when a phrase means another time', async () => {
    const lastHour = () => names('-1+hour');
    expect(await lastHour()).to.deep.equal(['Jazz', 'Music']);
    nowMs += 2 * 60 * MINUTE_MS;
    expect(await lastHour()).to.deep.equal([]);
  });
});

describe('a term of Payload', () => {
  it('is noticed when what the API shows of it changes, not when Payload saved it', () => {
    let nowMs = START_MS;
    const replica = new Replica({ identity: 'test', nowMs: () => nowMs });
    const mapping = loadMapping('payload');
    const { read } = collectionsOf(mapping).find(({ kind }) => kind === 'category')!;
    const ids = createIds();
    const site = { url: 'https://cms.example', name: 'Site', timezone: 'UTC' };
    const save = (name: string, updatedAt: string) => {
      const doc = { id: 3, name, slug: 'music', updatedAt };
      upsert(replica, [read(toGatewayRecord(ids, mapping.kinds.category!, doc), site)]);
    };
    const noticedFrom = (wall: string) =>
      listTerms(replica.db, {
        kind: 'category',
        noticedFrom: wall,
        orderBy: 'name',
        descending: false,
        hideEmpty: false,
        limit: 9,
        offset: 0,
      }).ids;
    // Payload's clock is hours behind, and ahead.
    save('Music', '2027-01-01T03:00:00.000Z');
    expect(noticedFrom('2027-01-01 10:00:00')).to.deep.equal([3]);
    nowMs += MINUTE_MS;
    save('Music', '2027-01-01T23:00:00.000Z');
    expect(noticedFrom('2027-01-01 10:00:01')).to.deep.equal([]);
    save('Musik', '2027-01-01T03:00:00.000Z');
    expect(noticedFrom('2027-01-01 10:01:00')).to.deep.equal([3]);
    replica.close();
  });
});
