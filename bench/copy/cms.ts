// The process that stands for the CMS: a made site, told over HTTP as WordPress tells it. Run by bench/copy.ts.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Native, SHAPES } from './recorded.ts';
import { eventOf, FIRST, linkedOf, NOW_MS, sizeOf, termOf } from './site.ts';

const size = sizeOf(Number(process.argv[2]));
/** How long each answer takes beside the work of making it. */
const delayMs = Number(process.argv[3] ?? 0);
const HOST = 'http://cms.example';
const MINUTE_MS = 60_000;

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 19);
const wall = (ms: number) => iso(ms).replace('T', ' ');
/** Posts were published one a minute, in the order of their ids, and not touched since. */
const publishedMs = (n: number) => NOW_MS - 200 * 86_400_000 + n * MINUTE_MS;

/** So many of the newest events were edited, after everything else. */
let edited = 0;
const eventModifiedMs = (n: number) =>
  n < size.events - edited ? publishedMs(n) : publishedMs(size.events) + n * 1000;

function post(shape: Native, id: number, n: number, base: string, made: Made): Native {
  const date = iso(publishedMs(n));
  return {
    ...shape,
    ...{ id, date, date_gmt: date, modified: date, modified_gmt: date, status: made.status },
    ...{ slug: `${base}-${id}`, link: `${HOST}/${base}/${base}-${id}/`, author: made.author },
    title: { raw: made.title, rendered: made.title },
    content: { raw: made.text, rendered: `<p>${made.text}</p>\n`, protected: false },
    featured_media: made.image,
  };
}

interface Made {
  status: string;
  title: string;
  text: string;
  image: number;
  author: number;
}

function event(n: number): Native {
  const made = eventOf(n, size);
  const meta = {
    ...(SHAPES.events.meta as Native),
    ...{ start_date: wall(made.startMs), end_date: wall(made.endMs), timezone: 'UTC', featured: made.featured },
    ...{ hide_from_listings: made.hidden, venue_ids: [made.venue], organizer_ids: [made.organizer] },
  };
  const title = n < size.events - edited ? made.title : `${made.title} (edited)`;
  const modified = iso(eventModifiedMs(n));
  const native = post(SHAPES.events, made.id, n, 'event', { ...made, title });
  return { ...native, modified, modified_gmt: modified, meta, event_categories: made.categories, tags: made.tags };
}

function term(kind: 'category' | 'tag', n: number): Native {
  const { name, parent } = termOf(kind, n);
  const shape = kind === 'category' ? { ...SHAPES.event_categories, parent } : SHAPES.tags;
  const slug = `${kind}-${n}`;
  return { ...shape, id: FIRST[kind] + n, count: 1, description: '', link: `${HOST}/${kind}/${slug}/`, name, slug };
}

function image(n: number): Native {
  const source_url = `${HOST}/wp-content/uploads/2026/11/${n}.png`;
  return { ...SHAPES.media, id: FIRST.image + n, modified_gmt: iso(publishedMs(n)), source_url };
}

interface Collection {
  first: number;
  rows: number;
  row(n: number): Native;
  modifiedMs?: (n: number) => number;
}

const collections: Record<string, Collection> = {
  events: { first: FIRST.event, rows: size.events, row: event, modifiedMs: eventModifiedMs },
  venues: {
    ...{ first: FIRST.venue, rows: size.venues, modifiedMs: publishedMs },
    row: (n) => post(SHAPES.venues, FIRST.venue + n, n, 'venue', linkedOf('venue', n, size)),
  },
  organizers: {
    ...{ first: FIRST.organizer, rows: size.organizers, modifiedMs: publishedMs },
    row: (n) => post(SHAPES.organizers, FIRST.organizer + n, n, 'organizer', linkedOf('organizer', n, size)),
  },
  event_categories: { first: FIRST.category, rows: size.categories, row: (n) => term('category', n) },
  tags: { first: FIRST.tag, rows: size.tags, row: (n) => term('tag', n) },
  media: { first: FIRST.image, rows: size.images, row: image, modifiedMs: publishedMs },
};

/** The names in `_fields`, `meta.website` as `meta`: what is inside is small. */
function cut(native: Native, fields: string | null): Native {
  if (fields === null) return native;
  const names = new Set(fields.split(',').map((name) => name.split('.')[0]));
  return Object.fromEntries(Object.entries(native).filter(([name]) => names.has(name)));
}

function numbersOf({ first, rows }: Collection, query: URLSearchParams): { page: number[]; total: number } {
  const perPage = Number(query.get('per_page') ?? 10);
  const include = query.get('include');
  const included = include?.split(',').map((id) => Number(id) - first) ?? [];
  const all = include === null ? undefined : included.filter((n) => n >= 0 && n < rows);
  const total = all?.length ?? rows;
  const from = Number(query.get('offset') ?? (Number(query.get('page') ?? 1) - 1) * perPage);
  const page = Array.from({ length: Math.max(0, Math.min(perPage, total - from)) }, (_, n) => from + n);
  // Ids, dates of publication and of modification are in one order.
  const turned = query.get('order') !== 'asc';
  return { page: page.map((n) => all?.[n] ?? (turned ? rows - 1 - n : n)), total };
}

function answer(path: string, query: URLSearchParams): { body: unknown; total?: number; perPage?: number } {
  if (path === '/wp-json/' || path === '/wp-json') {
    return { body: cut({ ...SHAPES.index, gmt_offset: 0, timezone_string: 'UTC' }, query.get('_fields')) };
  }
  const base = path.replace('/wp-json/wp/v2/', '');
  const collection = collections[base];
  if (!collection) return { body: { code: 'rest_no_route', message: 'No route', data: { status: 404 } } };
  const { page, total } = numbersOf(collection, query);
  const fields = query.get('_fields');
  const bare = fields !== null && /^(id|modified_gmt|status|,)+$/.test(fields);
  const rows = page.map((n) => {
    if (!bare || !collection.modifiedMs || fields.includes('status')) return cut(collection.row(n), fields);
    return cut({ id: collection.first + n, modified_gmt: iso(collection.modifiedMs(n)) }, fields);
  });
  return { body: rows, total, perPage: Number(query.get('per_page') ?? 10) };
}

function send(response: ServerResponse, { body, total, perPage }: ReturnType<typeof answer>): void {
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
  const made = answer(pathname, searchParams);
  if (delayMs > 0) setTimeout(() => send(response, made), delayMs);
  else send(response, made);
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message: { edit: number }) => {
  edited = message.edit;
  process.send?.({ edited });
});
process.on('disconnect', () => process.exit(0));
