// Handing a copy over through the engine: in pieces, never more of them at once than a few megabytes, without the CMS.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { ReplicaFailure } from '../errors.ts';
import type { CalendarRecord, ImageRecord, Kind } from '../records.ts';
import { POST_KINDS, TERM_KINDS } from '../records.ts';
import type { Replica } from '../replica/store.ts';
import { type Engine, EngineAway } from './engine.ts';
import type { Journal } from './journal.ts';
import { Malformed, readMessage } from './messages.ts';

/** Records a piece: about 300 KiB before they are packed, 30 after. */
const PIECE = 200;
/** Records that are put in at a time, with a turn of the event loop between. */
const SLICE = 25;
/** Pieces that wait in the engine: the giver waits for whoever takes. */
const MAX_WAITING = 16;
const FULL_PAUSE_MS = 20;
/** A side that hears nothing for so long gives up. */
const SILENCE_MS = 10_000;
const POP_MS = 1000;
/** Of one piece: two pages of records as large as the CMS may answer with. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** What the next gateway that asks the CMS goes on from. */
const STATE = /^sync\./;
const STATE_KEYS = [
  'sync.site',
  'sync.watermarks',
  'sync.complete',
  'sync.scope',
  'sync.joins',
  'sync.media',
  'sync.rendering',
];

type Piece =
  | { type: 'begin'; at: string; state: Record<string, string> }
  | { type: 'records'; records: CalendarRecord[] }
  | { type: 'images'; images: ImageRecord[] }
  | { type: 'end'; beside: string[] };

const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);
const ORDER: readonly Kind[] = [...TERM_KINDS, ...POST_KINDS];

/** What is in the pieces without being in the stream: whoever takes them has it beside the stream as well. */
function besideOf({ drift }: Pick<Journal, 'drift'>): string[] {
  if (drift === 'much') throw new Error('a copy that is not what the stream says is not handed over');
  return [...drift.keys()];
}

/**
 * Writes the copy into a list of the engine (Redis documentation, "Redis lists": a queue with RPUSH and BLPOP). It may change meanwhile:
 * who takes it applies the stream from its beginning on, which leads every record to the same end. Throws `EngineAway`.
 */
export async function giveSnapshot(
  engine: Engine,
  list: string,
  replica: Replica,
  journal: Pick<Journal, 'at' | 'drift'>,
): Promise<void> {
  async function push(piece: Piece): Promise<void> {
    const packed = await pack(JSON.stringify(piece), { level: 1 });
    let waiting = await engine.push(list, packed, SILENCE_MS * 2);
    const until = performance.now() + SILENCE_MS;
    while (waiting > MAX_WAITING) {
      if (performance.now() > until) throw new Error('nobody takes the copy');
      await sleep(FULL_PAUSE_MS);
      waiting = await engine.listLength(list);
    }
  }

  const beside = besideOf(journal);
  const state = Object.fromEntries(STATE_KEYS.flatMap((key) => stateOf(replica, key)));
  try {
    await push({ type: 'begin', at: journal.at, state });
    for (const kind of ORDER) {
      for (let after = 0; ; ) {
        const ids = replica.ids(kind, { after, limit: PIECE }).map(({ id }) => id);
        if (ids.length === 0) break;
        await push({ type: 'records', records: [...replica.getMany(kind, ids).values()] });
        after = ids.at(-1)!;
      }
    }
    for (let after = 0; ; ) {
      const ids = replica.imageIds(after, PIECE);
      if (ids.length === 0) break;
      await push({ type: 'images', images: [...replica.images(ids).values()] });
      after = ids.at(-1)!;
    }
    await push({ type: 'end', beside: [...beside, ...besideOf(journal)] });
  } catch (error) {
    await engine.drop(list).catch(() => {});
    throw error;
  }
}

const stateOf = (replica: Replica, key: string): [string, string][] => {
  const value = replica.state(key);
  return value === undefined ? [] : [[key, value]];
};

