// A process that serves a generated site as WordPress does. Started by bench/replica.ts.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CmsRecord, TEMPLATES } from './recorded.ts';
import { eventOf, FIRST_ID, linkedOf, NOW_MS, positionOf, sizeOf, termOf } from './site.ts';

const size = sizeOf(Number(process.argv[2]));
/** Delay of each response. */
const delayMs = Number(process.argv[3] ?? 0);
const HOST = 'http://cms.example';
const MINUTE_MS = 60_000;

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 19);
const wall = (ms: number) => iso(ms).replace('T', ' ');
/** One post was published a minute, in the order of their ids, the last one a day ago; none was modified since. */
const publishedMs = (n: number) => NOW_MS - 86_400_000 - (size.events - n) * MINUTE_MS;

/** The number of newest events that were edited after everything else. */
let edited = 0;
const eventModifiedMs = (n: number) =>
  n < size.events - edited ? publishedMs(n) : publishedMs(size.events) + (n - size.events + edited) * 1000;

function post(template: CmsRecord, id: number, n: number, base: string, content: Content): CmsRecord {
  const date = iso(publishedMs(n));
  return {
    ...template,
    id,
    date,
    date_gmt: date,
    modified: date,
    modified_gmt: date,
    status: content.status,
    slug: `${base}-${id}`,
    link: `${HOST}/${base}/${base}-${id}/`,
    author: content.author,
    title: { raw: content.title, rendered: content.title },
    content: { raw: content.text, rendered: `<p>${content.text}</p>\n`, protected: false },
    featured_media: content.image,
  };
}

interface Content {
  status: string;
  title: string;
  text: string;
  image: number;
  author: number;
}

function event(n: number): CmsRecord {
  const content = eventOf(n, size);
  const meta = {
    ...(TEMPLATES.events.meta as CmsRecord),
    start_date: wall(content.startMs),
    end_date: wall(content.endMs),
    timezone: 'UTC',
    featured: content.featured,
    hide_from_listings: content.hidden,
    venue_ids: [content.venue],
    organizer_ids: [content.organizer],
  };
  const title = n < size.events - edited ? content.title : `${content.title} (edited)`;
  const modified = iso(eventModifiedMs(n));
  const record = post(TEMPLATES.events, content.id, n, 'event', { ...content, title });
  return {
    ...record,
    modified,
    modified_gmt: modified,
    meta,
    event_categories: content.categories,
    tags: content.tags,
  };
}

function term(kind: 'category' | 'tag', n: number): CmsRecord {
  const { name, parent } = termOf(kind, n);
  const template = kind === 'category' ? { ...TEMPLATES.event_categories, parent } : TEMPLATES.tags;
  const slug = `${kind}-${n}`;
  return {
    ...template,
    id: FIRST_ID[kind] + n,
    count: 1,
    description: '',
    link: `${HOST}/${kind}/${slug}/`,
    name,
    slug,
  };
}

function image(n: number): CmsRecord {
  const source_url = `${HOST}/wp-content/uploads/2026/11/${n}.png`;
  return { ...TEMPLATES.media, id: FIRST_ID.image + n, modified_gmt: iso(publishedMs(n)), source_url };
}

interface Collection {
  first: number;
  rows: number;
  row(n: number): CmsRecord;
  modifiedMs?: (n: number) => number;
}

const collections: Record<string, Collection> = {
  events: { first: FIRST_ID.event, rows: size.events, row: event, modifiedMs: eventModifiedMs },
  venues: {
    first: FIRST_ID.venue,
    rows: size.venues,
    modifiedMs: publishedMs,
    row: (n) => ({
      ...post(TEMPLATES.venues, FIRST_ID.venue + n, n, 'venue', linkedOf('venue', n, size)),
      meta: { ...(TEMPLATES.venues.meta as CmsRecord), ...positionOf(n) },
    }),
  },
  organizers: {
    first: FIRST_ID.organizer,
    rows: size.organizers,
    modifiedMs: publishedMs,
    row: (n) => post(TEMPLATES.organizers, FIRST_ID.organizer + n, n, 'organizer', linkedOf('organizer', n, size)),
  },
  event_categories: { first: FIRST_ID.category, rows: size.categories, row: (n) => term('category', n) },
  tags: { first: FIRST_ID.tag, rows: size.tags, row: (n) => term('tag', n) },
  media: { first: FIRST_ID.image, rows: size.images, row: image, modifiedMs: publishedMs },
};

