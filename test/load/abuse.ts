// `npm run test:abuse`: floods, worst-case inputs, and a CMS with every fault.

import { cmsFailures } from '../faults/cms-failures.ts';
import { authorization, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { startFaultProxy } from '../faults/fault-proxy.ts';
import { scriptOptions } from '../script-options.ts';
import { startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { floods } from './floods.ts';
import { exitWithResult, report } from './measured-gateway.ts';
import { worstInputs } from './worst-inputs.ts';

const options = scriptOptions(
  `npm run test:abuse -- [options]

Floods a gateway in front of a fake WordPress from one address (pipelined requests, bodies in tiny pieces), sends the worst values of each
parameter, and then requests while that WordPress has every fault. Needs nothing else. Takes two minutes. Fails for an event loop that blocks
too long, memory that a flood takes, a 5xx, and a late response.`,
  {
    only: {
      type: 'string',
      value: 'PART',
      choices: ['worst-inputs', 'faults'],
      help: 'worst-inputs, with floods, or faults (default: both)',
    },
    'stall-ms': { type: 'string', value: 'N', default: '50', help: 'how long an input may block the event loop' },
  },
);
const DEADLINE_MS = 1000;
/** A write whose outcome is unknown waits so long at most for its poll. */
const POLL_WAIT_MS = 3000;

/** Latency with a failing CMS, each failure twice: a read that needs the CMS, and a write. */
async function faults(): Promise<void> {
  const wordpress = await startFakeWordPress();
  const proxy = await startFaultProxy(wordpress.url);
  const limits = {
    connectTimeoutMs: 500,
    headersTimeoutMs: 600,
    deadlineMs: DEADLINE_MS,
    retryDelayMs: 5,
    halfOpenAfterMs: 1,
  };
  const settings = { sync: { intervalS: 3600 }, upstream: { limits } };
  const gateway = await startGateway({
    transport: 'socket',
    cmsUrl: proxy.url.href,
    config: settings,
    service: { user: 'admin', password: PASSWORD },
  });
  const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
  const kinds = {
    stored: () => gateway.request('/events'),
    new: () => gateway.request(`/events?new=${Math.random()}`),
    read: () => gateway.request('/events/2', { headers }),
    write: () => gateway.request('/events/1', { headers, method: 'POST', body: '{"title":"x"}' }),
  };
  const worst: Record<string, { ms: number; name: string }> = {};
  const all = cmsFailures(new URL('http://192.0.2.1/'));
  for (const { name, fault } of all) {
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    await until(async () => (await kinds.read()).status === 200, 'the CMS answers again');
    if ('wire' in fault) await proxy.set(fault.wire);
    else
      wordpress.before = (_, response, valid) => {
        fault.respond(response, JSON.stringify(valid));
        return true;
      };
    for (const [kind, ask] of Object.entries(kinds)) {
      const startMs = performance.now();
      await ask();
      const ms = performance.now() - startMs;
      if (ms > (worst[kind]?.ms ?? 0)) worst[kind] = { ms, name };
    }
  }
  const waitMs: Record<string, number> = { read: DEADLINE_MS, write: DEADLINE_MS + POLL_WAIT_MS };
  for (const [kind, { ms, name }] of Object.entries(worst)) {
    const boundMs = (waitMs[kind] ?? 0) + 200;
    const title = `the slowest ${kind} answer of ${all.length} misbehaviours (deadline of a call ${DEADLINE_MS} ms)`;
    report(title, `${ms.toFixed(0)} ms, when it ${name}`, `below ${boundMs} ms`, ms < boundMs);
  }
  await gateway.stop();
  await proxy.close();
  await wordpress.close();
}

const { only } = options;
const stallMs = Number(options['stall-ms']);
if (only !== 'faults') {
  await floods(stallMs);
  await worstInputs(stallMs);
}
if (only !== 'worst-inputs') await faults();
exitWithResult();
