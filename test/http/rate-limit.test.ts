// The rate limit: requests per minute of one client.

import { expect } from 'chai';
import { ApiError } from '../../src/errors.ts';
import { RateLimit } from '../../src/http/client-limits.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import { event } from '../store/sample-records.ts';

describe('rate limit', () => {
  const errorOf = (limit: RateLimit, address: string): unknown => {
    try {
      return limit.consume(address);
    } catch (error) {
      return error;
    }
  };

  it('rejects with 429 and RateLimit headers after the limit, for this client only', () => {
    const limit = new RateLimit({ requestsPerMinute: 3 });
    for (let request = 0; request < 3; request += 1) limit.consume('192.0.2.1');
    const error = errorOf(limit, '192.0.2.1');
    expect(error).to.be.instanceOf(ApiError);
    const { status, code, headers } = error as ApiError;
    expect({ status, code }).to.deep.equal({ status: 429, code: 'rest_too_many_requests' });
    expect(Number(headers['Retry-After'])).to.be.within(1, 60);
    expect(headers.RateLimit).to.match(/^"minute";r=0;t=\d+$/);
    expect(headers['RateLimit-Policy']).to.equal('"minute";q=3;w=60');
    limit.consume('192.0.2.2');
  });

  it('counts the same whether it throws or returns false', () => {
    const limit = new RateLimit({ requestsPerMinute: 2 });
    limit.consume('192.0.2.1');
    expect(limit.tryConsume('192.0.2.1')).to.equal(true);
    expect(limit.tryConsume('192.0.2.1')).to.equal(false);
    expect(errorOf(limit, '192.0.2.1')).to.be.instanceOf(ApiError);
  });

  it('counts what a request cost, also beyond the limit, against the later ones', () => {
    const limit = new RateLimit({ requestsPerMinute: 10 });
    limit.consume('192.0.2.1');
    limit.charge('192.0.2.1', 8);
    expect(limit.tryConsume('192.0.2.1')).to.equal(true);
    expect(limit.tryConsume('192.0.2.1')).to.equal(false);
    limit.charge('192.0.2.2', 20);
    expect(limit.tryConsume('192.0.2.2')).to.equal(false);
    expect(limit.tryConsume('192.0.2.3')).to.equal(true);
  });

  for (const [path, requests] of [
    ['/events?per_page=50', 1],
    ['/events.ics?per_page=20', 3],
    ['/events.ics?per_page=120', 13],
    ['/events.atom?per_page=120', 13],
  ] as const)
    it(`counts a feed as several requests when it is built, and as one when it is cached: ${path}`, async () => {
      const events = Array.from({ length: 120 }, (_, n) => event(n + 1, { start: '2027-03-12 10:00:00' }));
      const limits = { requestsPerMinute: requests + 1 };
      const gateway = await seededGateway(events, { limits, maxPerPage: 500 });
      try {
        const statuses = [];
        for (let n = 0; n < 3; n += 1) statuses.push((await gateway.request(path)).status);
        expect(statuses).to.deep.equal([200, 200, 429]);
      } finally {
        await gateway.stop();
      }
    });

  it('counts a list of long texts by its bytes', async () => {
    const description = 'x'.repeat(300_000);
    const events = Array.from({ length: 8 }, (_, n) => event(n + 1, { start: '2027-03-12 10:00:00', description }));
    // 8 descriptions in five times half a MiB, and a second request.
    const gateway = await seededGateway(events, { limits: { requestsPerMinute: 6 } });
    try {
      const statuses = [];
      for (let n = 0; n < 3; n += 1) statuses.push((await gateway.request('/events')).status);
      expect(statuses).to.deep.equal([200, 200, 429]);
    } finally {
      await gateway.stop();
    }
  });

  it('starts again after a minute', () => {
    const limit = new RateLimit({ requestsPerMinute: 1 });
    expect(limit.tryConsume('192.0.2.1', 0)).to.equal(true);
    expect(limit.tryConsume('192.0.2.1', 59_999)).to.equal(false);
    expect(limit.tryConsume('192.0.2.1', 60_000)).to.equal(true);
  });

  it('counts an IPv6 network as one client', () => {
    const limit = new RateLimit({ requestsPerMinute: 1 });
    limit.consume('2a00:1450:4001:1::1');
    limit.consume('2a00:1450:4002:1::1');
    expect(errorOf(limit, '2a00:1450:4001:2:ffff::')).to.be.instanceOf(ApiError);
  });
});
