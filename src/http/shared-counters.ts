// Counters of limits that several gateways share through Redis. While it is away each gateway counts in memory.

import { createHmac } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import type { Connection } from '../cluster/connection.ts';
import type { SharedCounters } from './rate-limit.ts';

export interface SharedCounterOptions {
  connection: Connection;
  /** Of every key in Redis. */
  prefix: string;
  /** A password that only the operator's gateways know, or `''`. */
  secret: string;
}

/** The longest that a request waits for a counter in Redis; then the one in memory decides. */
const DEADLINE_MS = 300;

export function createSharedCounters({ connection, prefix, secret }: SharedCounterOptions): SharedCounters {
  return {
    key: createHmac('sha256', secret).update(`logins ${prefix}`).digest(),
    count(name, points, duration) {
      const inMemory = new RateLimiterMemory({ points, duration });
      const limiter = new RateLimiterRedis({
        storeClient: connection.client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        keyPrefix: `${prefix}${name}`,
        points,
        duration,
        insuranceLimiter: inMemory,
      });
      return new RLWrapperTimeouts({ limiter, timeoutMs: DEADLINE_MS, insuranceLimiter: inMemory });
    },
  };
}
