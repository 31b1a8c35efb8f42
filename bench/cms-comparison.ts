// Compares the gateway with WordPress's own API for the same records.

import type { Sandbox } from '../sandbox/start.ts';
import type { Gateway } from './gateway.ts';
import { type Load, type Measurement, measure, median, type Server } from './processes.ts';
import { LIST, type ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';

/** The same page of events with embedded references. */
const EMBEDDED = '/wp-json/wp/v2/events?per_page=50&_embed';
/** Number of the site's PHP workers. */
const CONNECTIONS = 4;
/**
 * Requests per turn of the site, about two seconds. A fixed duration would depend too much on the last
 * response.
 */
const REQUESTS = 8;
const TURNS = 24;

export async function compareWithCms(
  load: Load,
  gateway: Gateway,
  sandbox: Sandbox,
  settings: ReadSettings,
): Promise<Figure[]> {
  const port = Number(new URL(sandbox.url).port);
  const site: Server = { name: 'WordPress', port, pids: [], stop: async () => undefined };
  const embedded = { path: EMBEDDED, connections: CONNECTIONS, requests: REQUESTS };
  const stored = { path: LIST, connections: CONNECTIONS, forMs: settings.seconds * 1000 };
  /** The gateway and the site in one turn, when the machine is in the same state. */
  const turns: [Measurement, Measurement][] = [];
  for (let turn = 0; turn < Math.min(TURNS, settings.repeats); turn += 1)
    turns.push([await measure(load, gateway, stored, 200), await measure(load, site, embedded, 200)]);
  const gatewayRate = median(turns.map(([ofGateway]) => ofGateway.perSecond));
  const siteRate = median(turns.map(([, ofSite]) => ofSite.perSecond));
  const times = median(turns.map(([ofGateway, ofSite]) => ofGateway.perSecond / ofSite.perSecond));
  const row = 'list of 50 with embedded references, 4 concurrent';
  return [
    {
      ...{ row, server: 'gateway', perSecond: gatewayRate, note: `${times.toFixed(0)} times wp/v2 with _embed` },
      values: { vs_wp_v2_embed_times: times, list50_4_connections_requests_per_s: gatewayRate },
    },
    {
      ...{ row, server: 'WordPress, wp/v2 with _embed', perSecond: siteRate },
      values: { wp_v2_embed_requests_per_s: siteRate },
    },
  ];
}
