// `npm run test:overload -- [--only PART OF A NAME]`: five times of what the gateway, or the CMS behind it, can answer; what still gets done, how soon the rest is told, and what follows.

import { parseArgs } from 'node:util';
import { exchange } from '../faults/gateway.ts';
import { as } from '../faults/wordpress.ts';
import { conclude, type Measured, MOUNT, part, report, sleep, startMeasured } from './measuring.ts';
import { closedLoop, type Outcome, openLoop } from './open-loop.ts';

const TIMES = 5;
const FOR_MS = 8000;
/** What the CMS can do: so many workers, each so long at a call. */
const CMS = { workers: 4, serviceMs: 20 };

const EDITOR = `Authorization: ${as('editor')}\r\n`;
const PACKED = 'Accept-Encoding: br, identity;q=0\r\n';
let asked = 0;
const get = (path: string, headers = '') => `GET ${MOUNT}${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
function post(path: string, body: object): string {
  const text = JSON.stringify(body);
  const headers = `${EDITOR}Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  return `POST ${MOUNT}${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${text}`;
}

interface Scenario {
  name: string;
  next: () => string;
  /** Connections that are enough for the most that gets done. */
  connections: number;
  /** How a request fares that is sent alone. */
  probe: { path: string; headers?: Record<string, string> };
}

const scenarios: Scenario[] = [
  {
    name: 'reads that only the CMS can answer',
    next: () => get('/events/2', EDITOR),
    connections: 16,
    probe: { path: '/events/2', headers: { authorization: as('editor') } },
  },
  {
    name: 'writes',
    next: () => post('/events/1', { title: `t${asked++}` }),
    connections: 16,
    probe: { path: '/events/2', headers: { authorization: as('editor') } },
  },
  {
    // Made and packed anew for each: what costs the gateway so much more than whoever asks that five times of it can be sent.
    name: 'answers that cost the gateway itself',
    next: () => get(`/doc?new=${asked++}`, PACKED),
    connections: 16,
    probe: { path: '/events?new=alone' },
  },
];

async function probe({ port }: Measured, { path, headers = {} }: Scenario['probe']): Promise<number> {
  const startMs = performance.now();
  const { status } = await exchange(port, MOUNT + path, { headers });
  return status === 200 ? performance.now() - startMs : Number.POSITIVE_INFINITY;
}

const figures = ({ statuses, failed, unsent }: Outcome): string =>
  `${JSON.stringify(statuses)}, ${failed} broken off, ${unsent} not sent`;

/**
 * Answers with 200 in a second, at most: with connections that always have a request under way, and with so many requests a second
 * whatever becomes of them, from below that figure to well above it. The highest counts.
 */
async function mostOf({ port }: Measured, { next, connections }: Scenario): Promise<number> {
  await closedLoop(port, next, connections, 2000);
  const inTurn = await closedLoop(port, next, connections, 4000);
  let most = inTurn;
  for (const share of [0.9, 1, 1.2, 1.5]) {
    const { goodput } = await openLoop({ port, next, perSecond: inTurn * share, forMs: 3000 });
    most = Math.max(most, goodput);
  }
  return most;
}

/** Milliseconds until three probes in a row are about as quick as before. */
async function recovery(gateway: Measured, asked: Scenario['probe'], boundMs: number): Promise<number> {
  const fromMs = performance.now();
  let quick = 0;
  while (quick < 3 && performance.now() - fromMs < 10_000) {
    quick = (await probe(gateway, asked)) <= boundMs ? quick + 1 : 0;
    if (quick < 3) await sleep(20);
  }
  return performance.now() - fromMs;
}

