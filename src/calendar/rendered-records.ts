// Renders records to JSON bytes, those for the public once, and joins rendered records to lists.

import { hash } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import { type CalendarRecord, isTermKind, type Kind, type RecordOf } from '../model/records.ts';
import type { RenderedRecord } from '../store/replica.ts';
import { formatWallTime } from '../time/wall-time.ts';
import type { ApiResponse } from './request-context.ts';
import type { Audience } from './serializer.ts';
import type { Services } from './services.ts';
import { ownTurn } from './turns.ts';

/** For ETags, not for secrets: 16 characters of the URL-safe base64 alphabet. */
export const contentHash = (data: string | Uint8Array): string => hash('sha1', data, 'base64url').slice(0, 16);

/** Serializes a record of one kind for an audience. */
export type Serialize<K extends Kind> = (record: RecordOf[K], audience: Audience) => JsonObject;

/** A single read and a list item of the same record have different JSON. */
type Variant = 'single' | 'item';

const renderingOf = ({ baseUrl }: Audience, variant: Variant): string => `${variant} ${baseUrl}`;

/** Properties of a serialized event that hold other records, and their kinds. */
const SHOWN_KINDS = { venue: 'venue', organizer: 'organizer', categories: 'category', tags: 'tag' } as const;

/** Cache tags of the records in a serialized record. The JSON has only those that the public may see. */
function shownCacheTags(kind: Kind, json: JsonObject): string[] {
  if (kind !== 'event') return [];
  return Object.entries(SHOWN_KINDS).flatMap(([property, shownKind]) =>
    ([json[property]].flat() as JsonObject[]).map(({ id }) => `${shownKind}-${id}`),
  );
}

/** Renders a public record, and caches it until the record or anything in it changes. */
export function renderRecord<K extends Kind>(
  { replica, nowMs }: Services,
  record: RecordOf[K] & CalendarRecord,
  audience: Audience,
  variant: Variant,
  serialize: Serialize<K>,
): RenderedRecord {
  const json = serialize(record, audience);
  const text = `${JSON.stringify(json)},`;
  // A slice of Buffer's shared pool would keep the whole pool in memory as long as the cache keeps the slice.
  const bytesAndComma = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytesAndComma.write(text);
  const bytes = bytesAndComma.subarray(0, -1);
  const etag = `"${contentHash(bytes)}"`;
  const rendering = renderingOf(audience, variant);
  const { kind, id } = record;
  const previous = replica.peekRendered(rendering, kind, id);
  // Unchanged JSON keeps its modification date: the public does not see what changed.
  if (previous?.etag === etag) {
    replica.setRendered(rendering, record, previous);
    return previous;
  }
  const shown = shownCacheTags(kind, json);
  // Not the record's own date: a term or image that is renamed or deleted changes the JSON, and leaves this date
  // as it is.
  const modifiedUtc = isTermKind(kind) ? undefined : formatWallTime(nowMs());
  const rendered: RenderedRecord = { bytes, bytesAndComma, etag, cacheTags: [`${kind}-${id}`, ...shown], modifiedUtc };
  replica.setRendered(rendering, record, rendered);
  return rendered;
}

/** The response to a public single read. */
export const singleResponse = ({ bytes, etag, cacheTags, modifiedUtc }: RenderedRecord): ApiResponse => ({
  status: 200,
  body: bytes,
  etag,
  cacheTags,
  validUntilMs: Number.POSITIVE_INFINITY,
  modifiedUtc,
});

/** The cached rendered record, if it is still valid. */
export const findRendered = (services: Services, kind: Kind, id: number, audience: Audience, variant: Variant) =>
  services.replica.getRendered(renderingOf(audience, variant), kind, id);

/** Records that the first step reads, and the most that a later one reads. */
const RECORDS_PER_STEP = { first: 5, most: 20 };
/** Bytes that are rendered before other requests run. */
const TURN_BYTES = 512 * 1024;

/**
 * How many records the next step reads: about half of what a turn may render, if they are as large as those
 * of this step.
 */
const sizeOfNextStep = (records: number, bytes: number): number =>
  Math.max(1, Math.min(RECORDS_PER_STEP.most, Math.floor((records * TURN_BYTES) / 2 / Math.max(1, bytes))));

/** Work in steps, so that other requests can run between them. Each step yields the bytes that it rendered. */
type Steps<T> = Generator<number, T>;