export interface Taking {
  replica: Replica;
  /** Asks for it: again and again until it begins, since others may come first and who gives may be replaced. */
  ask(): Promise<void>;
  /** Whether it is not wanted any more, or nobody could give it. */
  isOff(): boolean;
  /** Told of a piece that is none of a gateway: the copy is not taken. */
  ignored?: ((error: unknown) => void) | undefined;
}

/**
 * Takes such a copy into this one, which goes on answering meanwhile, and removes what it does not have. Resolves with the id of the
 * entry from which the stream goes on, and the keys of what the copy has beside the stream; undefined when it is off, or ends in the
 * middle. Throws `EngineAway`.
 */
async function takePieces(
  engine: Engine,
  list: string,
  { replica, ask, isOff }: Taking,
): Promise<{ at: string; beside: string[] } | undefined> {
  const seen = new Map<Kind | 'image', Set<number>>();
  const see = (kind: Kind | 'image', id: number) => {
    const ids = seen.get(kind) ?? new Set();
    seen.set(kind, ids.add(id));
  };

  async function pop(): Promise<Piece | undefined> {
    const packed = await engine.pop(list, POP_MS);
    return packed && readMessage<Piece>('piece', await unpacked(packed));
  }

  async function begun(): Promise<Piece | undefined> {
    while (!isOff()) {
      await ask();
      const piece = await pop();
      if (piece) return piece;
    }
    return undefined;
  }

  async function next(): Promise<Piece | undefined> {
    for (let silentMs = 0; silentMs < SILENCE_MS && !isOff(); silentMs += POP_MS) {
      const piece = await pop();
      if (piece) return piece;
    }
    return undefined;
  }

  const first = await begun();
  if (first?.type !== 'begin') return undefined;
  let beside: string[];
  for (;;) {
    const piece = await next();
    if (!piece || piece.type === 'begin') return undefined;
    if (piece.type === 'end') {
      beside = piece.beside;
      break;
    }
    const records = piece.type === 'records' ? piece.records : [];
    const images = piece.type === 'images' ? piece.images : [];
    for (const { kind, id } of records) see(kind, id);
    for (const { id } of images) see('image', id);
    for (let from = 0; from < Math.max(records.length, images.length); from += SLICE) {
      replica.put(records.slice(from, from + SLICE), images.slice(from, from + SLICE));
      await nextTurn();
      while (replica.tidy()) await nextTurn();
    }
  }
  for (const kind of [...ORDER, 'image'] as const) await removeOthers(replica, kind, seen.get(kind) ?? new Set());
  for (const [key, value] of Object.entries(first.state)) if (STATE.test(key)) replica.setState(key, value);
  replica.dropAnswers();
  return { at: first.at, beside };
}

async function unpacked(packed: Buffer): Promise<string> {
  try {
    return (await unpack(packed, { maxOutputLength: MAX_UNPACKED_BYTES })).toString('utf8');
  } catch (error) {
    throw new Malformed('piece', error instanceof Error ? error.message : String(error));
  }
}

/** As `takePieces`; undefined also if a piece cannot be read or stored, which it reports to `ignored`. */
export async function takeSnapshot(engine: Engine, list: string, taking: Taking): ReturnType<typeof takePieces> {
  try {
    return await takePieces(engine, list, taking);
  } catch (error) {
    if (error instanceof EngineAway || error instanceof ReplicaFailure) throw error;
    taking.ignored?.(error);
    return undefined;
  }
}

async function removeOthers(replica: Replica, kind: Kind | 'image', given: ReadonlySet<number>): Promise<void> {
  for (let after = 0; ; ) {
    const ids =
      kind === 'image'
        ? replica.imageIds(after, PIECE)
        : replica.ids(kind, { after, limit: PIECE }).map(({ id }) => id);
    if (ids.length === 0) return;
    const gone = ids.filter((id) => !given.has(id));
    for (let from = 0; from < gone.length; from += SLICE) {
      replica.remove(kind, gone.slice(from, from + SLICE));
      await nextTurn();
    }
    after = ids.at(-1)!;
    await nextTurn();
  }
}
