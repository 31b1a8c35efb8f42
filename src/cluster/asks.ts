// What gateways ask of the one that asks the CMS, and its answers, over the engine's Pub/Sub: what is lost there is asked again.

import { randomUUID } from 'node:crypto';
import type { Engine } from './engine.ts';
import { Malformed, readMessage } from './messages.ts';

export type Ask =
  | { type: 'look' }
  /** A change notice that reached another gateway. */
  | { type: 'changed'; changes: readonly { collection: string; id: number }[] }
  /** Records that a gateway has otherwise than the stream says. */
  | { type: 'read'; keys: readonly string[] }
  /** A copy is to be handed over in this list. */
  | { type: 'copy'; list: string };

export interface Asks {
  /** Asks without waiting. Throws `EngineAway`. */
  tell(ask: Ask): Promise<void>;
  /** Resolves with the entry that the stream ended with when it was done; undefined when it failed or nobody did it within the time. Throws `EngineAway`. */
  ask(ask: Ask, withinMs: number): Promise<string | undefined>;
}

export interface AsksOptions {
  me: string;
  /** Does it: false when that failed, undefined when it is for another gateway. */
  asked(ask: Ask): Promise<boolean | undefined>;
  at(): string;
  /** Told of a message that is none of a gateway. */
  ignored(error: unknown): void;
}

/** Listens to the others. Throws `EngineAway`. */
export async function openAsks(engine: Engine, { me, asked, at, ignored }: AsksOptions): Promise<Asks> {
  const waiting = new Map<string, (at: string | undefined) => void>();

  await engine.subscribe('asks', async (message) => {
    try {
      const { from, nonce, ask } = readMessage<{ from: string; nonce: string; ask: Ask }>('ask', message);
      const isDone = from === me ? undefined : await asked(ask);
      if (isDone !== undefined)
        await engine.publish('told', JSON.stringify({ nonce, ...(isDone ? { at: at() } : {}) }));
    } catch (error) {
      if (error instanceof Malformed) ignored(error);
      // Whoever asked waits for a limited time, and asks again where it matters.
    }
  });
  await engine.subscribe('told', (message) => {
    try {
      const { nonce, at: theirs } = readMessage<{ nonce: string; at?: string }>('told', message);
      waiting.get(nonce)?.(theirs);
    } catch (error) {
      ignored(error);
    }
  });

  const send = (ask: Ask, nonce: string) => engine.publish('asks', JSON.stringify({ from: me, nonce, ask }));

  return {
    tell: (ask) => send(ask, ''),
    async ask(ask, withinMs) {
      const nonce = randomUUID();
      let timer: NodeJS.Timeout | undefined;
      const told = new Promise<string | undefined>((resolve) => {
        waiting.set(nonce, resolve);
        timer = setTimeout(() => resolve(undefined), withinMs);
      });
      try {
        await send(ask, nonce);
        return await told;
      } finally {
        clearTimeout(timer);
        waiting.delete(nonce);
      }
    },
  };
}
