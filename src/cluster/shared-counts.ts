// Counts that several gateways share through the engine: rate-limiter-flexible's Redis store, and memory while the engine is away.

import { createHmac } from 'node:crypto';
import { createClient } from '@redis/client';
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import { prefixOf } from './identity.ts';

export interface SharedCounts {
  /** A count by name: `points` within `durationS`. */
  count(name: string, points: number, durationS: number): Pick<RateLimiterMemory, 'get' | 'set' | 'penalty' | 'delete'>;
  /** Makes keyed hashes that every gateway before this site makes alike. */
  key: Buffer;
  close(): void;
}

export interface SharedCountsOptions {
  url: string;
  siteUrl: string;
  /** What only the operator's gateways know, where there is such a thing: a password of theirs. */
  secret: string;
}

/** A caller waits no longer for the engine; from then on its own memory counts. */
const DEADLINE_MS = 300;
const RETRY_MS = 1000;

/** Connects in the background: until then, and while the engine is away, each gateway counts for itself. */
export function openSharedCounts({ url, siteUrl, secret }: SharedCountsOptions): SharedCounts {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: RETRY_MS, connectTimeout: RETRY_MS },
  });
  // That the engine is away is told by what follows the stream.
  client.on('error', () => {});
  void client.connect().catch(() => {});
  const prefix = prefixOf(siteUrl);

  return {
    key: createHmac('sha256', secret).update(`logins ${siteUrl}`).digest(),
    count(name, points, duration) {
      const alone = new RateLimiterMemory({ points, duration });
      const limiter = new RateLimiterRedis({
        ...{ storeClient: client, useRedisPackage: true, rejectIfRedisNotReady: true },
        ...{ keyPrefix: `${prefix}${name}`, points, duration, insuranceLimiter: alone },
      });
      return new RLWrapperTimeouts({ limiter, timeoutMs: DEADLINE_MS, insuranceLimiter: alone });
    },
    close: () => client.destroy(),
  };
}