/** Keeps the fields named in `_fields`; `meta.website` keeps all of `meta`. */
function pickFields(record: CmsRecord, fields: string | null): CmsRecord {
  if (fields === null) return record;
  const names = new Set(fields.split(',').map((name) => name.split('.')[0]));
  return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

/** The first record that was modified after this time: ids and modifications have the same order. */
function firstAfter({ rows, modifiedMs }: Collection, afterMs: number): number {
  let [low, high] = [0, rows];
  while (modifiedMs && low < high) {
    const middle = Math.floor((low + high) / 2);
    if (modifiedMs(middle) > afterMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

function numbersOf(collection: Collection, query: URLSearchParams): { page: number[]; total: number } {
  const { first, rows } = collection;
  const after = query.get('modified_after');
  const start = after === null ? 0 : firstAfter(collection, Date.parse(after));
  const perPage = Number(query.get('per_page') ?? 10);
  const include = query.get('include');
  const included = include?.split(',').map((id) => Number(id) - first) ?? [];
  const all = include === null ? undefined : included.filter((n) => n >= 0 && n < rows);
  const total = all?.length ?? rows - start;
  const from = Number(query.get('offset') ?? (Number(query.get('page') ?? 1) - 1) * perPage);
  const page = Array.from({ length: Math.max(0, Math.min(perPage, total - from)) }, (_, n) => from + n);
  // Ids, dates of publication and of modification have the same order.
  const isDescending = query.get('order') !== 'asc';
  return { page: page.map((n) => all?.[n] ?? (isDescending ? rows - 1 - n : start + n)), total };
}

function respond(path: string, query: URLSearchParams): { body: unknown; total?: number; perPage?: number } {
  if (path === '/wp-json/' || path === '/wp-json') {
    return { body: pickFields({ ...TEMPLATES.index, gmt_offset: 0, timezone_string: 'UTC' }, query.get('_fields')) };
  }
  const base = path.replace('/wp-json/wp/v2/', '');
  const collection = collections[base];
  if (!collection) return { body: { code: 'rest_no_route', message: 'No route', data: { status: 404 } } };
  const { page, total } = numbersOf(collection, query);
  const fields = query.get('_fields');
  const isStampOnly = fields !== null && /^(id|modified_gmt|status|,)+$/.test(fields);
  const rows = page.map((n) => {
    if (!isStampOnly || !collection.modifiedMs || fields.includes('status'))
      return pickFields(collection.row(n), fields);
    return pickFields({ id: collection.first + n, modified_gmt: iso(collection.modifiedMs(n)) }, fields);
  });
  return { body: rows, total, perPage: Number(query.get('per_page') ?? 10) };
}

function send(response: ServerResponse, { body, total, perPage }: ReturnType<typeof respond>): void {
  const paging =
    total === undefined
      ? {}
      : { 'x-wp-total': String(total), 'x-wp-totalpages': String(Math.ceil(total / (perPage ?? 10))) };
  response.writeHead(200, { 'content-type': 'application/json; charset=UTF-8', ...paging });
  response.end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', HOST);
  if (request.method === 'HEAD') {
    response.writeHead(200, { link: `<${HOST}/wp-json/>; rel="https://api.w.org/"` }).end();
    return;
  }
  const result = respond(pathname, searchParams);
  if (delayMs > 0) setTimeout(() => send(response, result), delayMs);
  else send(response, result);
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message: { edit: number }) => {
  edited = message.edit;
  process.send?.({ edited });
});
process.on('disconnect', () => process.exit(0));
