// Whatever the CMS does, each caller of the whole gateway is answered without it, in the interface's words, and no connection is left behind;
// how long that takes is measured by `npm run test:abuse`.

import { expect } from 'chai';
import { until } from '../until.ts';
import { type StandIn, startStandIn } from './cms.ts';
import { askPatiently, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type Answered, type RunningGateway, type Sent, startGateway } from './gateway.ts';
import { type Misbehaviour, misbehaviours, type Outcome } from './misbehaviour.ts';
import { as, basic, markOf, PASSWORD, startWordPress, type WordPressStandIn } from './wordpress.ts';

const DEADLINE_MS = 800;
const CONNECTIONS = 8;
const LIMITS = {
  ...{ connections: CONNECTIONS, connectTimeoutMs: 400, headersTimeoutMs: 500, deadlineMs: DEADLINE_MS },
  ...{ retryDelayMs: 5, halfOpenAfterMs: 1 },
};
const STATUS: Record<Outcome, number> = { fine: 200, away: 503, unknown: 502 };
const CODE: Record<Outcome, string | undefined> = {
  ...{ fine: undefined, away: 'calendar_upstream_away', unknown: 'calendar_outcome_unknown' },
};

describe('a gateway whose CMS misbehaves', () => {
  let wordpress: WordPressStandIn;
  let elsewhere: StandIn;
  let proxy: FaultProxy;
  let gateway: RunningGateway;
  let unheardOf = 0;
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  before(async () => {
    process.on('uncaughtExceptionMonitor', note);
    process.on('unhandledRejection', note);
    wordpress = await startWordPress();
    elsewhere = await startStandIn();
    proxy = await startFaultProxy(wordpress.url);
    const settings = { sync: { intervalS: 3600 }, upstream: { limits: LIMITS } };
    gateway = await startGateway(proxy.url.href, settings, { user: 'admin', password: PASSWORD });
  });
  after(async () => {
    await gateway.stop();
    await proxy.close();
    for (const one of [wordpress, elsewhere]) await one.close();
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
    expect(uncaught).to.deep.equal([]);
  });

  async function ask(path: string, authorization?: string, body?: string): Promise<Answered> {
    const headers = { ...(authorization ? { authorization } : {}), 'content-type': 'application/json' };
    const sent: Sent = body === undefined ? { headers } : { headers, body, method: 'POST' };
    return gateway.ask(path, sent);
  }
  const write = () => ask('/events/1', as('editor'), '{"title":"written"}');
  const draft = () => ask('/events/2', as('editor'));

  /** The CMS is well again, and the breaker knows it. */
  async function recover(): Promise<void> {
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    const isWell = async () => (await draft()).status === 200 && (await write()).status === 200;
    await until(isWell, 'reads and writes work again');
  }

  /** What is answered while the CMS, asked directly at the same time, has not answered yet. */
  async function sooner(answering: () => Promise<Answered>): Promise<Answered> {
    const patient = askPatiently(new URL('wp-json/wp/v2/events/4', proxy.url));
    try {
      const answer = await answering();
      expect(patient.isAnswered(), 'answered by the CMS as well').to.equal(false);
      return answer;
    } finally {
      patient.giveUp();
    }
  }

  async function begin({ does }: Misbehaviour): Promise<void> {
    if ('wire' in does) return proxy.set(does.wire);
    wordpress.before = (_, response, right) => {
      does.says(response, JSON.stringify(right));
      return true;
    };
  }

  function expectOutcome(answer: Answered, outcome: Outcome, retryAfterS?: number): void {
    expect(answer.status, answer.text).to.equal(STATUS[outcome]);
    expect(answer.headers['content-type']).to.equal('application/json; charset=UTF-8');
    const { code, message, data } = JSON.parse(answer.text);
    expect(code).to.equal(CODE[outcome]);
    if (outcome === 'fine') return;
    expect(data.status).to.equal(answer.status);
    if (outcome === 'unknown') expect(message).to.match(/may or may not.*Look at the record/);
    else expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0);
    if (retryAfterS !== undefined) expect(answer.headers['retry-after']).to.equal(String(retryAfterS));
  }

  for (const misbehaviour of misbehaviours(new URL('http://192.0.2.1:1/'))) {
    const { name, hangs, read, write: written, retryAfterS } = misbehaviour;
    describe(`and ${name}`, () => {
      let stored: string;
      const answered = (answering: () => Promise<Answered>) => (hangs ? sooner(answering) : answering());
      before(async () => {
        await recover();
        stored = (await ask('/events')).text;
        const own = misbehaviours(elsewhere.url).find((one) => one.name === name)!;
        await begin(own);
      });

      it('answers public reads as ever, stored and new ones', async () => {
        const asked = () => [proxy.connections, wordpress.seen.length];
        const before = asked();
        const hit = await ask('/events');
        expect({ status: hit.status, text: hit.text }).to.deep.equal({ status: 200, text: stored });
        const fresh = await ask(`/events?per_page=50&never=${unheardOf++}`);
        expect(fresh.status).to.equal(200);
        expect(fresh.text).to.include(markOf(wordpress.posts.get(4)!));
        expect(asked(), 'what the CMS was asked').to.deep.equal(before);
      });

      it(`says of a write: ${written}, and sends it once`, async () => {
        const before = wordpress.writes();
        expectOutcome(await answered(write), written, retryAfterS);
        expect(wordpress.writes() - before).to.be.at.most(1);
      });

      it(`says of what only the CMS can answer: ${read}`, async () => {
        expectOutcome(await answered(draft), read, read === 'fine' ? undefined : retryAfterS);
      });

      it('lets nobody in', async () => {
        const answer = await answered(() => ask('/events/2', basic('editor', `never ${unheardOf++}`)));
        expect(answer.status).to.equal(read === 'fine' ? 401 : 503);
        expect(answer.text).to.not.include(markOf(wordpress.posts.get(2)!));
      });

      it('leaves no connection behind', async () => {
        const most = hangs ? 0 : CONNECTIONS;
        // Sooner than what hangs and drips would have ended by itself.
        await until(
          () => proxy.open <= most,
          () => `at most ${most} connections are open, not ${proxy.open}`,
          2000,
        );
        expect(elsewhere.seen).to.deep.equal([]);
      });
    });
  }

  it('says that it leaves the CMS alone for a while, and asks it nothing', async () => {
    await recover();
    const limits = { ...LIMITS, halfOpenAfterMs: 600_000 };
    const patient = await startGateway(proxy.url.href, { sync: { intervalS: 3600 }, upstream: { limits } });
    try {
      const headers = { authorization: as('editor') };
      const state = async () => /^calendar_breaker_state (\d)$/m.exec((await patient.admin('/metrics')).text)?.[1];
      expect(await state()).to.equal('0');
      await proxy.set({ kind: 'reset', afterBytes: 0 });
      for (let n = 0; n < 5; n += 1) expect((await patient.ask('/events/2', { headers })).status).to.equal(503);
      expect(await state()).to.equal('2');
      const before = proxy.connections;
      const answer = await patient.ask('/events/2', { headers });
      expect([answer.status, Number(answer.headers['retry-after']) > 60]).to.deep.equal([503, true]);
      expect(proxy.connections).to.equal(before);
      expect(patient.log()).to.include('stopped for a while after repeated failures');
      expect((await patient.ask('/events')).status).to.equal(200);
      expect((await patient.admin('/ready')).status).to.equal(200);
    } finally {
      await patient.stop();
    }
  });

  it('waits once, and not with every question, for a CMS that hangs before it has said what its capabilities are called', async () => {
    await recover();
    const cold = await startGateway(proxy.url.href, { sync: { intervalS: 3600 }, upstream: { limits: LIMITS } });
    try {
      const headers = { authorization: as('editor') };
      expect((await cold.ask('/doc', { headers })).status).to.equal(200);
      await proxy.set({ kind: 'silent' });
      expect((await cold.ask('/events/2', { headers })).status).to.equal(503);
      const { text } = await cold.admin('/metrics');
      const failures = [...text.matchAll(/^calendar_upstream_failures_total\{.*\} (\d+)$/gm)].map(([, n]) => Number(n));
      // The names and the record, each with one repetition at most within its time.
      expect(failures.reduce((sum, n) => sum + n, 0)).to.be.within(1, 4);
    } finally {
      await cold.stop();
    }
  });
});
