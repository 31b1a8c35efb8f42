// Asking the CMS for the copy: counted, with the copy's scope and account, and every answer with the moment it was asked for.

import { UpstreamRefused } from '../errors.ts';
import type { ImageRecord } from '../records.ts';
import type { CallOptions, Credentials, Native, Query, Upstream } from '../upstream/port.ts';
import { type Collection, idOf } from './collections.ts';
import type { AskedPage } from './walk.ts';
import { incomplete, lackingIn, MEDIA_FIELDS, placesIn, type WholeRows } from './whole-rows.ts';

export interface Counts {
  requests: number;
  changed: number;
  removed: number;
}

export interface Asking {
  readonly counts: Counts;
  /** Rows a request. */
  readonly pageSize: number;
  /** The CMS's clock in its latest answer, milliseconds; 0 before the first. */
  readonly serverTimeMs: number;
  /** One page of a collection, with the scope of the copy or another. */
  ask(
    collection: Pick<Collection, 'base' | 'scope' | 'posts' | 'dedupe'> &
      Partial<Pick<Collection, 'kind' | 'select' | 'needs' | 'lists'>>,
    query: Query,
    as?: { scope: Query; options: CallOptions },
  ): Promise<AskedPage>;
  /** One record, with the fields of the replica. */
  read(
    collection: Pick<Collection, 'base' | 'select'>,
    id: number,
    query: Query,
    options: CallOptions,
  ): Promise<Native>;
  /** One page of the CMS's media. */
  askMedia(query: Query): Promise<AskedPage>;
  images(ids: readonly number[]): Promise<ImageRecord[]>;
  /** The service account, or nobody. */
  asService(): CallOptions;
  /** A new moment: later than every request until now, and earlier than the next. */
  moment(): number;
  /** The gateway's clock when this was asked. */
  clockAt(askedAt: number): number;
  /** Nobody holds answers any more. */
  forget(): void;
}

export interface AskingOptions {
  upstream: Upstream;
  service: Credentials;
  pageSize: number;
  nowMs: () => number;
  signal: AbortSignal;
  /** Throws when the rows of a page lack what the query asked for. */
  check: WholeRows['check'];
}

/** What it returns throws `UpstreamRefused` and `UpstreamAway`, as the CMS answers. */
export function createAsking({ upstream, service, pageSize, nowMs, signal, check }: AskingOptions): Asking {
  const counts: Counts = { requests: 0, changed: 0, removed: 0 };
  const clocks = new Map<number, number>();
  let latest = 0;
  let serverTimeMs = 0;

  const asService = (): CallOptions => ({ credentials: service, signal });

  async function list(base: string, query: Query, options: CallOptions): Promise<AskedPage> {
    latest += 1;
    const askedAt = latest;
    clocks.set(askedAt, nowMs());
    counts.requests += 1;
    const page = await upstream.list(base, query, { signal, ...options });
    serverTimeMs = page.serverTimeMs;
    return { ...page, askedAt };
  }

  return {
    counts,
    pageSize,
    get serverTimeMs() {
      return serverTimeMs;
    },
    async ask(collection, query, as) {
      const whole = { ...(as?.scope ?? collection.scope), ...query };
      const mayHaveHoles = !as && service !== undefined && collection.posts && !collection.dedupe;
      for (let asked = 1; ; asked += 1) {
        const page = await list(collection.base, whole, as?.options ?? asService());
        const due = mayHaveHoles ? rowsDue(query, page.total) : 0;
        if (page.items.length >= due) {
          await check(collection, query, page.items);
          return page;
        }
        if (asked === HOLES_ASKED) throw holes(collection.base, page.items.length, due);
      }
    },
    read({ base, select }, id, query, options) {
      counts.requests += 1;
      return upstream.read(base, id, { ...query, _fields: select }, options);
    },
    async askMedia(query) {
      const page = await list('media', query, asService());
      for (const item of page.items) {
        const lacking = lackingIn(item, placesIn(MEDIA_FIELDS));
        if (lacking.length > 0) throw incomplete('media', lacking, idOf(item));
      }
      return page;
    },
    images(ids) {
      counts.requests += 1;
      return upstream.images([...ids], asService());
    },
    asService,
    moment() {
      latest += 1;
      return latest;
    },
    clockAt: (askedAt) => clocks.get(askedAt) ?? nowMs(),
    forget: () => clocks.clear(),
  };
}

/** Some databases count a list a moment after they read it: a row that was made between the two is no hole, and not there the next time. */
const HOLES_ASKED = 3;

/** How many rows a page of a list has that has no holes. */
function rowsDue({ per_page, page, offset }: Query, total: number): number {
  const size = Number(per_page);
  const before = offset === undefined ? (Number(page ?? 1) - 1) * size : Number(offset);
  return Math.max(0, Math.min(size, total - before));
}

/**
 * An account that may not edit others' records gets lists with holes, which the totals count all the same (upstream-wordpress 6, status).
 * What it does not see must not be taken for deleted.
 */
function holes(base: string, shown: number, due: number): UpstreamRefused {
  const seen = `${shown} of ${due} records of ${base}`;
  return new UpstreamRefused(403, 'rest_forbidden', `it is shown only ${seen}; it needs the right to edit all of them`);
}
