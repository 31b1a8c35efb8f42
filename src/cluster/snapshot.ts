// Sends a replica to a joining gateway through a Redis list, in compressed parts of which only a few wait in
// Redis; the CMS is not called.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { ReplicaError } from '../errors.ts';
import {
  type CalendarRecord,
  type ImageRecord,
  type Kind,
  type KindOrImage,
  POST_KINDS,
  recordKey,
  TERM_KINDS,
} from '../model/records.ts';
import type { Replica } from '../store/replica.ts';
import { STATE_KEYS } from '../sync/context.ts';
import type { ChangeLog } from './change-log.ts';
import { MalformedMessage, parseMessage } from './messages.ts';
import { type Redis, RedisUnavailable } from './redis.ts';

/** Ordinary records are about 300 KiB together, 30 KiB compressed. */
const RECORDS_PER_PART = 200;
/** Of JSON. A part of larger records has fewer of them, but at least one. */
const PART_BYTES = 1024 * 1024;
/** Records per transaction of the receiver; between two of them it handles requests. */
const RECORDS_PER_BATCH = 25;
/** The sender waits while more parts are in Redis. */
const MAX_WAITING_PARTS = 16;
const FULL_PAUSE_MS = 20;
/** Sender and receiver give up when the other side is silent for this long. */
const SILENCE_MS = 10_000;
const POP_MS = 1000;
/** The receiver accepts no larger part, so that no Redis client can fill its memory. */
const MAX_PART_BYTES = 32 * 1024 * 1024;
/** Leaves room for what surrounds the records of a part. */
const MAX_RECORD_BYTES = MAX_PART_BYTES - 1024;
/** Keys of the state that a snapshot may set. */
const STATE_PREFIX = /^sync\./;

type SnapshotPart =
  | { type: 'start'; offset: string; state: Record<string, string> }
  | { type: 'records'; records: CalendarRecord[] }
  | { type: 'images'; images: ImageRecord[] }
  | { type: 'end'; unpublished: string[] };

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** Terms first, since posts refer to them. */
const KIND_ORDER: readonly Kind[] = [...TERM_KINDS, ...POST_KINDS];

/** The unpublished records of the sender are in the snapshot too, and unpublished at the receiver as well. */
function unpublishedKeys({ unpublished }: Pick<ChangeLog, 'unpublished'>): string[] {
  if (unpublished === 'unknown') throw new Error('the replica differs from the change log in unknown records');
  return [...unpublished.keys()];
}

/**
 * Pushes the replica to a Redis list. The replica may change meanwhile: the receiver then applies the change
 * log from the snapshot's offset on, and every record ends up the same. Throws `RedisUnavailable`.
 */
export async function sendSnapshot(
  redis: Redis,
  list: string,
  replica: Replica,
  changeLog: Pick<ChangeLog, 'offset' | 'unpublished'>,
): Promise<void> {
  async function push(part: SnapshotPart): Promise<void> {
    const compressed = await deflate(JSON.stringify(part), { level: 1 });
    let waiting = await redis.push(list, compressed, SILENCE_MS * 2);
    const untilMs = performance.now() + SILENCE_MS;
    while (waiting > MAX_WAITING_PARTS) {
      if (performance.now() > untilMs) throw new Error('no gateway receives the snapshot');
      await sleep(FULL_PAUSE_MS);
      waiting = await redis.listLength(list);
    }
  }

  const unpublishedAtStart = unpublishedKeys(changeLog);
  const leftOut: string[] = [];
  try {
    await push({ type: 'start', offset: changeLog.offset, state: syncStateOf(replica) });
    for (const kind of KIND_ORDER) {
      for (const ids of pagesOf(replica, kind)) {
        const { parts, tooLarge } = splitIntoParts(replica.getMany(kind, ids).values());
        for (const records of parts) await push({ type: 'records', records });
        leftOut.push(...tooLarge.map(({ id }) => recordKey(kind, id)));
      }
    }
    for (const ids of pagesOf(replica, 'image')) {
      const { parts, tooLarge } = splitIntoParts(replica.getImages(ids).values());
      for (const images of parts) await push({ type: 'images', images });
      leftOut.push(...tooLarge.map(({ id }) => recordKey('image', id)));
    }
    // The receiver has the leader refetch unpublished records, so it gets those that no part can hold too.
    await push({ type: 'end', unpublished: [...unpublishedAtStart, ...unpublishedKeys(changeLog), ...leftOut] });
  } catch (error) {
    await redis.deleteList(list).catch(() => {});
    throw error;
  }
}

/** Parts that the receiver accepts, and the records that are too large for any. */
function splitIntoParts<T>(records: Iterable<T>): { parts: T[][]; tooLarge: T[] } {
  const parts: T[][] = [];
  const tooLarge: T[] = [];
  let bytesLeft = 0;
  for (const record of records) {
    const bytes = Buffer.byteLength(JSON.stringify(record));
    if (bytes > MAX_RECORD_BYTES) {
      tooLarge.push(record);
      continue;
    }
    bytesLeft -= bytes;
    if (bytesLeft >= 0) parts.at(-1)!.push(record);
    else {
      parts.push([record]);
      bytesLeft = PART_BYTES - bytes;
    }
  }
  return { parts, tooLarge };
}

