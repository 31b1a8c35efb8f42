// The gateway beside the site itself: the same records asked of WordPress's own interface, and through a plain proxy.

import type { Sandbox } from '../sandbox/start.ts';
import { freePort } from '../test/free-port.ts';
import { type Load, type Measured, measure, median, type Server, startRival } from './processes.ts';
import { LIST, type ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';
import type { Gateway } from './site.ts';

/** The same page of events with what they refer to nested. */
const EMBEDDED = '/wp-json/wp/v2/events?per_page=50&_embed';
/** As many as the site's PHP has workers. */
const CONNECTIONS = 4;
/** Each turn of the site and of the proxy: two seconds. A number and not a time, of which the last answer would be a good part. */
const REQUESTS = 8;
const TURNS = 24;
/** The proxy, which takes as long as the site, is measured in every third. */
const PROXY_EVERY = 3;

export async function upstream(
  load: Load,
  gateway: Gateway,
  sandbox: Sandbox,
  settings: ReadSettings,
): Promise<Figure[]> {
  const port = Number(new URL(sandbox.url).port);
  const proxy = await startRival('pass-through', await freePort(), sandbox.url);
  const site: Server = { name: 'WordPress', port, pids: [], stop: async () => undefined };
  const embedded = { path: EMBEDDED, connections: CONNECTIONS, requests: REQUESTS };
  const stored = { path: LIST, connections: CONNECTIONS, forMs: settings.seconds * 1000 };
  try {
    const [own, through, direct]: Measured[][] = [[], [], []];
    /** Turn by turn: the machine is the same one then. */
    const [timesDirect, timesThrough]: number[][] = [[], []];
    for (let turn = 0; turn < Math.min(TURNS, settings.repeats); turn += 1) {
      const [here, there] = [await measure(load, gateway, stored, 200), await measure(load, site, embedded, 200)];
      own!.push(here);
      direct!.push(there);
      timesDirect!.push(here.perSecond / there.perSecond);
      if (turn % PROXY_EVERY > 0) continue;
      const passed = await measure(load, proxy, embedded, 200);
      through!.push(passed);
      timesThrough!.push(here.perSecond / passed.perSecond);
    }
    const rate = (turns: Measured[]) => median(turns.map(({ perSecond }) => perSecond));
    const [gatewayRate, proxyRate, siteRate] = [rate(own!), rate(through!), rate(direct!)];
    const proxyCpuUs = median(through!.map(({ cpuUs }) => cpuUs));
    const times = median(timesDirect!);
    const row = 'list of 50 with everything nested, 4 at once';
    return [
      {
        ...{ row, server: 'gateway', perSecond: gatewayRate, note: `${times.toFixed(0)} times wp/v2 with _embed` },
        values: { vs_wp_v2_embed_times: times, list50_4_connections_requests_per_s: gatewayRate },
      },
      {
        ...{ row, server: 'pass-through of wp/v2', perSecond: proxyRate, cpuUs: proxyCpuUs },
        values: { vs_pass_through_times: median(timesThrough!), pass_through_requests_per_s: proxyRate },
      },
      {
        ...{ row, server: 'WordPress, wp/v2 with _embed', perSecond: siteRate },
        values: { wp_v2_embed_requests_per_s: siteRate },
      },
    ];
  } finally {
    await proxy.stop();
  }
}
