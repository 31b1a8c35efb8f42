// One connection to Redis or Valkey: the lock, the change log, Pub/Sub and lists. Each command has a
// deadline; a failed connection is closed.

import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { decodeEntry, MAX_ENTRIES, type StoredEntry } from './change-log-entry.ts';
import { APPEND_ENTRY, CLAIM_LOCK } from './lua-scripts.ts';
import { isEntryId, MalformedMessage } from './messages.ts';

const DELETE_KEYS = 'Delete the keys of this site (docs/scaling.md).';
/** What an operator does about an error reply. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /NOPERM|can't run this command/,
    'Allow the user of CALENDAR_REDIS_URL all commands, and all keys and channels that begin with calendar:.',
  ],
  [/NOAUTH|WRONGPASS/, 'Correct the user and the password in CALENDAR_REDIS_URL.'],
  [/OOM/, 'Give Redis more memory (maxmemory).'],
  [/READONLY|UNBLOCKED/, 'Let CALENDAR_REDIS_URL name the primary, not a replica.'],
  [/WRONGTYPE/, DELETE_KEYS],
];

function unavailableMessage(cause: unknown): string {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof MalformedMessage)
    return `Redis contains a value that no gateway wrote: ${reason}. ${DELETE_KEYS}`;
  if (!(cause instanceof ErrorReply)) return `Redis does not respond: ${reason}`;
  // Redis quotes an unknown command with its arguments, and those of HELLO contain the password.
  const [reply = ''] = reason.split(', with args beginning with');
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(reply)) ?? [];
  return ['Redis refused a command:', reply, remedy && `(${remedy})`].filter(Boolean).join(' ');
}

/** Redis does not respond in time, refuses a command, or contains a value that no gateway wrote. */
export class RedisUnavailable extends Error {
  /** Redis responded: a retry would probably fail in the same way. */
  readonly isRefused: boolean;

  constructor(cause: unknown) {
    super(unavailableMessage(cause));
    this.name = 'RedisUnavailable';
    this.isRefused = cause instanceof ErrorReply || cause instanceof MalformedMessage;
  }
}

export interface LockStatus {
  /** The node that holds the lock, or `''`. */
  holder: string;
  /** The fencing token of the latest acquisition. */
  token: number;
  /** Id of the last entry of the change log. */
  tail: string;
  /** What the holder last published about itself. */
  leaderStatus: string;
}

export type AppendResult = { type: 'ok'; id: string } | { type: 'behind'; tail: string } | { type: 'fenced' };

export interface AppendRequest {
  /** Appends only while the lock is held under this token. */
  token: number | undefined;
  /** Appends only if this is the last entry. */
  expectedTail: string;
  /** The latest id that the writer knows. */
  lastKnownId: string;
  entry: string;
}

/** Every method that fails throws `RedisUnavailable` and closes the connection. */
export interface Redis {
  /** Aborted once the connection is closed. */
  readonly signal: AbortSignal;
  /**
   * Takes the lock if it is free (`take`), looks at it (`watch`), or gives it up (`release`). The holder also renews it
   * by `take` and `watch`, with its status for the others.
   */
  updateLock(mode: 'take' | 'watch' | 'release', leaseMs: number, leaderStatus: string): Promise<LockStatus>;
  append(request: AppendRequest): Promise<AppendResult>;
  /** The existing entries after this id, at most `limit`. */
  readEntries(after: string, limit: number): Promise<StoredEntry[]>;
  /** As `readEntries`, but waits for the first one. Only one call at a time, of this or of `pop`. */
  waitForEntries(after: string, limit: number, waitMs: number): Promise<StoredEntry[]>;
  /** Stores the text if the key has none. Resolves with the stored text. */
  setIfAbsent(name: string, text: string): Promise<string>;
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** Resolves with the new length of the list. */
  push(list: string, bytes: Buffer, ttlMs: number): Promise<number>;
  listLength(list: string): Promise<number>;
  pop(list: string, waitMs: number): Promise<Buffer | undefined>;
  deleteList(list: string): Promise<void>;
  close(): void;
}

export interface RedisOptions {
  url: string;
  prefix: string;
  nodeId: string;
  deadlineMs: number;
}

/** For one connection; the session reconnects as a whole. */
const createSessionClient = (url: string, deadlineMs: number) =>
  createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false, connectTimeout: deadlineMs },
  });

type SessionClient = ReturnType<typeof createSessionClient>;

const RECONNECT_MS = 1000;

/**
 * A client that connects, and reconnects, in the background. Its commands reject while Redis is unavailable,
 * which the session reports.
 */
export function openBackgroundClient(url: string) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: RECONNECT_MS, connectTimeout: RECONNECT_MS },
  });
  client.on('error', () => {});
  void client.connect().catch(() => {});
  return client;
}

