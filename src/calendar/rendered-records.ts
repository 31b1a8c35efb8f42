// Renders records to JSON bytes, those for the public once, joins rendered records to lists, and parses them again.

import { hash } from 'node:crypto';
import { listTooLarge } from '../interface/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { CalendarRecord, Kind } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { getRecords, RECORDS_PER_READ } from '../store/records.ts';
import type { RenderedRecord } from '../store/replica.ts';
import { joinBytes, utf8 } from '../text/bytes.ts';
import type { ApiResponse } from './request.ts';
import { type Audience, serialize } from './serializer.ts';
import type { ApiRequest } from './services.ts';
import { type Steps, soloTurn } from './turns.ts';

/** For ETags, not for secrets: 16 characters of the URL-safe base64 alphabet. */
export const contentHash = (data: string | Uint8Array): string => hash('sha1', data, 'base64url').slice(0, 16);

/** A single read and an item of a list have different JSON of the same record. */
type Form = 'single' | 'item';

/** `event 12 item https://example.org/calendar/events/v1`: the JSON has URLs that begin with the address. */
const cacheKey = (kind: Kind, id: number, form: Form, { baseUrl }: Audience): string =>
  `${kind} ${id} ${form} ${baseUrl}`;

/** Properties of a serialized event that hold other records, and their kinds. */
const SHOWN_KINDS = { venue: 'venue', organizer: 'organizer', categories: 'category', tags: 'tag' } as const;

/** Cache tags of the records in a serialized record. Only responses to the public have them. */
function shownCacheTags(kind: Kind, json: JsonObject): string[] {
  if (kind !== 'event') return [];
  return Object.entries(SHOWN_KINDS).flatMap(([property, shownKind]) =>
    // `venue` is one record or a list.
    ([json[property]].flat() as JsonObject[]).map(({ id }) => `${shownKind}-${id}`),
  );
}

/** A record's JSON as bytes, with their ETag and the cache tags of what it shows. */
function render({ kind, id }: CalendarRecord, json: JsonObject): RenderedRecord {
  const bytes = utf8(JSON.stringify(json));
  return { bytes, etag: `"${contentHash(bytes)}"`, cacheTags: [`${kind}-${id}`, ...shownCacheTags(kind, json)] };
}

export const parseRendered = <T = JsonObject>(bytes: Uint8Array): T => JSON.parse(new TextDecoder().decode(bytes));

/** Renders the JSON of a public record, read at the current version, and caches it until a record changes. */
export function renderPublic(record: CalendarRecord, audience: Audience, form: Form, json: JsonObject): RenderedRecord {
  const rendered = render(record, json);
  audience.services.replica.rendered.set(cacheKey(record.kind, record.id, form, audience), rendered);
  return rendered;
}

export const singleResponse = ({ bytes, etag, cacheTags }: RenderedRecord): ApiResponse => ({
  status: 200,
  body: bytes,
  etag,
  cacheTags,
  validUntilMs: Number.POSITIVE_INFINITY,
});

export const findRendered = (kind: Kind, id: number, audience: Audience, form: Form): RenderedRecord | undefined =>
  audience.services.replica.rendered.get(cacheKey(kind, id, form, audience));

/** The most bytes of a list. Fifty events have a quarter of a megabyte; with descriptions of 100 KB, five megabytes. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** The items of a list, in the order of `ids`. Those of a public list are cached. */
export function* listItems(
  { kind, ids, visible, isPublic }: { kind: Kind; ids: number[]; visible: VisibleRecords; isPublic: boolean },
  request: ApiRequest,
): Steps<RenderedRecord[]> {
  const audience: Audience = { ...request, visible };
  const items = new Map<number, RenderedRecord>();
  let listBytes = 0;
  const add = (id: number, item: RenderedRecord): void => {
    items.set(id, item);
    listBytes += item.bytes.byteLength;
    if (listBytes > MAX_LIST_BYTES) throw listTooLarge();
  };
  for (const id of ids) {
    const item = isPublic ? findRendered(kind, id, audience, 'item') : undefined;
    if (item) add(id, item);
  }
  const missing = ids.filter((id) => !items.has(id));
  for (let from = 0; from < missing.length; from += RECORDS_PER_READ) {
    const records = getRecords(visible, kind, missing.slice(from, from + RECORDS_PER_READ));
    for (const [id, record] of records) {
      const json = serialize(record, audience);
      const item = isPublic ? renderPublic(record, audience, 'item', json) : render(record, json);
      add(id, item);
      // If the version changes during a pause, `runInTurns` does not resume: `renderPublic` keeps no outdated record.
      yield item.bytes.byteLength;
    }
  }
  return ids.flatMap((id) => items.get(id) ?? []);
}

/** `{"events":[...],...rest}`: a list whose items are rendered, each as JSON. */
export class RenderedList {
  readonly name: string;
  readonly items: readonly Uint8Array[];
  readonly rest: JsonObject;

  constructor(name: string, items: readonly Uint8Array[], rest: JsonObject) {
    this.name = name;
    this.items = items;
    this.rest = rest;
  }

  chunks(): Uint8Array[] {
    const items = this.items.flatMap((item, i) => (i === 0 ? [item] : [COMMA, item]));
    const rest = JSON.stringify(this.rest).slice(1);
    return [utf8(`{${JSON.stringify(this.name)}:[`), ...items, utf8(`],${rest}`)];
  }
}

const COMMA = utf8(',');

/** What identifies a public list: the ETags of its items and the rest. */
export function identityOfList(
  name: string,
  items: readonly RenderedRecord[],
  rest: JsonObject,
): { etag: string; cacheTags: string[] } {
  const etag = `"${contentHash(items.map((item) => item.etag).join('') + JSON.stringify(rest))}"`;
  // A header has room for the first tags: the items' own come before those of what the items show.
  const cacheTags = new Set([name, ...items.map(({ cacheTags: [own] }) => own)]);
  for (const item of items) for (const tag of item.cacheTags) cacheTags.add(tag);
  return { etag, cacheTags: [...cacheTags] };
}

export function chunksOf(body: unknown): readonly Uint8Array[] {
  if (body instanceof RenderedList) return body.chunks();
  return [body instanceof Uint8Array ? body : utf8(JSON.stringify(body))];
}

export const toBuffer = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : joinBytes(chunksOf(body)));

/** The records of a list, each in a turn of its own: other requests run between long texts. */
export async function parseItems(items: RenderedList['items']): Promise<JsonObject[]> {
  const parsed: JsonObject[] = [];
  for (const item of items) {
    await soloTurn();
    parsed.push(parseRendered(item));
  }
  return parsed;
}