async function overload(gateway: Measured, scenario: Scenario): Promise<void> {
  const { name, next } = scenario;
  const peak = await mostOf(gateway, scenario);
  await sleep(500);
  let aloneMs = 0;
  for (let n = 0; n < 5; n += 1) aloneMs = Math.max(aloneMs, await probe(gateway, scenario.probe));
  const begun = Promise.withResolvers<void>();
  const begins = begun.resolve;
  const load = openLoop({ port: gateway.port, next, perSecond: peak * TIMES, forMs: FOR_MS, begins });
  // From the last request that is sent, not from the last answer.
  const recovered = begun.promise
    .then(() => sleep(FOR_MS))
    .then(() => recovery(gateway, scenario.probe, 3 * aloneMs + 20));
  const [outcome, recoveredMs] = await Promise.all([load, recovered]);
  console.log(`\n${name}: ${figures(outcome)}`);
  const due = (peak * TIMES * FOR_MS) / 1000;
  const sent = ((due - outcome.unsent) / due) * TIMES;
  report(`${name}: asked`, `${sent.toFixed(1)} times the most`, `at least ${TIMES * 0.9}`, sent >= TIMES * 0.9);
  const share = outcome.goodput / peak;
  const goodput = `${outcome.goodput.toFixed(0)} a second, ${(share * 100).toFixed(0)} % of ${peak.toFixed(0)}`;
  report('  answered', goodput, 'at least 80 %', share >= 0.8);
  const good = outcome.taken['200'] ?? [];
  report('  99 % of these within', `${part(good, 0.99).toFixed(0)} ms`, '2 s', part(good, 0.99) < 2000);
  const refused = outcome.taken['503'] ?? [];
  const quickly = `half within ${part(refused, 0.5).toFixed(0)} ms, 99 % within ${part(refused, 0.99).toFixed(0)} ms`;
  report('  refused (503)', `${refused.length}: ${quickly}`, '99 % within 1 s', part(refused, 0.99) < 1000);
  const { '200': _, '503': __, ...others } = outcome.statuses;
  const isOnly = Object.keys(others).length === 0 && outcome.failed === 0;
  report('  anything else', `${JSON.stringify(others)}, ${outcome.failed} broken off`, 'nothing', isOnly);
  report('  as quick as before after', `${(recoveredMs / 1000).toFixed(2)} s`, '2 s', recoveredMs < 2000);
}

/** Writes of several steps, of which one may be refused: what was made on the way must not stay. */
async function steps(gateway: Measured): Promise<void> {
  const { wordpress } = gateway;
  const of = (base: string) =>
    [...wordpress.posts.values()].filter((post) => post.base === base && post.status !== 'trash');
  const before = { events: of('events').length, venues: of('venues').length };
  const next = () => {
    const name = `made ${asked++}`;
    const dates = { start_date: '2031-01-01 10:00:00', end_date: '2031-01-01 11:00:00' };
    return post('/events', { title: name, ...dates, venue: { venue: `${name} hall` } });
  };
  const perSecond = ((CMS.workers * 1000) / CMS.serviceMs / 2) * TIMES;
  const outcome = await openLoop({ port: gateway.port, next, perSecond, forMs: FOR_MS });
  await sleep(2000);
  const made = { events: of('events').length - before.events, venues: of('venues').length - before.venues };
  console.log(`\nevents with a new venue each: ${figures(outcome)}`);
  const created = outcome.statuses['201'] ?? 0;
  report(
    'events with a new venue each: answered 201',
    `${created} of ${made.events} in the CMS`,
    'equal',
    created === made.events,
  );
  const left = made.venues - made.events;
  report('  venues without an event', `${left}`, '0', left === 0);
}

// Connections that wait for their turn to ask are not what is tried here.
const PATIENT = { headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
const gateway = await startMeasured({ sync: { intervalS: 3600 }, limits: PATIENT });
let working = 0;
const queue: (() => void)[] = [];
gateway.wordpress.before = async () => {
  if (working >= CMS.workers) await new Promise<void>((resolve) => void queue.push(resolve));
  else working += 1;
  await sleep(CMS.serviceMs);
  const next = queue.shift();
  if (next) next();
  else working -= 1;
  return false;
};
const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });
for (const scenario of scenarios.filter(({ name }) => name.includes(options.only))) await overload(gateway, scenario);
if (options.only === '') await steps(gateway);
await gateway.stop();
conclude();
