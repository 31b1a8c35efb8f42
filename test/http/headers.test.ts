// The headers that say who calls: wherever a response depends on one, all do.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CALLER_HEADERS, COMMON_HEADERS } from '../../src/http/headers.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { TestGateway } from '../start-gateway.ts';
import { event } from '../store/sample-records.ts';

const NGINX = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8');
/** No CMS accepts it: an application password that is wrong, and a nonce without cookies. */
const WRONG = `Basic ${btoa('nobody:wrong')}`;

describe('headers that say who calls', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([event(1, { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' })]);
  });
  after(() => gateway.stop());

  it('are sent as the original sends them, and responses vary by the login', () => {
    expect(COMMON_HEADERS).to.include({
      'Access-Control-Allow-Headers':
        'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type, ' +
        'If-None-Match, Cache-Control, X-Requested-With, X-Calendar-Min-Version, Idempotency-Key',
      Vary: 'Origin, Authorization, Accept-Encoding, X-Calendar-Min-Version',
    });
  });

  for (const name of CALLER_HEADERS) {
    it(`${name} gets no cached response, and none that a cache may keep`, async () => {
      expect((await gateway.request('/events/1')).status).to.equal(200);
      const { status, headers } = await gateway.request('/events/1', { headers: { [name]: WRONG } });
      expect(status).to.be.oneOf([401, 403]);
      expect(headers['cache-control']).to.include('no-store');
    });

    it(`${name} is that of a tool's call too`, async () => {
      const { body } = await gateway.requestPath('/mcp', {
        json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_event', arguments: { id: 1 } } },
        headers: { accept: 'application/json, text/event-stream', [name]: WRONG },
      });
      expect(body.result).to.include({ isError: true });
    });

    it(`${name} keeps a request out of the cache of deploy/nginx.conf`, () => {
      const [, variables] = /^map "(.*)" \$calendar_own \{$/m.exec(NGINX)!;
      expect(variables!.split('$')).to.include(`http_${name.toLowerCase().replaceAll('-', '_')}`);
    });
  }
});