/** What the receiver's sync resumes from: not the sender's own initial sync. */
function syncStateOf(replica: Replica): Record<string, string> {
  const { site, watermarks, complete, scope, media, linkTables, publicView, resync, fields } = STATE_KEYS;
  const knownFields = KIND_ORDER.map((kind) => fields(replica.state(scope) ?? '', kind));
  const state: Record<string, string> = {};
  for (const key of [site, watermarks, complete, scope, media, linkTables, publicView, resync, ...knownFields]) {
    const value = replica.state(key);
    if (value !== undefined) state[key] = value;
  }
  return state;
}

/** The ids of all records of a kind, ascending, in pages. */
function* pagesOf(replica: Replica, kind: KindOrImage): Generator<number[]> {
  for (let after = 0; ; ) {
    const limit = RECORDS_PER_PART;
    const ids =
      kind === 'image' ? replica.imageIds(after, limit) : replica.stamps(kind, { after, limit }).map(({ id }) => id);
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1)!;
  }
}

export interface ReceiveOptions {
  replica: Replica;
  /**
   * Requests the snapshot. Repeated until it starts, because others may be served first and the leader may
   * change.
   */
  request(): Promise<void>;
  /** Whether the snapshot is no longer wanted, or no gateway can send it. */
  isCancelled(): boolean;
  /** Receives the error of a part that no gateway wrote; the snapshot is then discarded. */
  reportInvalid?: ((error: unknown) => void) | undefined;
}

export interface ReceivedSnapshot {
  /** The offset from which the change log continues. */
  offset: string;
  /** Keys of the records that differ from the change log. */
  unpublished: string[];
}

/**
 * Stores a snapshot in the replica, which serves reads meanwhile, and deletes all other records. Undefined if
 * it is cancelled or ends early. Throws `RedisUnavailable`.
 */
async function receiveParts(
  redis: Redis,
  list: string,
  { replica, request, isCancelled }: ReceiveOptions,
): Promise<ReceivedSnapshot | undefined> {
  const received = new Map<KindOrImage, Set<number>>();
  const markReceived = (kind: KindOrImage, id: number) => {
    const ids = received.get(kind) ?? new Set();
    received.set(kind, ids.add(id));
  };

  async function pop(): Promise<SnapshotPart | undefined> {
    const compressed = await redis.pop(list, POP_MS);
    return compressed && parseMessage<SnapshotPart>('snapshotPart', await decompress(compressed));
  }

  async function requestFirstPart(): Promise<SnapshotPart | undefined> {
    while (!isCancelled()) {
      await request();
      const part = await pop();
      if (part) return part;
    }
    return undefined;
  }

  async function nextPart(): Promise<SnapshotPart | undefined> {
    for (let silentMs = 0; silentMs < SILENCE_MS && !isCancelled(); silentMs += POP_MS) {
      const part = await pop();
      if (part) return part;
    }
    return undefined;
  }

  async function store(records: CalendarRecord[], images: ImageRecord[]): Promise<void> {
    for (const { kind, id } of records) markReceived(kind, id);
    for (const { id } of images) markReceived('image', id);
    for (let from = 0; from < Math.max(records.length, images.length); from += RECORDS_PER_BATCH) {
      const to = from + RECORDS_PER_BATCH;
      replica.upsert(records.slice(from, to), images.slice(from, to));
      await nextTurn();
      while (replica.mergeFts()) await nextTurn();
    }
  }

  const start = await requestFirstPart();
  if (start?.type !== 'start') return undefined;
  let part = await nextPart();
  for (; part && part.type !== 'end'; part = await nextPart()) {
    if (part.type === 'start') return undefined;
    if (part.type === 'records') await store(part.records, []);
    else await store([], part.images);
  }
  if (!part) return undefined;
  for (const kind of [...KIND_ORDER, 'image'] as const)
    await deleteOthers(replica, kind, received.get(kind) ?? new Set());
  for (const [key, value] of Object.entries(start.state)) if (STATE_PREFIX.test(key)) replica.setState(key, value);
  replica.clearRendered();
  return { offset: start.offset, unpublished: part.unpublished };
}

async function decompress(compressed: Buffer): Promise<string> {
  try {
    return (await inflate(compressed, { maxOutputLength: MAX_PART_BYTES })).toString('utf8');
  } catch (error) {
    throw new MalformedMessage('snapshotPart', error instanceof Error ? error.message : String(error));
  }
}

/** As `receiveParts`; undefined also if a part cannot be read or stored, which `reportInvalid` receives. */
export async function receiveSnapshot(
  redis: Redis,
  list: string,
  options: ReceiveOptions,
): Promise<ReceivedSnapshot | undefined> {
  try {
    return await receiveParts(redis, list, options);
  } catch (error) {
    if (error instanceof RedisUnavailable || error instanceof ReplicaError) throw error;
    options.reportInvalid?.(error);
    return undefined;
  }
}

async function deleteOthers(replica: Replica, kind: KindOrImage, received: ReadonlySet<number>): Promise<void> {
  for (const ids of pagesOf(replica, kind)) {
    const others = ids.filter((id) => !received.has(id));
    for (let from = 0; from < others.length; from += RECORDS_PER_BATCH) {
      replica.delete(kind, others.slice(from, from + RECORDS_PER_BATCH));
      await nextTurn();
    }
    await nextTurn();
  }
}
