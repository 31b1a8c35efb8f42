// Passwords and secrets are nowhere to be found in what a gateway says, logs, counts or keeps.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Answered, exchange, startGateway } from './gateway.ts';
import { as, basic, PASSWORD, startWordPress, USERS } from './wordpress.ts';

const WRONG = 'wr0ng-passw0rd-of-somebody';
const NOTICE = 'n0tice-secret-of-the-plugin';
const SECRETS = [PASSWORD, PASSWORD.replaceAll(' ', ''), WRONG, NOTICE];

/** A secret as it is, in an address, in a header, and in any place of a longer base64 text. */
function spellings(secret: string): string[] {
  const inside = [0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex'), ...inside];
}
const FORBIDDEN = [
  ...SECRETS.flatMap(spellings),
  ...[...USERS.map((user) => as(user)), basic('author', WRONG)].map((header) => header.replace('Basic ', '')),
];

const found = (text: string): string[] => FORBIDDEN.filter((secret) => text.includes(secret));

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

  it('would be found by this test', () => {
    const header = as('author');
    for (const text of [PASSWORD, `a${header}b`, Buffer.from(`{"x":"${WRONG}"}`).toString('base64')]) {
      expect(found(text), text).to.not.be.empty;
    }
  });
});
