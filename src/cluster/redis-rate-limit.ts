// Rate limit counters that all gateways share through Redis; while Redis is unavailable each gateway counts
// in memory.

import { createHmac } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import { keyPrefix } from './compatibility.ts';
import { openBackgroundClient } from './redis.ts';

export interface RedisRateLimitOptions {
  url: string;
  siteUrl: string;
  /** A password that only the operator's gateways know, or `''`. */
  secret: string;
}

/** The longest that a request waits for Redis; then the counter in memory decides. */
const DEADLINE_MS = 300;

/**
 * Connects in the background. Implements `SharedCounters` of `http/rate-limit.ts`, which this layer cannot
 * import.
 */
export function openRedisRateLimit({ url, siteUrl, secret }: RedisRateLimitOptions) {
  const client = openBackgroundClient(url);
  const prefix = keyPrefix(siteUrl);

  return {
    /** For keyed hashes that are the same in every gateway of the site. */
    key: createHmac('sha256', secret).update(`logins ${siteUrl}`).digest(),
    /** A counter by name: `points` within `duration` seconds. */
    count(name: string, points: number, duration: number): RLWrapperTimeouts {
      const inMemory = new RateLimiterMemory({ points, duration });
      const limiter = new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        keyPrefix: `${prefix}${name}`,
        points,
        duration,
        insuranceLimiter: inMemory,
      });
      return new RLWrapperTimeouts({ limiter, timeoutMs: DEADLINE_MS, insuranceLimiter: inMemory });
    },
    close: () => client.destroy(),
  };
}
