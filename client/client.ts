// `calendar-gateway/client`: a typed openapi-fetch client of the API, with iterators over whole lists.

import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';
import type { components, paths } from './api.ts';

export type { components, operations, paths } from './api.ts';

export type CalendarEvent = components['schemas']['Event'];
export type Venue = components['schemas']['Venue'];
export type Organizer = components['schemas']['Organizer'];
/** A category or a tag. */
export type Term = components['schemas']['Term'];
export type Image = components['schemas']['Image'];

type BodyOfGet<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

/** The paths whose GET answers a page of a list: `/events`, `/venues` ... */
export type ListPath = {
  [Path in keyof paths]: BodyOfGet<Path> extends { total_pages: number } ? Path : never;
}[keyof paths];

/** The body of a page of the list. */
export type ListPage<Path extends ListPath> = BodyOfGet<Path>;

/** The query parameters of the list. */
export type ListQuery<Path extends ListPath> = NonNullable<paths[Path]['get']['parameters']['query']>;

/** A record of the list: the elements of the property that the path names. */
export type ListRecord<Path extends ListPath> = Path extends `/${infer Name}`
  ? ListPage<Path>[Name & keyof ListPage<Path>] extends (infer Element)[]
    ? Element
    : never
  : never;

/** A page of `/changes`. */
export type Changes = BodyOfGet<'/changes'>;

/** Options of `fetch` for each request of an iterator: `signal`, `headers`, `cache` ... */
export type RequestSettings = Omit<RequestInit, 'method' | 'body'>;

export interface CalendarClient extends Client<paths, 'application/json'> {
  /**
   * The pages of a list, from `query.page` or the first to the last one. Requests a page when the loop asks for
   * it. A page after the last one, also one that vanished since the page before, ends the iteration.
   *
   * Throws `CalendarError` for an error of the API. A network error, an abort and a response that is no JSON
   * throw what `fetch` throws.
   */
  pages<Path extends ListPath>(
    path: Path,
    query?: ListQuery<Path>,
    settings?: RequestSettings,
  ): AsyncGenerator<ListPage<Path>, void, void>;
  /**
   * The records of the pages of a list, each once even if it moves to a later page meanwhile. A record that
   * moves to an earlier page, because one before it was deleted, can be missed. Throws as `pages` does.
   */
  records<Path extends ListPath>(
    path: Path,
    query?: ListQuery<Path>,
    settings?: RequestSettings,
  ): AsyncGenerator<ListRecord<Path>, void, void>;
  /**
   * What the public lists gained, changed and lost since a token, in pages; the last page's `next_token` is for the
   * next time. Throws as `pages` does: a `CalendarError` with status 410 means that the lists must be read again.
   */
  changes(since: string, settings?: RequestSettings): AsyncGenerator<Changes, void, void>;
}

/** An error response of the API, or of something between the client and it. */
export class CalendarError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The API's error code, such as `rest_invalid_param`. Undefined if the body is not the API's. */
  readonly code: string | undefined;
  /** The error's `data`; `params` in it has a message for each invalid parameter. */
  readonly data: Record<string, unknown>;
  readonly response: Response;

  /** @param body the parsed body, or its text if it is no JSON */
  constructor(response: Response, body: unknown) {
    const { code, message, data } = isObject(body) ? body : {};
    super(typeof message === 'string' ? message : `${response.status} ${response.statusText}`.trim());
    this.name = 'CalendarError';
    this.status = response.status;
    this.code = typeof code === 'string' ? code : undefined;
    this.data = isObject(data) ? data : {};
    this.response = response;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** As the API's documentation says: `categories=7,concerts`. */
const QUERY_SERIALIZER = { array: { style: 'form', explode: false } } as const;

/**
 * Creates a client.
 * @param options `baseUrl`, the URL of the API that ends with `/calendar/events/v1`, and openapi-fetch's options:
 *   `headers` for credentials, `fetch` for another implementation
 */
export function createCalendarClient(options: ClientOptions & { baseUrl: string }): CalendarClient {
  const client = createFetchClient<paths, 'application/json'>({ querySerializer: QUERY_SERIALIZER, ...options });
  /** The types of `client.GET` do not resolve for a path that is a type parameter. */
  const get = client.GET as unknown as (path: string, init: object) => Promise<GetResult>;

  async function* pages(path: ListPath, query: object = {}, settings: RequestSettings = {}): AsyncGenerator<Page> {
    let current: Record<string, unknown> = { ...query };
    for (;;) {
      const { data, error, response } = await get(path, { ...settings, params: { query: current } });
      if (isAfterLastPage(error)) return;
      if (!response.ok || !isPage(data)) throw new CalendarError(response, error);
      yield data;
      if (data.next_rest_url === undefined) return;
      const next = Object.fromEntries(new URL(data.next_rest_url).searchParams);
      // A cache that ignores the query would send the same page for ever.
      if (Number(next.page) <= Number(current.page ?? 1))
        throw new Error(`The page after page ${current.page ?? 1} of ${path} is page ${next.page}.`);
      // The link has the parameters of the API as the gateway understood them: words like `today` as dates.
      current = { ...current, ...next };
    }
  }

  async function* records(path: ListPath, query?: object, settings?: RequestSettings): AsyncGenerator<{ id: number }> {
    const seen = new Set<number>();
    for await (const page of pages(path, query, settings)) {
      for (const record of page[path.slice(1)] as { id: number }[]) {
        if (seen.has(record.id)) continue;
        seen.add(record.id);
        yield record;
      }
    }
  }

  async function* changes(since: string, settings: RequestSettings = {}): AsyncGenerator<Changes> {
    for (let token = since, hasMore = true; hasMore; ) {
      const { data, error, response } = await client.GET('/changes', {
        ...settings,
        params: { query: { since: token } },
      });
      if (data === undefined) throw new CalendarError(response, error);
      yield data;
      hasMore = data.has_more;
      token = data.next_token;
    }
  }

  return Object.assign(client, { pages, records, changes }) as CalendarClient;
}

interface GetResult {
  data?: unknown;
  error?: unknown;
  response: Response;
}

type Page = Record<string, unknown> & { next_rest_url?: string };

const isPage = (data: unknown): data is Page => isObject(data) && typeof data.total_pages === 'number';

/** `event-archive-page-not-found`, and so on for venues and organizers. Lists of terms answer an empty page. */
const isAfterLastPage = (error: unknown): boolean =>
  isObject(error) && typeof error.code === 'string' && error.code.endsWith('-archive-page-not-found');
