// Each problem of a site that the commands report: its advice, and that the site is usable after the operator
// has followed it.

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect } from 'chai';
import { SITE_ADVICE, type SiteProblem, siteError } from '../../src/cli/advice.ts';
import { probe } from '../../src/cli/init/site.ts';
import { openSite, readSite } from '../../src/cli/open-site.ts';
import { basicAuth } from '../../src/config.ts';
import { ConfigError } from '../../src/errors.ts';
import { partsOf } from '../config-fixture.ts';
import { sendJson, sendText, startStubCms } from '../faults/stub-cms.ts';
import { freePort } from '../free-port.ts';
import { type FakeSite, fakePost, startFakeSite } from './fake-site.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Given {
  url: string;
  login?: string;
  limits?: Record<string, number>;
}

interface Scenario {
  problem: SiteProblem;
  when: string;
  /** Answers every request instead of the site, until the operator has followed the advice. */
  answers?: Answer;
  given?: (site: FakeSite) => Given;
  isPrivate?: boolean;
  /** What the operator changes; default: what `answers` is gone. */
  follow?: (given: Given, site: FakeSite) => Given;
  /** In the message. */
  says: RegExp;
}

const page = (title: string) => `<!doctype html><html><head><title>${title}</title></head><body>words</body></html>`;
const html =
  (status: number, title = 'Words', headers = {}): Answer =>
  (_request, response) =>
    sendText(response, status, page(title), headers);
const json =
  (status: number, body: unknown): Answer =>
  (_request, response) =>
    sendJson(response, status, body);
const login = 'ada:aaaa bbbb';
const rejected = (code: string, status = 401): Answer => json(status, { code, message: 'No.', data: { status } });
const onlyWithLogin =
  (answer: Answer): Answer =>
  (request, response) =>
    request.headers.authorization === undefined
      ? rejected('rest_not_logged_in')(request, response)
      : answer(request, response);

const byStatus = (problem: SiteProblem, status: number): Scenario => ({
  problem,
  when: `answers ${status} with a page`,
  answers: html(status, 'Blocked'),
  says: status === 429 || status >= 500 ? new RegExp(`status ${status}`) : new RegExp(`status ${status}, "Blocked"`),
});