/** Renders the public items that are not cached. Returns those of the list, in the order of `ids`. */
export function* publicItems<K extends Kind>(
  services: Services,
  kind: K,
  ids: number[],
  audience: Audience,
  serialize: Serialize<K>,
): Steps<RenderedRecord[]> {
  const { replica } = services;
  const rendering = renderingOf(audience, 'item');
  const items = ids.map((id) => replica.getRendered(rendering, kind, id));
  const missing = ids.flatMap((id, i) => (items[i] === undefined ? [{ id, i }] : []));
  for (let from = 0, step = RECORDS_PER_STEP.first; from < missing.length; ) {
    let bytes = 0;
    const some = missing.slice(from, from + step);
    from += step;
    const records = replica.getMany(
      kind,
      some.map(({ id }) => id),
    );
    for (const { id, i } of some) {
      const record = records.get(id) as (RecordOf[K] & CalendarRecord) | undefined;
      if (!record) continue;
      const item = renderRecord<K>(services, record, audience, 'item', serialize);
      items[i] = item;
      bytes += item.bytes.byteLength;
    }
    step = sizeOfNextStep(some.length, bytes);
    yield bytes;
  }
  return items.filter((item) => item !== undefined);
}

/** Renders the items of one actor's list, in the order of `ids`. No cache keeps them. */
export function* staffItems<K extends Kind>(
  { replica }: Services,
  kind: K,
  ids: number[],
  audience: Audience,
  serialize: Serialize<K>,
): Steps<Uint8Array[]> {
  const items: Uint8Array[] = [];
  for (let from = 0, step = RECORDS_PER_STEP.first; from < ids.length; ) {
    const some = ids.slice(from, from + step);
    from += step;
    const records = replica.getMany(kind, some);
    const rendered = some.flatMap((id) => {
      const record = records.get(id) as (RecordOf[K] & CalendarRecord) | undefined;
      return record ? [Buffer.from(JSON.stringify(serialize(record, audience)))] : [];
    });
    items.push(...rendered);
    const bytes = rendered.reduce((sum, { byteLength }) => sum + byteLength, 0);
    step = sizeOfNextStep(some.length, bytes);
    yield bytes;
  }
  return items;
}

/** Runs all steps in one turn of the event loop. */
export function runInOneTurn<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs the steps, and lets other requests run after every `TURN_BYTES`: without a pause, 500 large events
 * would stop all other requests for half a second. Resolves with undefined if the replica changed meanwhile:
 * then the items may belong to different states of it.
 */
export async function runInTurns<T>({ replica }: Services, steps: Steps<T>): Promise<T | undefined> {
  const { version } = replica;
  for (let bytes = 0; ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    bytes += step.value;
    if (bytes < TURN_BYTES) continue;
    await ownTurn();
    if (replica.version !== version) return undefined;
    bytes = 0;
  }
}

/** A list whose body is sent in chunks. */
export interface JoinedList {
  parts: Uint8Array[];
  etag: string;
  /** Of the list and all its records, each once. */
  cacheTags: string[];
}

/** `{"events":[...],...rest}` in chunks. `items`: their JSON, each but the last followed by a comma; `rest`: JSON. */
const joinItems = (name: string, items: readonly Uint8Array[], rest: string): Uint8Array[] => [
  Buffer.from(`{${JSON.stringify(name)}:[`),
  ...items,
  Buffer.from(`],${rest.slice(1)}`),
];

const COMMA = Buffer.from(',');

/** Joins the items of one actor's list. */
export const joinStaff = (name: string, items: readonly Uint8Array[], rest: JsonObject): Uint8Array[] =>
  joinItems(
    name,
    items.flatMap((item, i) => (i === 0 ? [item] : [COMMA, item])),
    JSON.stringify(rest),
  );

/**
 * Joins the items of a public list. The ETag depends on the items' ETags and `rest`.
 */
export function joinRendered(name: string, items: RenderedRecord[], rest: JsonObject): JoinedList {
  const tail = JSON.stringify(rest);
  const last = items.length - 1;
  const parts = joinItems(
    name,
    items.map(({ bytes, bytesAndComma }, i) => (i === last ? bytes : bytesAndComma)),
    tail,
  );
  const etag = `"${contentHash(items.map((item) => item.etag).join('') + tail)}"`;
  const cacheTags = [name];
  const shown = new Set<string>();
  for (const item of items) {
    cacheTags.push(item.cacheTags[0]);
    // The first tag is the record's own, which no other item has.
    for (let index = 1; index < item.cacheTags.length; index += 1) shown.add(item.cacheTags[index]!);
  }
  return { parts, etag, cacheTags: [...cacheTags, ...shown] };
}
