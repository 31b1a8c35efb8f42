// Compares the gateway with WordPress's own API for the same records, directly and through a plain proxy.

import type { Sandbox } from '../sandbox/start.ts';
import { freePort } from '../test/free-port.ts';
import type { Gateway } from './gateway.ts';
import { type Load, type Measurement, measure, median, type Server, startBaseline } from './processes.ts';
import { LIST, type ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';

/** The same page of events with embedded references. */
const EMBEDDED = '/wp-json/wp/v2/events?per_page=50&_embed';
/** Number of the site's PHP workers. */
const CONNECTIONS = 4;
/**
 * Requests per turn of site and proxy, about two seconds. A fixed duration would depend too much on the last
 * response.
 */
const REQUESTS = 8;
const TURNS = 24;
/** The proxy, as slow as the site, is measured in every third turn. */
const PROXY_EVERY = 3;

export async function compareWithCms(
  load: Load,
  gateway: Gateway,
  sandbox: Sandbox,
  settings: ReadSettings,
): Promise<Figure[]> {
  const port = Number(new URL(sandbox.url).port);
  const proxy = await startBaseline('pass-through', await freePort(), sandbox.url);
  const site: Server = { name: 'WordPress', port, pids: [], stop: async () => undefined };
  const embedded = { path: EMBEDDED, connections: CONNECTIONS, requests: REQUESTS };
  const stored = { path: LIST, connections: CONNECTIONS, forMs: settings.seconds * 1000 };
  try {
    const [throughGateway, through, direct]: Measurement[][] = [[], [], []];
    /** Compares within one turn, when the machine is in the same state. */
    const [timesDirect, timesThrough]: number[][] = [[], []];
    for (let turn = 0; turn < Math.min(TURNS, settings.repeats); turn += 1) {
      const [ofGateway, ofSite] = [await measure(load, gateway, stored, 200), await measure(load, site, embedded, 200)];
      throughGateway!.push(ofGateway);
      direct!.push(ofSite);
      timesDirect!.push(ofGateway.perSecond / ofSite.perSecond);
      if (turn % PROXY_EVERY > 0) continue;
      const passed = await measure(load, proxy, embedded, 200);
      through!.push(passed);
      timesThrough!.push(ofGateway.perSecond / passed.perSecond);
    }
    const rate = (turns: Measurement[]) => median(turns.map(({ perSecond }) => perSecond));
    const [gatewayRate, proxyRate, siteRate] = [rate(throughGateway!), rate(through!), rate(direct!)];
    const proxyCpuUs = median(through!.map(({ cpuUs }) => cpuUs));
    const times = median(timesDirect!);
    const row = 'list of 50 with embedded references, 4 concurrent';
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
