// The header `Allow`: the methods that the actor may use.

import { resolveSlug, slugsOf } from '../calendar/read-post.ts';
import { can, mayEditPublished } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { parsePathId } from '../interface/value-types.ts';
import { isTermKind } from '../model/records.ts';
import { getRecord, idsBySlug } from '../store/records.ts';
import type { Context, State } from './state.ts';

/** `GET` alone for anonymous actors, and while the CMS is away. The order of the methods is WordPress's. */
export async function allowHeader(ctx: Pick<Context, 'state' | 'method'>, services: Services): Promise<string> {
  return ctx.state.actor.account ? methodsOf(ctx.state, ctx.method, services).catch(() => 'GET') : 'GET';
}

/**
 * Of a published post or a draft, for an account that may edit posts of the kind:
 *
 *   the account may edit it, or any post    all methods
 *   any other published post                GET
 *   a draft, and the request failed         GET
 *   a draft that the response shows         all: `readAsActor` has read it as its editor
 *   a draft, after OPTIONS                  all, if the CMS shows it to the account as its editor
 */
async function methodsOf(state: State, method: string, services: Services): Promise<string> {
  const { actor, path, matchedRoute, apiResponse, requestId, baseUrl } = state;
  const { kind, by, addition, endpoints = [] } = matchedRoute ?? {};
  if (!kind || addition) return 'GET';
  const permissions = await services.permissions.of(kind, actor);
  if (!can(actor, isTermKind(kind) ? 'manageTerms' : 'edit', permissions)) return 'GET';
  const all = endpoints.flatMap(({ methods }) => methods).join(', ');
  if (!by || isTermKind(kind)) return all;
  const segment = decodeURIComponent(path.split('/').at(-1) ?? '');
  const idOf = (slug: string) => idsBySlug(services.replica.db, kind, slug);
  const id = by === 'id' ? parsePathId(segment) : slugsOf(segment).flatMap(idOf)[0];
  const record = id === undefined ? undefined : getRecord(services.replica.db, kind, id);
  // The replica lacks drafts. 0 is nobody: an account that may edit the records of others may edit a draft too.
  if (mayEditPublished(actor, record?.author ?? 0, permissions)) return all;
  if (record || !apiResponse || apiResponse.status >= 300) return 'GET';
  if (method !== 'OPTIONS') return all;
  const request = { services, actor, requestId, baseUrl };
  const sought = id ?? (await resolveSlug(kind, segment, request));
  if (sought === undefined) return 'GET';
  await services.cmsRecords.read(kind, sought, request, { view: 'editor' });
  return all;
}
