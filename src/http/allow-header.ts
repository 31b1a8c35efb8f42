// The header `Allow`: the methods that the actor may use.

import { can, mayEditPublished } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { isTermKind } from '../model/records.ts';
import { getRecord, idsBySlug } from '../store/records.ts';
import type { State } from './state.ts';

const ITEM_METHODS = { posts: 'GET, DELETE, POST, PUT, PATCH', terms: 'GET, POST, PUT, PATCH, DELETE' };

/** `GET` alone for anonymous actors, and while the CMS is away. The order of the methods is WordPress's. */
export async function allowHeader(state: State, services: Services): Promise<string> {
  return state.actor.account ? methodsOf(state, services).catch(() => 'GET') : 'GET';
}

async function methodsOf({ actor, path, matchedRoute, apiResponse }: State, services: Services): Promise<string> {
  const { kind, by, addition } = matchedRoute ?? {};
  if (!kind || addition) return 'GET';
  const permissions = await services.permissions.of(kind, actor);
  const isTerm = isTermKind(kind);
  if (!can(actor, isTerm ? 'manageTerms' : 'edit', permissions)) return 'GET';
  if (!by) return 'GET, POST';
  if (isTerm) return ITEM_METHODS.terms;
  const segment = path.split('/').at(-1) ?? '';
  const id = by === 'id' ? Number(segment) : idsBySlug(services.replica.db, kind, segment)[0];
  const record = id === undefined ? undefined : getRecord(services.replica.db, kind, id);
  if (record) return mayEditPublished(actor, record.author, permissions) ? ITEM_METHODS.posts : 'GET';
  // Visitors do not see it, such as a draft: an actor who got it reads as an editor. Nobody gets an event in the trash.
  const mayEdit = can(actor, 'editOthers', permissions) || (apiResponse && apiResponse.status < 300);
  return mayEdit ? ITEM_METHODS.posts : 'GET';
}
