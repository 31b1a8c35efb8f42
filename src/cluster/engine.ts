// One session with the engine (Redis or Valkey): what the gateways keep there, each command with a deadline. A session that failed is over.

import { createClient, RESP_TYPES } from '@redis/client';
import { decodeEntry, MAX_ENTRIES, millisecondsOf, type Placed } from './entries.ts';
import { isEntryId } from './messages.ts';
import { APPEND, CLAIM } from './scripts.ts';

/** The engine did not answer, or not in time. */
export class EngineAway extends Error {
  constructor(cause: unknown) {
    super(`the engine does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'EngineAway';
  }
}

export interface Claim {
  /** Who holds the lock, or `''`. */
  holder: string;
  /** Number of the lock that was taken last. */
  token: number;
  /** Id of the last entry. */
  tail: string;
  /** What the holder says of its copy. */
  word: string;
}

export type Appended = { type: 'ok'; id: string } | { type: 'behind'; tail: string } | { type: 'fenced' };

export interface Append {
  /** Only while the lock is held under this number. */
  token: number | undefined;
  /** Only when this is the last entry; `*`: in any case. */
  expected: string;
  /** The latest id that the writer knows. */
  known: string;
  entry: string;
}

/** What may fail throws `EngineAway`, and ends the session. */
export interface Engine {
  /** Aborted when the session is over. */
  readonly signal: AbortSignal;
  claim(wants: 'take' | 'watch' | 'release', leaseMs: number, word: string): Promise<Claim>;
  append(append: Append): Promise<Appended>;
  /** Entries after this one, as many as are there up to `limit`. */
  range(after: string, limit: number): Promise<Placed[]>;
  /** The same, waiting for the first. Only one call at a time, of this or of `pop`. */
  follow(after: string, limit: number, waitMs: number): Promise<Placed[]>;
  /** Keeps a text unless there is one, and gives the one that is kept. */
  agree(name: string, text: string): Promise<string>;
  publish(channel: string, message: string): Promise<void>;
  subscribe(channel: string, heard: (message: string) => void): Promise<void>;
  /** Length of the list then. */
  push(list: string, bytes: Buffer, keepMs: number): Promise<number>;
  listLength(list: string): Promise<number>;
  pop(list: string, waitMs: number): Promise<Buffer | undefined>;
  drop(list: string): Promise<void>;
  close(): void;
}

export interface EngineOptions {
  url: string;
  /** Before every key; in braces, so that they lie together where the engine is several machines ("Redis cluster specification", hash tags). */
  prefix: string;
  me: string;
  /** Longest wait for an answer. */
  deadlineMs: number;
}

type Client = ReturnType<typeof clientOf>;

function clientOf(url: string, deadlineMs: number) {
  return createClient({
    url,
    RESP: 3,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // A failed session is begun anew as a whole, by whoever uses it.
    socket: { reconnectStrategy: false, connectTimeout: deadlineMs },
  });
}

/** Connects. Throws `EngineAway`. */
export async function openEngine({ url, prefix, me, deadlineMs }: EngineOptions): Promise<Engine> {
  const over = new AbortController();
  const { signal } = over;
  const clients: Client[] = [];
  const key = (name: string) => `${prefix}${name}`;
  const [lock, fence, tail, word, stream] = ['lock', 'fence', 'tail', 'word', 'stream'].map(key) as [
    ...[string, string, string, string, string],
  ];

  function fail(error: unknown): EngineAway {
    if (!signal.aborted) over.abort(error);
    for (const client of clients) if (client.isOpen) client.destroy();
    return error instanceof EngineAway ? error : new EngineAway(error);
  }

  /** A command that was sent has no deadline of its own in the client. */
  async function within<T>(work: () => Promise<T>, ms = deadlineMs): Promise<T> {
    if (signal.aborted) throw new EngineAway(signal.reason);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    });
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw fail(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async function open(): Promise<Client> {
    const client = clientOf(url, deadlineMs);
    client.on('error', fail);
    clients.push(client);
    await within(() => client.connect());
    return client;
  }

  const [main, waiting, heard] = await Promise.all([open(), open(), open()]);
  const shas = await within(() => Promise.all([main.scriptLoad(CLAIM), main.scriptLoad(APPEND)]));
  const [claimSha, appendSha] = shas as unknown as [string, string];
  const run = async (sha: string, keys: string[], args: string[]) =>
    (await within(() => main.evalSha(sha, { keys, arguments: args }))) as unknown as string[];
  const placed = (rows: readonly { id: string; message: Record<string, string> }[]) =>
    rows.map(({ id, message }) => decodeEntry(id, message));

  return {
    signal,
    async claim(wants, leaseMs, said) {
      const wish = { take: '1', watch: '0', release: '-1' }[wants];
      const reply = await run(claimSha, [lock, fence, tail, word], [me, String(leaseMs), wish, said]);
      const [holder = '', token = '0', last = '', theirs = ''] = reply;
      if (!isEntryId(last)) throw fail(new Error('the end of the stream is not the id of an entry'));
      return { holder, token: Number(token), tail: last, word: theirs };
    },
    async append({ token, expected, known, entry }) {
      const args = [me, String(token ?? ''), expected, String(MAX_ENTRIES), String(millisecondsOf(known)), entry];
      const [type, id = ''] = await run(appendSha, [lock, fence, tail, stream], args);
      if (type === 'ok') return { type, id };
      return type === 'behind' ? { type, tail: id } : { type: 'fenced' };
    },
    async range(after, limit) {
      const rows = await within(() => main.xRange(stream, `(${after}`, '+', { COUNT: limit }));
      return placed(rows as never);
    },
    async follow(after, limit, waitMs) {
      const wait = { COUNT: limit, BLOCK: waitMs };
      const found = await within(() => waiting.xRead({ key: stream, id: after }, wait), waitMs + deadlineMs);
      const [first] = (found ?? []) as unknown as { messages: { id: string; message: Record<string, string> }[] }[];
      return placed(first?.messages ?? []);
    },
    async agree(name, text) {
      return within(async () => {
        await main.set(key(name), text, { condition: 'NX' });
        return String(await main.get(key(name)));
      });
    },
    async publish(channel, message) {
      await within(() => main.publish(key(channel), message));
    },
    async subscribe(channel, tell) {
      await within(() => heard.subscribe(key(channel), (message) => tell(message)));
    },
    async push(list, bytes, keepMs) {
      return within(async () => {
        const length = await main.rPush(key(list), bytes);
        await main.pExpire(key(list), keepMs);
        return Number(length);
      });
    },
    listLength: async (list) => Number(await within(() => main.lLen(key(list)))),
    async pop(list, waitMs) {
      const asBytes = waiting.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
      const found = await within(() => asBytes.blPop(key(list), waitMs / 1000), waitMs + deadlineMs);
      return (found as { element: Buffer } | null)?.element;
    },
    async drop(list) {
      await within(() => main.del(key(list)));
    },
    close: () => void fail(new Error('closed')),
  };
}
