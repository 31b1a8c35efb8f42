// Calls from one gateway to the leader, and their responses, over Redis Pub/Sub. A lost message times out,
// and the caller tries again.

import { randomUUID } from 'node:crypto';
import type { ChangedRecord } from '../sync/fetch-changed.ts';
import { MalformedMessage, parseMessage } from './messages.ts';
import type { Redis } from './redis.ts';

export type RpcRequest =
  | { type: 'poll' }
  /** A webhook that reached another gateway. */
  | { type: 'fetchChanged'; changes: readonly ChangedRecord[] }
  /** Records that the caller has and the change log lacks, or that it may have in an outdated version. */
  | { type: 'refetch'; keys: readonly string[] }
  /** The caller waits for a snapshot in this Redis list. */
  | { type: 'snapshot'; list: string };

export interface Rpc {
  /** Sends without waiting for a response. Throws `RedisUnavailable`. */
  notify(request: RpcRequest): Promise<void>;
  /**
   * Resolves with the offset of the responding gateway once it is done; undefined if it failed, or if no
   * gateway responded within the time. Throws `RedisUnavailable`.
   */
  call(request: RpcRequest, withinMs: number): Promise<string | undefined>;
}

export interface RpcOptions {
  nodeId: string;
  /** Handles a request: false if that failed, undefined if another gateway has to handle it. */
  handle(request: RpcRequest): Promise<boolean | undefined>;
  currentOffset(): string;
  /** Receives each message that no gateway wrote. */
  reportInvalid(error: unknown): void;
}

/** Subscribes to requests and responses. Throws `RedisUnavailable`. */
export async function openRpc(
  redis: Redis,
  { nodeId, handle, currentOffset, reportInvalid }: RpcOptions,
): Promise<Rpc> {
  const pending = new Map<string, (offset: string | undefined) => void>();

  await redis.subscribe('requests', async (message) => {
    try {
      const { from, id, request } = parseMessage<{ from: string; id: string; request: RpcRequest }>('request', message);
      const isDone = from === nodeId ? undefined : await handle(request);
      if (isDone === undefined) return;
      await redis.publish('responses', JSON.stringify({ id, offset: isDone ? currentOffset() : undefined }));
    } catch (error) {
      // After any other error the caller's time runs out.
      if (error instanceof MalformedMessage) reportInvalid(error);
    }
  });
  await redis.subscribe('responses', (message) => {
    try {
      const { id, offset } = parseMessage<{ id: string; offset?: string }>('response', message);
      pending.get(id)?.(offset);
    } catch (error) {
      reportInvalid(error);
    }
  });

  const send = (request: RpcRequest, id: string) =>
    redis.publish('requests', JSON.stringify({ from: nodeId, id, request }));

  return {
    notify: (request) => send(request, ''),
    async call(request, withinMs) {
      const id = randomUUID();
      let timer: NodeJS.Timeout | undefined;
      const response = new Promise<string | undefined>((resolve) => {
        pending.set(id, resolve);
        timer = setTimeout(() => resolve(undefined), withinMs);
      });
      try {
        await send(request, id);
        return await response;
      } finally {
        clearTimeout(timer);
        pending.delete(id);
      }
    },
  };
}
