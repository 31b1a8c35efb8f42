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
  // 0 is nobody: who may edit the records of others may edit a draft, which the replica lacks, too.
  if (mayEditPublished(actor, record?.author ?? 0, permissions)) return all;
  if (record || !apiResponse || apiResponse.status >= 300) return 'GET';
  // Visitors do not see it, such as a draft: an actor who got it reads as an editor. After OPTIONS the CMS tells.
  if (method !== 'OPTIONS') return all;
  const request = { services, actor, requestId, baseUrl };
  const sought = id ?? (await resolveSlug(kind, segment, request));
  if (sought === undefined) return 'GET';
  await services.cmsRecords.read(kind, sought, request, { view: 'editor' });
  return all;
}
