// Shows with a CMS that holds on to what one caller asks for that others' writes and logins, and the sync, are answered all the same.

import { expect } from 'chai';
import { until } from '../until.ts';
import { answerJson } from './cms.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { as, basic, PASSWORD, startWordPress, type User, type WordPressStandIn } from './wordpress.ts';

/** At once: more than all connections and queues to the CMS hold together. */
const FLOOD = 400;
/** What the flood makes the gateway ask of the CMS. */
const CAUSED = /unknown-|\/90\d{5}|=90\d{5}|per_page=20&|password=guess/;

describe('a CMS that is flooded through the gateway', () => {
  let wordpress: WordPressStandIn;
  let gateway: RunningGateway;
  let protectedId: number;
  let held: (() => void)[];
  let isHeld: boolean;
  let isFlood: (url: string, authorization: string | undefined) => boolean;
  let newcomers: User[];

  beforeEach(async () => {
    [held, isHeld] = [[], true];
    newcomers = ['author', 'author2'];
    isFlood = (url) => CAUSED.test(url);
    wordpress = await startWordPress();
    const locked = [...wordpress.posts.values()].find(({ base, status }) => base === 'events' && status === 'publish')!;
    locked.password = 'right';
    protectedId = locked.id;
    const settings = { sync: { intervalS: 1 }, limits: { overloadMs: 60_000 } };
    gateway = await startGateway(wordpress.url.href, settings, { user: 'admin', password: PASSWORD });
    wordpress.before = (request, response) => {
      if (!isFlood(request.url ?? '', request.headers.authorization)) return false;
      const answer = () =>
        answerJson(response, 404, { code: 'rest_post_invalid_id', message: 'No.', data: { status: 404 } });
      if (isHeld) held.push(answer);
      else answer();
      return true;
    };
  });
  afterEach(async () => {
    await gateway.stop();
    await wordpress.close();
  });

  const headersOf = (user: User) => ({ authorization: as(user), 'content-type': 'application/json' });

  /** Floods the gateway, whose calls the CMS does not answer until everybody else has been served; gives the statuses of the flood. */
  async function serves(flood: (n: number) => Promise<{ status: number }>): Promise<number[]> {
    const flooding = Array.from({ length: FLOOD }, async (_, n) => (await flood(n)).status);
    await until(() => held.length > 0, 'the flood has reached the CMS');
    const dates = { start_date: '2031-01-01 10:00', end_date: '2031-01-01 11:00' };
    for (let n = 0; n < 5; n += 1) {
      const body = JSON.stringify({ title: `made ${n}`, ...dates });
      const made = await gateway.ask('/events', { method: 'POST', headers: headersOf('editor'), body });
      expect(made.status, made.text).to.equal(201);
    }
    for (const user of newcomers)
      expect((await gateway.ask('/events', { headers: headersOf(user) })).status, user).to.equal(200);
    const before = wordpress.seen.length;
    const isPolled = () => wordpress.seen.slice(before).some(({ url }) => /orderby=modified.*per_page=100/.test(url));
    await until(isPolled, 'the sync polls the CMS');
    const { state, reason } = JSON.parse((await gateway.admin('/status')).text);
    expect(state, reason).to.equal('live');
    isHeld = false;
    for (const answer of held) answer();
    return Promise.all(flooding);
  }

  for (const [what, pathOf] of Object.entries({
    'unknown ids': (n: number) => `/events/${9_000_000 + n}`,
    'unknown slugs': (n: number) => `/venues/by-slug/unknown-${n}`,
    'events of unknown terms': (n: number) => `/events?categories=${9_000_000 + n}`,
    'events of unknown venues': (n: number) => `/events?venue=${9_000_000 + n}`,
  })) {
    it(`accepts writes and logins and is polled while anonymous callers ask for ${what}`, async () => {
      const statuses = await serves((n) => gateway.ask(pathOf(n)));
      for (const status of statuses) expect(status).to.be.oneOf([400, 404]);
      const caused = wordpress.seen.filter(({ url }) => CAUSED.test(url) || url.includes('search?'));
      expect(caused.length).to.be.at.most(20);
    });
  }

  it('accepts writes and logins and is polled while anonymous callers guess the password of an event', async () => {
    await serves((n) => gateway.ask(`/events/${protectedId}?password=guess-${n}`));
  });

  it('accepts writes of those who are known and is polled while everybody guesses at logins', async () => {
    expect((await gateway.ask('/events', { headers: headersOf('editor') })).status).to.equal(200);
    newcomers = [];
    isFlood = (url, authorization) => url.includes('users/me') && authorization !== as('editor');
    await serves((n) => gateway.ask('/events', { headers: { authorization: basic(`user${n}`, 'guess') } }));
  });

  it('accepts writes and logins of others and is polled while one account asks for unknown ids', async () => {
    const headers = headersOf('subscriber');
    expect((await gateway.ask('/events', { headers })).status).to.equal(200);
    await serves((n) => gateway.ask(`/events/${9_000_000 + n}`, { headers }));
  });
});
