// Which sites' scripts may read responses in a browser, what they can read, and what a 401 asks of other clients.

import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { TestGateway } from '../start-gateway.ts';
import { event } from '../store/sample-records.ts';

const OURS = 'https://www.example.org';
const THEIRS = 'https://other.example';
const TIMES = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };

describe('CORS with allowedOrigins', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([event(1, TIMES)], { allowedOrigins: [OURS, 'http://localhost:5173'] });
  });
  after(() => gateway.stop());

  const allowed = async (path: string, origin: string, method = 'GET') => {
    const { headers } = await gateway.request(path, { method, headers: { origin } });
    expect(headers.vary).to.match(/\bOrigin\b/);
    return headers['access-control-allow-origin'];
  };

  it('lets only these origins read, from the cache too', async () => {
    for (const path of ['/events', '/events', '/events/999']) {
      expect(await allowed(path, OURS), path).to.equal(OURS);
      expect(await allowed(path, THEIRS), path).to.equal(undefined);
      expect(await allowed(path, 'http://localhost:5173'), path).to.equal('http://localhost:5173');
      expect(await allowed(path, `${OURS}.evil.example`), path).to.equal(undefined);
    }
  });

  it('answers the preflight of the others without permission', async () => {
    expect(await allowed('/events', OURS, 'OPTIONS')).to.equal(OURS);
    const { headers } = await gateway.request('/events', { method: 'OPTIONS', headers: { origin: THEIRS } });
    expect(headers).to.not.have.any.keys(
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'access-control-max-age',
    );
  });
});

describe('a response for scripts and clients', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([event(1, TIMES)]);
  });
  after(() => gateway.stop());

  it('exposes what a script needs after an error', async () => {
    for (const path of ['/events', '/events', '/events/999']) {
      const { headers } = await gateway.request(path, { headers: { origin: THEIRS } });
      expect(headers['access-control-expose-headers']?.split(', '), path).to.include.members([
        ...['X-Request-Id', 'Retry-After', 'Age', 'Warning', 'X-Unknown-Parameters'],
      ]);
    }
  });

  it('asks for a login with a 401, but not in a browser', async () => {
    const json = { title: 'x', start_date: '2027-01-10', end_date: '2027-01-11' };
    const challenge = async (headers: Record<string, string> = {}) => {
      const response = await gateway.request('/events', { json, headers });
      expect(response.status).to.equal(401);
      return response.headers['www-authenticate'];
    };
    expect(await challenge()).to.equal('Basic realm="calendar"');
    expect(await challenge({ authorization: `Basic ${btoa('nobody:wrong')}` })).to.equal('Basic realm="calendar"');
    expect(await challenge({ origin: THEIRS })).to.equal(undefined);
    expect(await challenge({ 'sec-fetch-mode': 'cors' })).to.equal(undefined);
  });
});
