// While a CMS is slow for anonymous callers, the gateway still serves the writes and logins of others and the sync.

import { expect } from 'chai';
import { type SocketGateway, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import {
  authorization as authorizationOf,
  basic,
  type FakeWordPress,
  PASSWORD,
  startFakeWordPress,
  type User,
} from './fake-wordpress.ts';
import { sendJson } from './stub-cms.ts';

/** Concurrent requests: more than all connections and queues to the CMS. */
const FLOOD = 400;
/** Calls to the CMS that the flood causes. */
const CAUSED = /unknown-|\/90\d{5}|=90\d{5}|per_page=20&|password=guess/;

describe('a CMS flooded through the gateway', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  let protectedId: number;
  let held: (() => void)[];
  let isHeld: boolean;
  let isFlood: (url: string, authorization: string | undefined) => boolean;
  let newcomers: User[];

  beforeEach(async () => {
    [held, isHeld] = [[], true];
    newcomers = ['author', 'author2'];
    isFlood = (url) => CAUSED.test(url);
    wordpress = await startFakeWordPress();
    const locked = [...wordpress.posts.values()].find(({ base, status }) => base === 'events' && status === 'publish')!;
    locked.password = 'right';
    protectedId = locked.id;
    const settings = { sync: { intervalS: 1 }, limits: { overloadMs: 60_000 } };
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: settings,
      service: { user: 'admin', password: PASSWORD },
    });
    wordpress.before = (request, response) => {
      if (!isFlood(request.url ?? '', request.headers.authorization)) return false;
      const respond = () =>
        sendJson(response, 404, { code: 'rest_post_invalid_id', message: 'No.', data: { status: 404 } });
      if (isHeld) held.push(respond);
      else respond();
      return true;
    };
  });
  afterEach(async () => {
    await gateway.stop();
    await wordpress.close();
  });

  const headersOf = (user: User) => ({ authorization: authorizationOf(user), 'content-type': 'application/json' });

  /**
   * Floods the gateway while the CMS responds to none of the flood's calls before all others are served;
   * returns the flood's statuses.
   */
  async function serves(flood: (n: number) => Promise<{ status: number }>): Promise<number[]> {
    const flooding = Array.from({ length: FLOOD }, async (_, n) => (await flood(n)).status);
    await until(() => held.length > 0, 'the flood has reached the CMS');
    const dates = { start_date: '2031-01-01 10:00', end_date: '2031-01-01 11:00' };
    for (let n = 0; n < 5; n += 1) {
      const body = JSON.stringify({ title: `made ${n}`, ...dates });
      const created = await gateway.request('/events', { method: 'POST', headers: headersOf('editor'), body });
      expect(created.status, created.text).to.equal(201);
    }
    for (const user of newcomers)
      expect((await gateway.request('/events', { headers: headersOf(user) })).status, user).to.equal(200);
    const before = wordpress.requests.length;
    const isPolled = () =>
      wordpress.requests.slice(before).some(({ url }) => /orderby=modified.*per_page=100/.test(url));
    await until(isPolled, 'the sync polls the CMS');
    const { state, reason } = JSON.parse((await gateway.admin('/status')).text);
    expect(state, reason).to.equal('live');
    isHeld = false;
    for (const respond of held) respond();
    return Promise.all(flooding);
  }

  for (const [what, pathOf] of Object.entries({
    'unknown ids': (n: number) => `/events/${9_000_000 + n}`,
    'unknown slugs': (n: number) => `/venues/by-slug/unknown-${n}`,
    'events of unknown terms': (n: number) => `/events?categories=${9_000_000 + n}`,
    'events of unknown venues': (n: number) => `/events?venue=${9_000_000 + n}`,
  })) {
    it(`serves writes, logins and polls while anonymous callers request ${what}`, async () => {
      const statuses = await serves((n) => gateway.request(pathOf(n)));
      for (const status of statuses) expect(status).to.be.oneOf([400, 404]);
      const caused = wordpress.requests.filter(({ url }) => CAUSED.test(url) || url.includes('search?'));
      expect(caused.length).to.be.at.most(FLOOD / 10);
    });
  }

  it("serves writes, logins and polls while anonymous callers guess an event's password", async () => {
    await serves((n) => gateway.request(`/events/${protectedId}?password=guess-${n}`));
  });

  it('serves writes of authenticated users and polls while clients guess logins', async () => {
    expect((await gateway.request('/events', { headers: headersOf('editor') })).status).to.equal(200);
    newcomers = [];
    isFlood = (url, authorization) => url.includes('users/me') && authorization !== authorizationOf('editor');
    await serves((n) => gateway.request('/events', { headers: { authorization: basic(`user${n}`, 'guess') } }));
  });
});