const SCENARIOS: readonly Scenario[] = [
  byStatus('no-api', 200),
  byStatus('closed', 401),
  byStatus('closed', 403),
  byStatus('not-found', 404),
  byStatus('no-answer', 429),
  byStatus('no-answer', 500),
  byStatus('no-answer', 502),
  byStatus('no-answer', 503),
  byStatus('no-answer', 504),
  {
    problem: 'no-api',
    when: 'redirects in a circle',
    answers: ({ url = '' }, response) => sendText(response, 302, '', { location: url }),
    says: /redirects in a circle/,
  },
  {
    problem: 'closed',
    when: 'redirects to its login page',
    answers: ({ url = '' }, response) =>
      url.startsWith('/wp-login.php')
        ? sendText(response, 200, page('Log In &lsaquo; Town'))
        : sendText(response, 302, '', { location: '/wp-login.php?redirect_to=x' }),
    says: /login page \(status 200, "Log In/,
  },
  {
    problem: 'closed',
    when: 'redirects to a login at another host',
    answers: (_request, response) => sendText(response, 302, '', { location: 'https://example.com/login/start?a=b' }),
    says: /login page \(to https:\/\/example\.com\/login\/start\)/,
  },
  {
    problem: 'not-found',
    when: 'is in a folder',
    given: ({ url }) => ({ url: `${url}/shop` }),
    answers: html(404),
    follow: (_given, { url }) => ({ url }),
    says: /shop\/wp-json\/ is not found/,
  },
  {
    problem: 'closed',
    when: 'has switched its REST API off',
    answers: rejected('rest_disabled', 404),
    says: /status 404, "rest_disabled No\."/,
  },
  {
    problem: 'no-api',
    when: 'sends half of its JSON',
    answers: (_request, response) => sendText(response, 200, '{"name":"Town","namespaces":["wp'),
    says: /broken JSON/,
  },
  { problem: 'no-api', when: 'is another program', answers: json(200, { version: 3 }), says: /JSON that does not/ },
  {
    problem: 'no-api',
    when: 'answers with nothing',
    answers: (_request, response) => sendText(response, 200, ''),
    says: /nothing/,
  },
  {
    problem: 'no-api',
    when: 'answers with a download',
    answers: (_request, response) => sendText(response, 200, Buffer.alloc(200_000, 'x')),
    given: ({ url }) => ({ url, limits: { maxBytes: 100_000 } }),
    says: /more than the gateway reads/,
  },
  {
    problem: 'no-api',
    when: 'answers 400',
    answers: html(400, 'The plain HTTP request was sent to HTTPS port'),
    says: /status 400, "The plain HTTP request/,
  },
  {
    problem: 'no-answer',
    when: 'has a host name that nobody knows',
    given: () => ({ url: 'http://no-such-host.invalid' }),
    follow: (_given, { url }) => ({ url }),
    says: /ENOTFOUND|EAI_AGAIN/,
  },
  {
    problem: 'no-answer',
    when: 'speaks no TLS on this port',
    given: ({ url }) => ({ url: url.replace('http:', 'https:') }),
    follow: (_given, { url }) => ({ url }),
    says: /does not answer/,
  },
  {
    problem: 'no-answer',
    when: 'answers slowly',
    given: ({ url }) => ({ url, limits: { headersTimeoutMs: 50, deadlineMs: 100 } }),
    answers: () => {},
    follow: ({ url }) => ({ url }),
    says: /in time|no answer within/,
  },
  {
    problem: 'no-answer',
    when: 'breaks connections off',
    answers: ({ socket }) => void socket.destroy(),
    says: /broke off/,
  },
  {
    problem: 'no-api',
    when: 'answers with a page after its API was found',
    answers: ({ url = '' }, response) =>
      url.includes('namespaces') && !url.includes('name%2C')
        ? sendJson(response, 200, { namespaces: ['wp/v2'] })
        : sendText(response, 200, page('Just a moment...')),
    says: /a web page instead of JSON/,
  },
  {
    problem: 'login-required',
    when: 'requires a login',
    isPrivate: true,
    follow: ({ url }) => ({ url, login }),
    says: /answers only signed-in users \(status 401, rest_not_logged_in\)/,
  },
  {
    problem: 'wrong-account',
    when: 'requires a login and does not know the password',
    isPrivate: true,
    given: ({ url }) => ({ url, login: 'ada:of the login form' }),
    follow: ({ url }) => ({ url, login }),
    says: /does not accept this user .*\(incorrect_password\)/,
  },
  {
    problem: 'wrong-account',
    when: 'is public and does not know the password',
    given: ({ url }) => ({ url, login: 'ada:of the login form' }),
    follow: ({ url }) => ({ url }),
    says: /does not accept this user .*\(incorrect_password\)/,
  },
  {
    problem: 'wrong-account',
    when: 'is closed by a plugin and does not know the password',
    given: ({ url }) => ({ url, login: 'ada:of the login form' }),
    answers: rejected('rest_login_required'),
    follow: ({ url }) => ({ url, login }),
    says: /rest_login_required/,
  },
  {
    problem: 'wrong-account',
    when: 'has switched application passwords off',
    given: ({ url }) => ({ url, login }),
    answers: onlyWithLogin(rejected('application_passwords_disabled_for_user')),
    says: /application_passwords_disabled_for_user/,
  },
  {
    problem: 'wrong-account',
    when: 'does not let the account use its API',
    given: ({ url }) => ({ url, login }),
    answers: onlyWithLogin(rejected('rest_forbidden', 403)),
    says: /rest_forbidden/,
  },
];

/** Those that need servers of their own, in the tests below. */
const OWN_TESTS: readonly SiteProblem[] = ['redirect'];

describe('the advice for a site that cannot be used', () => {
  let site: FakeSite;
  const start = async (isPrivate = false) => {
    const records = [1, 2].map((id) => fakePost(id, { title: `Gig ${id}`, meta: {} }));
    const type = { type: 'event', base: 'events', label: 'Events', records };
    site = await startFakeSite({ types: [type], logins: [login], isPrivate });
  };
  /**
   * What `init` and `serve` do first. Resolves with the error's location, reason and advice; undefined if the
   * site is usable.
   */
  async function tryOut({ url, login, limits }: Given): Promise<{ message: string; advice: string } | undefined> {
    const [user = '', password = ''] = login?.split(':') ?? [];
    const account = login === undefined ? undefined : basicAuth(user, password);
    const connection = openSite(url, account, { limits: { retries: 0, ...limits } }, { cms: 'wordpress' });
    try {
      await readSite(connection);
      await probe(connection);
      return undefined;
    } catch (thrown) {
      const error = siteError(thrown, url, account !== undefined, 'wordpress');
      expect(error).to.be.instanceOf(ConfigError);
      const { message, remedy } = partsOf(error as ConfigError);
      expect(message).to.not.include(password || 'no password');
      return { message, advice: remedy };
    } finally {
      await connection.close();
    }
  }
  /** The beginning of a row of advice, which depends on no fact. */
  const isAdvice = (advice: string, problem: SiteProblem, url: string): boolean => {
    const facts = { cms: 'wordpress', url, target: url } as const;
    const plain = (text: string) => text.replace(/https?:\/\/[^\s:"]+:?\d*[^\s]*/g, 'URL');
    return plain(advice) === plain(SITE_ADVICE[problem](facts));
  };

  afterEach(() => site.close());

  for (const { problem, when, answers, given, isPrivate, follow = (given: Given) => given, says } of SCENARIOS)
    it(`${problem}: a site that ${when}`, async () => {
      await start(isPrivate);
      site.before = (...exchange) => {
        answers?.(...exchange);
        return answers !== undefined;
      };
      const first = given?.(site) ?? { url: site.url };
      const failure = await tryOut(first);
      expect(failure?.message).to.match(says);
      expect(failure?.advice).to.satisfy((advice: string) => isAdvice(advice, problem, first.url), failure?.message);
      site.before = () => false;
      const usable = { ...first, limits: {} };
      expect(await tryOut(follow(usable, site))).to.equal(undefined);
    });

  for (const [what, path, redirect] of [
    ['keeps the path', '', (url: string) => url],
    ['adds a folder', '/town', (url: string) => `/town${url}`],
    ['leads its front page elsewhere than its API', '', (url: string) => (url === '/' ? '/en/' : url)],
  ] as const)
    it(`redirect: an address that ${what}; the named one works, and gets no request before`, async () => {
      await start();
      const old = await startStubCms();
      try {
        old.respond = ({ url = '' }, response) => sendText(response, 301, '', { location: site.url + redirect(url) });
        const wanted = site.url + path;
        const failure = await tryOut({ url: old.url.href, login });
        expect(failure?.message).to.include(`redirects to another address (to ${site.url}`);
        const named = /init (\S+)/.exec(failure?.advice ?? '')?.[1];
        expect(named).to.equal(wanted);
        expect(site.requests).to.deep.equal([]);
        expect(old.requests.some(({ headers }) => headers.authorization !== undefined)).to.equal(false);
        site.before = (request) => {
          request.url = request.url?.replace(/^\/town/, '');
          return false;
        };
        expect(await tryOut({ url: named ?? '', login })).to.equal(undefined);
      } finally {
        await old.close();
      }
    });

  it('redirect: the setting is named too', () => {
    const facts = { cms: 'wordpress', url: 'http://a.example', target: 'https://www.a.example' } as const;
    expect(SITE_ADVICE.redirect(facts)).to.include('CALENDAR_UPSTREAM_URL=https://www.a.example');
  });

  it('no-answer: a port where nothing listens', async () => {
    await start();
    const failure = await tryOut({ url: `http://127.0.0.1:${await freePort()}` });
    expect(failure?.message).to.include('ECONNREFUSED').and.to.include('curl -I http://127.0.0.1:');
    expect(await tryOut({ url: site.url })).to.equal(undefined);
  });

  it('no-answer: a port that does not speak https, and ends the connection', async () => {
    await start();
    const server = createNetServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    const { port } = server.address() as AddressInfo;
    const failure = await tryOut({ url: `https://127.0.0.1:${port}` });
    expect(failure?.message).to.include('ECONNRESET');
    expect(failure?.advice).to.include('If name, port or https is wrong, correct the address');
    expect(await tryOut({ url: site.url })).to.equal(undefined);
    server.close();
  });

  it('no-answer: a certificate that no authority has signed', async () => {
    await start();
    const pem = readFileSync(new URL('../fixtures/self-signed.pem', import.meta.url));
    const server = createServer({ key: pem, cert: pem }, async (request, response) => {
      const answer = await fetch(site.url + request.url);
      sendText(response, answer.status, Buffer.from(await answer.arrayBuffer()), {
        'x-wp-total': answer.headers.get('x-wp-total') ?? '',
      });
    });
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    const before = getCACertificates('default');
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      expect((await tryOut({ url }))?.advice).to.include('NODE_EXTRA_CA_CERTS=FILE');
      // What Node does with that file when it starts.
      setDefaultCACertificates([...before, pem.toString()]);
      expect(await tryOut({ url })).to.equal(undefined);
    } finally {
      setDefaultCACertificates(before);
      server.closeAllConnections();
      server.close();
    }
  });

  it('has a test for each row', async () => {
    await start();
    const tested = new Set([...SCENARIOS.map(({ problem }) => problem), ...OWN_TESTS]);
    expect([...tested].sort()).to.deep.equal(Object.keys(SITE_ADVICE).sort());
  });
});
