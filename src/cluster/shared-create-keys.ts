// What is known of creates that carried an Idempotency-Key, where several gateways share it through the engine.

import { createClient } from '@redis/client';
import { GatewayError } from '../errors.ts';
import { type CreateKey, type CreateKeys, KEY_KEPT_MS, KEYS_OF_A_USER } from '../replica/create-keys.ts';
import { prefixOf } from './identity.ts';
import { readMessage } from './messages.ts';
import { REPLACE_KEY, TAKE_KEY } from './scripts.ts';

/** The longest that a caller waits for the engine, in milliseconds. */
const DEADLINE_MS = 1000;
const RETRY_MS = 1000;

export interface SharedCreateKeys extends CreateKeys {
  close(): void;
}

/**
 * Connects in the background. Calls reject with 503 while the engine is away: a key that one gateway alone knows would not keep another one
 * from a second record.
 */
export function openSharedCreateKeys({ url, siteUrl }: { url: string; siteUrl: string }): SharedCreateKeys {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: RETRY_MS, connectTimeout: RETRY_MS },
  });
  // The reader of the stream already reports that the engine is unreachable.
  client.on('error', () => {});
  void client.connect().catch(() => {});
  const prefix = `${prefixOf(siteUrl)}create:`;

  async function within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw unavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async take(owner, name, mine) {
      const keys = [`${prefix}${name}`, `${prefix}of:${owner}`];
      const args = [JSON.stringify(mine), String(KEY_KEPT_MS), String(mine.atMs), String(KEYS_OF_A_USER)];
      const known = await within(client.eval(TAKE_KEY, { keys, arguments: args }));
      if (known === null) return undefined;
      try {
        return readMessage<CreateKey>('createKey', known);
      } catch (error) {
        throw unavailable(error);
      }
    },
    async replace(name, old, next) {
      const args = [JSON.stringify(old), JSON.stringify(next)];
      return (await within(client.eval(REPLACE_KEY, { keys: [`${prefix}${name}`], arguments: args }))) === 1;
    },
    async set(name, next) {
      await within(client.set(`${prefix}${name}`, JSON.stringify(next), { condition: 'XX', expiration: 'KEEPTTL' }));
    },
    async drop(name) {
      await within(client.del(`${prefix}${name}`));
    },
    close: () => client.destroy(),
  };
}

const unavailable = (cause: unknown): GatewayError =>
  new GatewayError(
    503,
    'calendar_keys_unavailable',
    'The gateway cannot look up this Idempotency-Key at the moment. Nothing was created. Try again shortly.',
    { headers: { 'Retry-After': '5' }, cause },
  );
