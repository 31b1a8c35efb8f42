// Passwords and secrets appear in no response, log, metric or file of the gateway.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type GatewayResponse, sendRequest, startGateway } from '../start-gateway.ts';
import { authorization as authorizationOf, basic, PASSWORD, startFakeWordPress, USERS } from './fake-wordpress.ts';
import { findSecrets, SECRETS } from './secret-scan.ts';

const WRONG = 'wr0ng-passw0rd';
const WEBHOOK_SECRET = 'webh00k-secret-of-the-plugin';

const find = findSecrets([...SECRETS, WRONG, WEBHOOK_SECRET], [basic('author', WRONG)]);

describe('secrets', () => {
  it('appear in no log, metric, status, response or file', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'calendar-secrets-'));
    const wordpress = await startFakeWordPress();
    const gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: { dataDir, webhook: { secret: WEBHOOK_SECRET }, upstream: { limits: { retryDelayMs: 0 } } },
      service: { user: 'admin', password: PASSWORD },
    });
    const responses: GatewayResponse[] = [];
    const ask = async (path: string, authorization?: string, method = 'GET', body?: string) => {
      const headers = { ...(authorization ? { authorization } : {}), 'content-type': 'application/json' };
      responses.push(await gateway.request(path, { method, headers, ...(body === undefined ? {} : { body }) }));
    };
    try {
      const sendAll = async () => {
        for (const authorization of [
          undefined,
          ...USERS.map((user) => authorizationOf(user)),
          basic('author', WRONG),
        ]) {
          await ask('/events', authorization);
          await ask('/events/2', authorization);
          await ask('/venues/4711', authorization);
          await ask('/events', authorization, 'POST', '{"title":"x"}');
          await ask('/events/1', authorization, 'PUT', '{"title":"y"}');
          await ask('/events/1', authorization, 'PUT', '{"title"');
        }
        responses.push(await sendRequest(gateway.adminPort, '/changes', { method: 'POST', body: '{}' }));
      };
      await sendAll();
      // Nor does the CMS's error text appear.
      wordpress.before = (request, response) => {
        response.writeHead(500, { 'content-type': 'text/html' });
        response.end(`<pre>Fatal error: headers ${JSON.stringify(request.headers)}</pre>`);
        return true;
      };
      await sendAll();
      wordpress.before = (_, response) => {
        response.destroy();
        return true;
      };
      await ask('/events', basic('editor2', WRONG));
      await ask('/events/1', authorizationOf('editor'), 'PUT', '{"title":"z"}');
      for (const path of ['/metrics', '/status', '/ready', '/live']) responses.push(await gateway.admin(path));
    } finally {
      await gateway.stop();
      await wordpress.close();
    }
    expect(wordpress.requests.filter(({ headers }) => headers.authorization === authorizationOf('author'))).to.not.be
      .empty;
    expect(gateway.log().split('\n').length).to.be.greaterThan(100);
    expect(find(gateway.log()), 'log').to.deep.equal([]);
    for (const { status, headers, text } of responses) {
      expect(find(JSON.stringify([headers, text])), `an answer with ${status}: ${text}`).to.deep.equal([]);
    }
    for (const name of readdirSync(dataDir)) {
      expect(find(readFileSync(join(dataDir, name)).toString('latin1')), name).to.deep.equal([]);
    }
    rmSync(dataDir, { recursive: true });
  });

  it('appear in no recorded response', () => {
    const folder = new URL('../fixtures/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name, parentPath } of files) {
      const text = readFileSync(join(parentPath, name), 'utf8');
      expect(text, name).to.not.match(/"authorization"|\b(basic|bearer) [\w+/=]{12}|\b(\w{4} ){5}\w{4}\b/i);
    }
  });

  it('are detected by this test', () => {
    const header = authorizationOf('author');
    for (const text of [PASSWORD, `a${header}b`, Buffer.from(`{"x":"${WRONG}"}`).toString('base64')]) {
      expect(find(text), text).to.not.be.empty;
    }
  });
});
