// The gateway beside the site itself: the same records asked of WordPress's own interface, and through a plain proxy.

import type { Sandbox } from '../sandbox/start.ts';
import { freePort } from '../test/free-port.ts';
import { type Load, measure, median, type Server, startRival } from './processes.ts';
import { LIST, type ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';
import type { Gateway } from './site.ts';

/** The same page of events with what they refer to nested. */
const EMBEDDED = '/wp-json/wp/v2/events?per_page=50&_embed';
/** As many as the site's PHP has workers. */
const CONNECTIONS = 4;
const LEAST_MS = 4000;

export async function upstream(
  load: Load,
  gateway: Gateway,
  sandbox: Sandbox,
  settings: ReadSettings,
): Promise<Figure[]> {
  const port = Number(new URL(sandbox.url).port);
  const proxy = await startRival('pass-through', await freePort(), sandbox.url);
  const site: Server = { name: 'WordPress', port, pids: [], stop: async () => undefined };
  const forMs = Math.max(LEAST_MS, settings.seconds * 1000);
  const task = (path: string) => ({ path, connections: CONNECTIONS, forMs });
  try {
    const [own, through, direct] = [[], [], []] as number[][];
    let proxyCpuUs = 0;
    for (let turn = 0; turn < Math.min(3, settings.repeats); turn += 1) {
      own!.push((await measure(load, gateway, task(LIST), 200)).perSecond);
      const passed = await measure(load, proxy, task(EMBEDDED), 200);
      through!.push(passed.perSecond);
      proxyCpuUs = passed.cpuUs;
      direct!.push((await measure(load, site, task(EMBEDDED), 200)).perSecond);
    }
    const [gatewayRate, proxyRate, siteRate] = [median(own!), median(through!), median(direct!)];
    const times = gatewayRate / siteRate;
    const row = 'list of 50 with everything nested, 4 at once';
    return [
      {
        ...{ row, server: 'gateway', perSecond: gatewayRate, note: `${times.toFixed(0)} times wp/v2 with _embed` },
        values: { vs_wp_v2_embed_times: times, list50_4_connections_requests_per_s: gatewayRate },
      },
      {
        ...{ row, server: 'pass-through of wp/v2', perSecond: proxyRate, cpuUs: proxyCpuUs },
        values: { vs_pass_through_times: gatewayRate / proxyRate, pass_through_requests_per_s: proxyRate },
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
