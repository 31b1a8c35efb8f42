// Each problem of a Payload site that the commands report in words of its own: its advice, and that the site
// is usable after the operator has followed it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { SITE_ADVICE, type SiteProblem, siteError } from '../../src/cli/advice.ts';
import { openSite, readSite } from '../../src/cli/open-site.ts';
import { apiKeyLogin } from '../../src/cms/payload/payload.ts';
import { ConfigError } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { sendJson, sendText } from '../faults/stub-cms.ts';
import { freePort } from '../free-port.ts';
import { type FakePayload, startFakePayload } from './fake-payload.ts';

const KEY = '3b241101-e2bb-4255-8caf-4136c566a962';
const PAGE = '<!doctype html><html><head><title>Words</title></head><body>words</body></html>';

interface Scenario {
  problem: SiteProblem;
  when: string;
  /** Answers every request instead of the site, until the operator has followed the advice. */
  answers?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Address and key before the operator corrects them. */
  given?: (url: string) => { url?: string; key?: string } | Promise<{ url?: string; key?: string }>;
}

const answering =
  (status: number): NonNullable<Scenario['answers']> =>
  (_request, response) =>
    sendText(response, status, PAGE, { 'content-type': 'text/html' });

const SCENARIOS: readonly Scenario[] = [
  { problem: 'no-api', when: 'shows a page', answers: answering(200) },
  { problem: 'no-api', when: 'has a page for what is missing', answers: answering(404) },
  {
    problem: 'no-api',
    when: 'is another program',
    answers: (_request, response) => sendJson(response, 200, { name: 'Another program' }),
  },
  {
    problem: 'no-api',
    when: 'is given with a path that it does not have',
    given: (url) => ({ url: `${url}/blog` }),
  },
  { problem: 'closed', when: 'is behind a login', answers: answering(401) },
  { problem: 'closed', when: 'is behind a firewall', answers: answering(403) },
  { problem: 'wrong-account', when: 'does not know the key', given: () => ({ key: 'of another account' }) },
  { problem: 'no-answer', when: 'fails', answers: answering(500) },
  { problem: 'no-answer', when: 'is not reached by its proxy', answers: answering(502) },
  { problem: 'no-answer', when: 'is in maintenance', answers: answering(503) },
  { problem: 'no-answer', when: 'ends the connection', answers: (request) => request.socket.destroy() },
  { problem: 'no-answer', when: 'limits requests', answers: answering(429) },
  { problem: 'no-answer', when: 'does not run', given: async () => ({ url: `http://127.0.0.1:${await freePort()}` }) },
];

describe('advice about a Payload site that', () => {
  let site: FakePayload;
  beforeEach(async () => {
    site = await startFakePayload({ collections: {}, login: `users API-Key ${KEY}` });
  });
  afterEach(() => site.close());

  /** Resolves with the error that ends a command; undefined for a usable site. */
  async function failureAt(url: string, key: string): Promise<unknown> {
    const credentials = apiKeyLogin('users', key);
    const connection = openSite(url, credentials, { limits: { retries: 0 } }, loadMapping('payload'));
    try {
      await readSite(connection);
      await connection.cms.account({ credentials });
      return undefined;
    } catch (error) {
      return siteError(error, url, true, 'payload');
    } finally {
      await connection.close();
    }
  }

  for (const { problem, when, answers, given } of SCENARIOS)
    it(`${when} helps (${problem})`, async () => {
      if (answers)
        site.before = (request, response) => {
          answers(request, response);
          return true;
        };
      const { url = site.url, key = KEY } = (await given?.(site.url)) ?? {};
      const failure = await failureAt(url, key);
      const facts = { cms: 'payload', url: `${url}/api/access`, target: url } as const;
      const expected = SITE_ADVICE[problem](facts);
      expect(failure).to.be.instanceOf(ConfigError).and.to.have.property('message').that.includes(expected);
      expect((failure as Error).message).to.not.match(/WordPress|wp-|PHP/);
      site.before = () => false;
      expect(await failureAt(site.url, KEY)).to.equal(undefined);
    });
});
