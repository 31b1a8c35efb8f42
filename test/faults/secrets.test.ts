// Passwords and secrets are nowhere to be found in what a gateway says, logs, counts or keeps.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Answered, exchange, startGateway } from './gateway.ts';
import { SECRETS, secretsIn } from './spoken.ts';
import { as, basic, PASSWORD, startWordPress, USERS } from './wordpress.ts';

const WRONG = 'wr0ng-passw0rd-of-somebody';
const NOTICE = 'n0tice-secret-of-the-plugin';

const found = secretsIn([...SECRETS, WRONG, NOTICE], [basic('author', WRONG)]);

describe('secrets', () => {
  it('are in no log, metric, status, answer or file', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'calendar-secrets-'));
    const wordpress = await startWordPress();
    const gateway = await startGateway(
      wordpress.url.href,
      { dataDir, notices: { secret: NOTICE }, upstream: { limits: { retryDelayMs: 0 } } },
      { user: 'admin', password: PASSWORD },
    );
    const answers: Answered[] = [];
    const ask = async (path: string, authorization?: string, method = 'GET', body?: string) => {
      const headers = { ...(authorization ? { authorization } : {}), 'content-type': 'application/json' };
      answers.push(await gateway.ask(path, { method, headers, ...(body === undefined ? {} : { body }) }));
    };
    try {
      const round = async () => {
        for (const authorization of [undefined, ...USERS.map((user) => as(user)), basic('author', WRONG)]) {
          await ask('/events', authorization);
          await ask('/events/2', authorization);
          await ask('/venues/4711', authorization);
          await ask('/events', authorization, 'POST', '{"title":"x"}');
          await ask('/events/1', authorization, 'PUT', '{"title":"y"}');
          await ask('/events/1', authorization, 'PUT', '{"title"');
        }
        answers.push(await exchange(gateway.adminPort, '/changes', { method: 'POST', body: '{}' }));
      };
      await round();
      // What the CMS says of the request goes nowhere either.
      wordpress.before = (request, response) => {
        response.writeHead(500, { 'content-type': 'text/html' });
        response.end(`<pre>Fatal error: headers ${JSON.stringify(request.headers)}</pre>`);
        return true;
      };
      await round();
      wordpress.before = (_, response) => {
        response.destroy();
        return true;
      };
      await ask('/events', basic('editor2', WRONG));
      await ask('/events/1', as('editor'), 'PUT', '{"title":"z"}');
      for (const path of ['/metrics', '/status', '/ready', '/live']) answers.push(await gateway.admin(path));
    } finally {
      await gateway.stop();
      await wordpress.close();
    }
    expect(wordpress.seen.filter(({ headers }) => headers.authorization === as('author'))).to.not.be.empty;
    expect(gateway.log().split('\n').length).to.be.greaterThan(100);
    expect(found(gateway.log()), 'log').to.deep.equal([]);
    for (const { status, headers, text } of answers) {
      expect(found(JSON.stringify([headers, text])), `an answer with ${status}: ${text}`).to.deep.equal([]);
    }
    for (const name of readdirSync(dataDir)) {
      expect(found(readFileSync(join(dataDir, name)).toString('latin1')), name).to.deep.equal([]);
    }
    rmSync(dataDir, { recursive: true });
  });

  it('are in no recorded answer', () => {
    const folder = new URL('../fixtures/', import.meta.url);
    for (const name of readdirSync(folder)) {
      const text = readFileSync(new URL(name, folder), 'utf8');
      expect(text, name).to.not.match(/"authorization"|\b(basic|bearer) [\w+/=]{12}|\b(\w{4} ){5}\w{4}\b/i);
    }
  });

  it('would be found by this test', () => {
    const header = as('author');
    for (const text of [PASSWORD, `a${header}b`, Buffer.from(`{"x":"${WRONG}"}`).toString('base64')]) {
      expect(found(text), text).to.not.be.empty;
    }
  });
});
