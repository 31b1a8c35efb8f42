// The entries of idempotency keys, which all gateways share through Redis: a retry through another gateway
// creates no second record.

import { ApiError } from '../errors.ts';
import {
  type IdempotencyEntry,
  type IdempotencyStore,
  KEY_TTL_MS,
  MAX_KEYS_PER_USER,
} from '../store/idempotency-keys.ts';
import { keyPrefix } from './compatibility.ts';
import { CLAIM_KEY, COMPARE_AND_SET_KEY } from './lua-scripts.ts';
import { parseMessage } from './messages.ts';
import { openBackgroundClient, withDeadline } from './redis.ts';

/** The longest that a request waits for Redis. */
const DEADLINE_MS = 1000;

export interface RedisIdempotencyStore extends IdempotencyStore {
  close(): void;
}

/**
 * Connects in the background. Methods reject with 503 while Redis is unavailable: a key that only one gateway
 * knows would not prevent a duplicate through another.
 */
export function openRedisIdempotencyStore({ url, siteUrl }: { url: string; siteUrl: string }): RedisIdempotencyStore {
  const client = openBackgroundClient(url);
  const prefix = `${keyPrefix(siteUrl)}create:`;

  async function run<T>(command: Promise<T>): Promise<T> {
    try {
      return await withDeadline(command, DEADLINE_MS);
    } catch (error) {
      throw unavailable(error);
    }
  }

  return {
    async claim(owner, name, entry) {
      const keys = [`${prefix}${name}`, `${prefix}of:${owner}`];
      const args = [JSON.stringify(entry), String(KEY_TTL_MS), String(entry.startedMs), String(MAX_KEYS_PER_USER)];
      const existing = await run(client.eval(CLAIM_KEY, { keys, arguments: args }));
      if (existing === null) return undefined;
      try {
        return parseMessage<IdempotencyEntry>('idempotencyEntry', existing);
      } catch (error) {
        throw unavailable(error);
      }
    },
    async compareAndSet(name, old, next) {
      const args = [JSON.stringify(old), JSON.stringify(next)];
      const reply = client.eval(COMPARE_AND_SET_KEY, { keys: [`${prefix}${name}`], arguments: args });
      return (await run(reply)) === 1;
    },
    async set(name, next) {
      const options = { condition: 'XX', expiration: 'KEEPTTL' } as const;
      await run(client.set(`${prefix}${name}`, JSON.stringify(next), options));
    },
    async nowMs() {
      const [seconds, microseconds] = await run(client.time());
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    },
    async delete(name) {
      await run(client.del(`${prefix}${name}`));
    },
    close: () => client.destroy(),
  };
}

const unavailable = (cause: unknown): ApiError =>
  new ApiError(
    503,
    'calendar_keys_unavailable',
    'The gateway cannot look up this Idempotency-Key at the moment. Nothing was created. Try again shortly.',
    { headers: { 'Retry-After': '5' }, cause },
  );
