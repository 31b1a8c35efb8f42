// Benchmark of single-flight: a thousand concurrent identical requests, counting computed responses and calls
// to the CMS.

import type { Sandbox } from '../sandbox/start.ts';
import { cmsRequests, type Gateway, startGateway } from './gateway.ts';
import type { LoadResult } from './load-generator.ts';
import { type Load, OVERLOADED_STATUS } from './processes.ts';
import { LIST } from './reads.ts';
import type { Figure } from './report.ts';

const CROWD = 1000;
const UNKNOWN = '/calendar/events/v1/events/987654321';
const ALSO_UNKNOWN = '/calendar/events/v1/events/987654322';

/** Number of responses computed so far (not served from the cache or shared). */
async function computations(gateway: Gateway): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
  const lines = text.matchAll(/^calendar_request_seconds_count\{.*cache="(?:miss|none)".*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

export async function benchSingleFlight(load: Load, sandbox: Sandbox, dir: string): Promise<Figure[]> {
  const gateway = await startGateway(sandbox, dir, 'crowds', { sync: { intervalS: 3600 } });
  const crowd = (path: string) => load.run({ port: gateway.port, path, connections: CROWD, requests: CROWD });
  try {
    const before = await cmsRequests(gateway);
    const listed = await crowd(LIST);
    const [computed, cmsCalls] = [await computations(gateway), (await cmsRequests(gateway)) - before];
    await load.run({ port: gateway.port, path: ALSO_UNKNOWN, connections: 1, requests: 1 });
    const askedByOne = (await cmsRequests(gateway)) - before - cmsCalls;
    const unknown = await crowd(UNKNOWN);
    const askedForUnknown = (await cmsRequests(gateway)) - before - cmsCalls - askedByOne;
    const rejectedOf = (result: LoadResult, status: string): number => {
      const { [status]: served = 0, [OVERLOADED_STATUS]: rejected = 0 } = result.statuses;
      if (served + rejected !== CROWD) throw new Error(JSON.stringify(result));
      return rejected;
    };
    // If another process has the core for a tenth of a second.
    const rejectedTotal = rejectedOf(listed, '200') + rejectedOf(unknown, '404');
    return [
      {
        row: '1,000 concurrent requests: a list',
        server: 'gateway',
        note: `made ${computed} time(s), ${cmsCalls} requests to the CMS, all answered in ${listed.elapsedMs.toFixed(0)} ms`,
        values: {
          crowd_list_computations: computed,
          crowd_list_cms_requests: cmsCalls,
          crowd_list_ms: listed.elapsedMs,
          crowds_refused: rejectedTotal,
        },
      },
      {
        row: '1,000 concurrent requests: an event that is not in the replica',
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