/** Rejects if Redis does not reply in time: the client has no deadline for a command that was sent. */
export async function withDeadline<T>(command: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([command, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Connects. Throws `RedisUnavailable`. */
export async function openRedis({ url, prefix, nodeId, deadlineMs }: RedisOptions): Promise<Redis> {
  const closed = new AbortController();
  const { signal } = closed;
  const clients: SessionClient[] = [];
  const key = (name: string) => `${prefix}${name}`;
  const stream = key('stream');
  const lockKeys = [key('lock'), key('fence'), key('tail'), key('leader-status')];
  const logKeys = [key('lock'), key('fence'), key('tail'), stream];

  /** Returns the first failure, which caused all others. */
  function fail(error: unknown): RedisUnavailable {
    if (!signal.aborted) closed.abort(new RedisUnavailable(error));
    for (const client of clients) if (client.isOpen) client.destroy();
    return signal.reason;
  }

  async function run<T>(command: () => Promise<T>, ms = deadlineMs): Promise<T> {
    if (signal.aborted) throw signal.reason;
    try {
      return await withDeadline(command(), ms);
    } catch (error) {
      throw fail(error);
    }
  }

  async function connect(): Promise<SessionClient> {
    const client = createSessionClient(url, deadlineMs);
    client.on('error', fail);
    clients.push(client);
    await run(() => client.connect());
    return client;
  }

  // A blocking read and a subscription each need their own connection.
  const [commands, blocking, subscriber] = await Promise.all([connect(), connect(), connect()]);
  const runScript = async (script: string, keys: string[], args: string[]) =>
    (await run(() => commands.eval(script, { keys, arguments: args }))) as string[];
  type Rows = readonly { id: string; message: Record<string, string> }[];
  const decode = (rows: Rows) => rows.map(({ id, message }) => decodeEntry(id, message));

  return {
    signal,
    async updateLock(mode, leaseMs, statusAsLeader) {
      const flag = { take: '1', watch: '0', release: '-1' }[mode];
      const reply = await runScript(CLAIM_LOCK, lockKeys, [nodeId, String(leaseMs), flag, statusAsLeader]);
      const [holder = '', token = '0', tail = '', leaderStatus = ''] = reply;
      if (!isEntryId(tail)) throw fail(new MalformedMessage('tail', 'is not the id of an entry'));
      // Redis compares tokens as texts: `05` would never match.
      if (String(Number(token)) !== token || !Number.isSafeInteger(Number(token)))
        throw fail(new MalformedMessage('fence', 'is not an integer'));
      return { holder, token: Number(token), tail, leaderStatus };
    },
    async append({ token, expectedTail, lastKnownId, entry }) {
      const args = [nodeId, String(token ?? ''), expectedTail, String(MAX_ENTRIES), lastKnownId, entry];
      const [type, id = ''] = await runScript(APPEND_ENTRY, logKeys, args);
      if (type === 'ok') return { type, id };
      return type === 'behind' ? { type, tail: id } : { type: 'fenced' };
    },
    async readEntries(after, limit) {
      return decode((await run(() => commands.xRange(stream, `(${after}`, '+', { COUNT: limit }))) as Rows);
    },
    async waitForEntries(after, limit, waitMs) {
      const options = { COUNT: limit, BLOCK: waitMs };
      const reply = await run(() => blocking.xRead({ key: stream, id: after }, options), waitMs + deadlineMs);
      const [first] = reply ?? [];
      return decode(first?.messages ?? []);
    },
    async setIfAbsent(name, text) {
      return run(async () => {
        // A Redis without memory refuses the second command, even if the key exists.
        const stored = await commands.get(key(name));
        if (stored !== null) return stored;
        await commands.set(key(name), text, { condition: 'NX' });
        return (await commands.get(key(name))) ?? text;
      });
    },
    async publish(channel, message) {
      await run(() => commands.publish(key(channel), message));
    },
    async subscribe(channel, onMessage) {
      await run(() => subscriber.subscribe(key(channel), (message) => onMessage(message)));
    },
    async push(list, bytes, ttlMs) {
      return run(async () => {
        const length = await commands.rPush(key(list), bytes);
        await commands.pExpire(key(list), ttlMs);
        return Number(length);
      });
    },
    listLength: async (list) => Number(await run(() => commands.lLen(key(list)))),
    async pop(list, waitMs) {
      const binary = blocking.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
      const reply = await run(() => binary.blPop(key(list), waitMs / 1000), waitMs + deadlineMs);
      return (reply as { element: Buffer } | null)?.element;
    },
    async deleteList(list) {
      await run(() => commands.del(key(list)));
    },
    close: () => void fail(new Error('closed')),
  };
}
