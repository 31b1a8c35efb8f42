// `GET /changes`: tokens, pages, errors, and who learns what.

import { expect } from 'chai';
import type { TestGateway } from '../start-gateway.ts';
import { remove, upsert } from '../store/changes.ts';
import { event, term } from '../store/sample-records.ts';
import { NOW_MS, seededGateway } from './seeded-gateway.ts';

describe('/changes', () => {
  let gateway: TestGateway;
  let token: string;
  beforeEach(async () => {
    gateway = await seededGateway([event(1), event(2, { status: 'draft' })]);
    token = (await get('/changes')).next_token;
  });
  afterEach(() => gateway.stop());

  async function get(path: string, as?: string) {
    const { status, body, text } = await gateway.request(path, { as });
    expect(status, text).to.equal(200);
    return body;
  }

  it('without a token has no changes, and a token', async () => {
    expect(await get('/changes')).to.deep.equal({ changes: [], next_token: token, has_more: false });
    expect(token).to.match(/^[\w.-]{20,100}$/);
    expect(await get(`/changes?since=${token}`)).to.deep.equal({ changes: [], next_token: token, has_more: false });
  });

  it('has each record once, in pages', async () => {
    upsert(gateway.replica, [event(3), event(1, { title: 'New' }), term('tag', 4)]);
    upsert(gateway.replica, [event(3, { title: 'New' })]);
    remove(gateway.replica, 'event', [1]);
    const first = await get(`/changes?since=${token}&limit=2`);
    expect(first.changes).to.deep.equal([
      { kind: 'tag', id: 4, change: 'created' },
      { kind: 'event', id: 3, change: 'created' },
    ]);
    expect(first.has_more).to.equal(true);
    const second = await get(`/changes?since=${first.next_token}&limit=2`);
    expect(second).to.deep.include({ changes: [{ kind: 'event', id: 1, change: 'deleted' }], has_more: false });
    expect((await get(`/changes?since=${second.next_token}`)).changes).to.deep.equal([]);
  });

  it('has what another gateway told, also if nothing else has changed since it was asked for', async () => {
    expect((await get(`/changes?since=${token}`)).changes).to.deep.equal([]);
    gateway.replica.noteGone([{ kind: 'event', id: 9 }]);
    expect((await get(`/changes?since=${token}`)).changes).to.deep.equal([{ kind: 'event', id: 9, change: 'deleted' }]);
  });

  it('is 410 for a token of another gateway once entries of that one were lost, also if it was 200 before', async () => {
    const other = await seededGateway([event(1)]);
    const scanS = Math.floor(NOW_MS / 1000) + 10;
    other.replica.journal.noteScan(scanS);
    const { next_token: told } = (await other.request('/changes')).body;
    await other.stop();
    expect((await get(`/changes?since=${told}`)).changes).to.deep.equal([]);
    gateway.replica.journal.setClock(() => scanS + 1);
    gateway.replica.journal.noteMissed();
    expect((await gateway.request(`/changes?since=${told}`)).status).to.equal(410);
  });

  it('is the same for staff, who find drafts in lists', async () => {
    upsert(gateway.replica, [event(2, { status: 'draft', title: 'New' }), event(1, { title: 'New' })]);
    const changes = [{ kind: 'event', id: 1, change: 'updated' }];
    expect((await get(`/changes?since=${token}`)).changes).to.deep.equal(changes);
    expect((await get(`/changes?since=${token}`, 'admin')).changes).to.deep.equal(changes);
  });

  it('is 410 for a token of another replica, and 400 for a text that is no token', async () => {
    const other = await seededGateway([event(1)]);
    const gone = await other.request(`/changes?since=${token}`);
    await other.stop();
    expect(gone.status).to.equal(410);
    expect(gone.body).to.deep.include({ code: 'calendar_changes_gone', data: { status: 410 } });
    for (const query of [
      'since=12',
      'since=',
      'since[]=1',
      `since=${token}.1`,
      'limit=0',
      `since=${'x'.repeat(2000)}`,
    ]) {
      const { status, body } = await gateway.request(`/changes?${query}`);
      expect([status, body.code], query).to.deep.equal([400, 'rest_invalid_param']);
      expect(Object.keys(body.data.params), query).to.deep.equal([query.split(/[=[]/)[0]]);
    }
  });

  it('is cached until something changes, and has an ETag', async () => {
    const path = `/changes?since=${token}`;
    const { headers } = await gateway.request(path);
    const list = await gateway.request('/events');
    expect(headers['cache-control']).to.equal(list.headers['cache-control']);
    const again = await gateway.request(path, { headers: { 'if-none-match': headers.etag! } });
    expect(again.status).to.equal(304);
    // Not public: the same response.
    upsert(gateway.replica, [event(2, { status: 'draft', title: 'New' })]);
    expect((await gateway.request(path, { headers: { 'if-none-match': headers.etag! } })).status).to.equal(304);
    upsert(gateway.replica, [event(1, { title: 'New' })]);
    expect((await gateway.request(path, { headers: { 'if-none-match': headers.etag! } })).status).to.equal(200);
  });
});
