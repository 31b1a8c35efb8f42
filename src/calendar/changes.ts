// The use case of `/changes`: what the public lists gained, changed and lost since a token.

import { changesGone, notReady } from '../interface/errors.ts';
import type { ChangeToken } from '../interface/param-types.ts';
import type { Input } from '../interface/parameter.ts';
import type { JournalPosition } from '../store/change-journal.ts';
import { contentHash } from './rendered-records.ts';
import type { ApiResponse } from './request-context.ts';
import type { Services } from './services.ts';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 1000;
/** After this time a response is built again, although nothing changed: its token names the latest scan. */
const TOKEN_MS = 60_000;

/**
 * The same response for every caller. Without a token it has no changes, and a token for the next request.
 * @throws ApiError 410 for a token that is too old or of another replica; 503 until the initial sync is complete
 */
export function createChanges({ replica, sync, site, mapping, nowMs }: Services) {
  const { journal } = replica;
  /** Tokens of another site mean nothing here. */
  const siteKey = (): string => contentHash(`${site().url} ${mapping.name}`).slice(0, 8);
  const tokenOf = ({ epoch, number, first, scanS }: JournalPosition): string =>
    [siteKey(), epoch, number, first, scanS].join('.');

  return function changes({ values }: Input): ApiResponse {
    if (!sync.state().complete) throw notReady(sync.status().percent);
    const replicaVersion = replica.version;
    const since = values.since as ChangeToken | undefined;
    const limit = Math.min(Number(values.limit ?? DEFAULT_LIMIT), MAX_LIMIT);
    const isOfSite = since === undefined || since.siteKey === siteKey();
    const page = isOfSite ? journal.since(since ?? journal.head(), limit) : undefined;
    if (!page) throw changesGone();
    const body = { changes: page.entries, next_token: tokenOf(page.next), has_more: page.hasMore };
    return { status: 200, body, cacheTags: ['changes'], validUntilMs: nowMs() + TOKEN_MS, replicaVersion };
  };
}

export type Changes = ReturnType<typeof createChanges>;
