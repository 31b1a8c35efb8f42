// What several gateways share through Redis: the counters of limits, and the entries of idempotency keys.

import { createHmac } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible';
import type { Connection } from '../cluster/connection.ts';
import { keysUnavailable } from '../interface/errors.ts';
import {
  type IdempotencyEntry,
  type IdempotencyStore,
  KEY_TTL_MS,
  MAX_KEYS_PER_USER,
} from '../store/idempotency-keys.ts';
import type { SharedCounters } from './client-limits.ts';

interface SharedOptions {
  connection: Connection;
  /** Of every key in Redis. */
  prefix: string;
  /** A password that only the operator's gateways know, or `''`. */
  secret: string;
}

/** The longest that a request waits for a counter in Redis; then the one in memory decides. */
const DEADLINE_MS = 300;

/** While Redis is away each gateway counts in memory. */
export function createSharedCounters({ connection, prefix, secret }: SharedOptions): SharedCounters {
  return {
    hashKey: createHmac('sha256', secret).update(`logins ${prefix}`).digest(),
    count(name, points, duration) {
      // `limiter` counts in memory if Redis refuses, and the wrapper around it if Redis is slow.
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

/**
 * Stores an entry unless the key has one, and returns the existing one. Each user has a limited number of keys: the
 * oldest are deleted. KEYS key keys-of-the-user; ARGV entry ttl-ms now-ms max-keys.
 */
const CLAIM = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('GET', KEYS[1]) end
redis.call('ZADD', KEYS[2], ARGV[3], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
local excess = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if excess > 0 then
  local oldest = redis.call('ZPOPMIN', KEYS[2], excess)
  for i = 1, #oldest, 2 do redis.call('DEL', oldest[i]) end
end
return false
`;

/** Replaces an entry if it is still the old one. KEYS key; ARGV old new. */
const COMPARE_AND_SET = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1
`;

/**
 * The entries of idempotency keys: a retry through another gateway creates no second record. Its methods reject with
 * 503 while Redis is away: a key that only one gateway knows would not prevent a duplicate.
 */
export function createSharedIdempotencyKeys({ connection, prefix }: Omit<SharedOptions, 'secret'>): IdempotencyStore {
  const keyOf = (name: string) => `${prefix}create:${name}`;
  const run: Connection['run'] = (command) =>
    connection.run(command).catch((error: unknown) => {
      throw keysUnavailable(error);
    });

  return {
    async claim(owner, name, entry) {
      const keys = [keyOf(name), keyOf(`of:${owner}`)];
      const args = [JSON.stringify(entry), String(KEY_TTL_MS), String(entry.startedMs), String(MAX_KEYS_PER_USER)];
      return run(async (client) => {
        const known = await client.eval(CLAIM, { keys, arguments: args });
        return known === null ? undefined : (JSON.parse(String(known)) as IdempotencyEntry);
      });
    },
    async compareAndSet(name, old, next) {
      const args = [JSON.stringify(old), JSON.stringify(next)];
      return (await run((client) => client.eval(COMPARE_AND_SET, { keys: [keyOf(name)], arguments: args }))) === 1;
    },
    async set(name, next) {
      const options = { condition: 'XX', expiration: 'KEEPTTL' } as const;
      await run((client) => client.set(keyOf(name), JSON.stringify(next), options));
    },
    async delete(name) {
      await run((client) => client.del(keyOf(name)));
    },
  };
}
