// Lists of a host that fails with a 5xx if a page has too many records.

import { expect } from 'chai';
import type { RestCall } from '../../src/cms/client.ts';
import { inSmallerPages } from '../../src/cms/wordpress/smaller-pages.ts';
import { CmsUnavailable } from '../../src/errors.ts';

describe('pages of a host that fails on large ones', () => {
  /** A list of this many records, of a host that sends at most `most` of them, and the requests that it got. */
  function host(total: number, most: number, status = 500, headers: { retryAfterS?: number } = {}) {
    const requests: Record<string, unknown>[] = [];
    const call: RestCall = async (_method, _route, { query = {} } = {}) => {
      requests.push(query);
      const { per_page = 10, page = 1, offset = (Number(page) - 1) * Number(per_page) } = query;
      if (Number(per_page) > most) throw new CmsUnavailable('status', `Status ${status}.`, { status, ...headers });
      const ids = Array.from({ length: total }, (_, at) => ({ id: at + 1 }));
      const json = ids.slice(Number(offset), Number(offset) + Number(per_page));
      return { status: 200, headers: { 'x-wp-total': String(total) }, bytes: Buffer.alloc(0), json };
    };
    const list = inSmallerPages(call);
    const ids = async (query: Record<string, number>, route = 'wp/v2/events') => {
      const { json, headers: sent } = await list('GET', route, { query: { _fields: 'id', ...query } });
      return { ids: (json as { id: number }[]).map(({ id }) => id), total: sent['x-wp-total'] };
    };
    return { requests, ids, list };
  }
  const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    );

  for (const most of [100, 99, 30, 10])
    it(`have all their records if at most ${most} are sent at once`, async () => {
      const { ids } = host(230, most);
      expect(await ids({ per_page: 100 })).to.deep.equal({ ids: range(1, 100), total: '230' });
      expect(await ids({ per_page: 100, page: 3 })).to.deep.equal({ ids: range(201, 230), total: '230' });
      expect(await ids({ per_page: 100, offset: 99 })).to.deep.equal({ ids: range(100, 199), total: '230' });
      expect(await ids({ per_page: 20, offset: 7 })).to.deep.equal({ ids: range(8, 27), total: '230' });
      expect(await ids({ per_page: 1 })).to.deep.equal({ ids: [1], total: '230' });
    });

  it('are asked for in tens from then on, for each collection', async () => {
    const { ids, requests } = host(30, 30);
    await ids({ per_page: 100 });
    expect(requests.map(({ per_page }) => per_page)).to.deep.equal([100, 10, 10, 10]);
    requests.length = 0;
    await ids({ per_page: 100, page: 1 });
    expect(requests.map(({ per_page, page }) => [per_page, page])).to.deep.equal([
      [10, 1],
      [10, 2],
      [10, 3],
    ]);
    requests.length = 0;
    await ids({ per_page: 100 }, 'wp/v2/venues');
    expect(requests[0]).to.include({ per_page: 100 });
  });

  it('are asked for as before if the host sends them', async () => {
    const { ids, requests } = host(60, 100);
    await ids({ per_page: 100 });
    expect(requests).to.deep.equal([{ _fields: 'id', per_page: 100 }]);
  });

  it('fail with the error of the host if it sends no ten either, and are asked for in full the next time', async () => {
    const { ids, requests } = host(60, 4, 502);
    for (let n = 0; n < 2; n += 1) {
      requests.length = 0;
      expect(await failure(ids({ per_page: 100 }))).to.include({ reason: 'status', status: 502 });
      expect(requests.map(({ per_page }) => per_page)).to.deep.equal([100, 10]);
    }
  });

  it('are asked for once if the host is in maintenance, refuses the request or changes something', async () => {
    const maintenance = host(60, 30, 503, { retryAfterS: 60 });
    const refusal = host(60, 30, 404);
    const write = host(60, 30);
    expect(await failure(maintenance.ids({ per_page: 100 }))).to.include({ status: 503 });
    expect(await failure(refusal.ids({ per_page: 100 }))).to.include({ status: 404 });
    expect(await failure(write.list('POST', 'wp/v2/events', { query: { per_page: 100 } }))).to.include({ status: 500 });
    for (const { requests } of [maintenance, refusal, write]) expect(requests).to.have.length(1);
  });
});
