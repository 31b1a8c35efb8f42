// A thousand identical requests at once on a gateway that has answered none: how often the answer is made, and how often the CMS is asked.

import type { Sandbox } from '../sandbox/start.ts';
import type { LoadResult } from './load.ts';
import { type Load, REFUSED } from './processes.ts';
import { LIST } from './reads.ts';
import type { Figure } from './report.ts';
import { cmsRequests, type Gateway, startGateway } from './site.ts';

const CROWD = 1000;
const UNKNOWN = '/calendar/events/v1/events/987654321';
const ALSO_UNKNOWN = '/calendar/events/v1/events/987654322';

/** How many answers were made, of all that were given so far. */
async function computations(gateway: Gateway): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
  const lines = text.matchAll(/^calendar_request_seconds_count\{.*cache="(?:miss|none)".*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

export async function crowds(load: Load, sandbox: Sandbox, dir: string): Promise<Figure[]> {
  const gateway = await startGateway(sandbox, dir, 'crowds', { sync: { intervalS: 3600 } });
  const crowd = (path: string) => load.run({ port: gateway.port, path, connections: CROWD, requests: CROWD });
  try {
    const before = await cmsRequests(gateway);
    const listed = await crowd(LIST);
    const [made, asked] = [await computations(gateway), (await cmsRequests(gateway)) - before];
    await load.run({ port: gateway.port, path: ALSO_UNKNOWN, connections: 1, requests: 1 });
    const askedByOne = (await cmsRequests(gateway)) - before - asked;
    const unknown = await crowd(UNKNOWN);
    const askedForUnknown = (await cmsRequests(gateway)) - before - asked - askedByOne;
    const refusedOf = (result: LoadResult, status: string): number => {
      const { [status]: answered = 0, [REFUSED]: refused = 0 } = result.statuses;
      if (answered + refused !== CROWD) throw new Error(JSON.stringify(result));
      return refused;
    };
    // Where something else has the core for a tenth of a second.
    const refused = refusedOf(listed, '200') + refusedOf(unknown, '404');
    return [
      {
        row: '1,000 at once: a list',
        server: 'gateway',
        note: `made ${made} time(s), ${asked} requests to the CMS, all answered in ${listed.elapsedMs.toFixed(0)} ms`,
        values: {
          crowd_list_computations: made,
          crowd_list_cms_requests: asked,
          crowd_list_ms: listed.elapsedMs,
          crowds_refused: refused,
        },
      },
      {
        row: '1,000 at once: an event that is not in the copy',
        server: 'gateway',
        note: `${askedForUnknown} requests to the CMS, ${askedByOne} for one alone, all answered in ${unknown.elapsedMs.toFixed(0)} ms`,
        values: {
          crowd_unknown_cms_requests: askedForUnknown,
          crowd_unknown_to_one_alone_ratio: askedForUnknown / askedByOne,
          crowd_unknown_ms: unknown.elapsedMs,
        },
      },
    ];
  } finally {
    await gateway.stop();
  }
}
