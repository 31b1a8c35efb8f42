// One connection to Redis or Valkey: it reconnects in the background, and no command waits longer than its deadline.

import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';

/** The longest wait for a reply. */
export const DEADLINE_MS = 500;
const RECONNECT_MS = 1000;
const OPEN_MS = 2000;
/** A connection that stays silent for this long is replaced: Redis was suspended, or the network lost its packets. */
const SILENCE_MS = 3000;
/** An idle connection sends PING, so that the replies break the silence. */
const PING_MS = 1000;

type Client = ReturnType<typeof openClient>;
export type Connection = ReturnType<typeof openConnection>;

function openClient(url: string) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // Otherwise a Redis Enterprise that announces maintenance makes the client wait ten seconds, and not `SILENCE_MS`.
    maintNotifications: 'disabled',
    pingInterval: PING_MS,
    socket: { reconnectStrategy: RECONNECT_MS, connectTimeout: OPEN_MS, socketTimeout: SILENCE_MS },
  });
  // Without a listener the process would end. Each command reports its own failure.
  client.on('error', () => {});
  return client;
}

export function openConnection(url: string) {
  const client = openClient(url);
  // Tries every second while Redis is away or refuses the password, later too. Only `destroy` ends that.
  const connect = () => client.connect().catch(() => {});
  return {
    client,
    /** Resolves once it is open, or after two seconds. */
    opened: Promise.race([connect(), sleep(OPEN_MS, undefined, { ref: false })]),
    /** Rejects at once while Redis is away; and when this command, or an earlier one, has had no reply for its `ms`. */
    async run<T>(command: (client: Client) => Promise<T>, ms = DEADLINE_MS): Promise<T> {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        late.reject(new Error(`no response within ${ms} ms`));
        // A suspended Redis would hold up every later command too: the client waits for a sent one without a deadline.
        // `destroy` rejects all other commands that wait, and so clears their timers: no second one comes here.
        // `connect` tries alone: without a connection the command would have failed at once, so no earlier one tries.
        client.destroy();
        void connect();
      }, ms);
      try {
        return await Promise.race([command(client), late.promise]);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => client.destroy(),
  };
}

/** Why a command failed. Contains no password. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  // Redis quotes an unknown command with its arguments, and those of HELLO contain the password.
  const [text = ''] = reason.split(', with args beginning with');
  return error instanceof ErrorReply ? `Redis refused a command: ${text}` : `Redis does not respond: ${text}`;
}
