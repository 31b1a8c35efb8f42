// The `Allow` header: the methods that the actor may use at a route.

import { can, isStaff, mayEdit, permissionsFor } from '../calendar/permissions.ts';
import type { Services } from '../calendar/services.ts';
import { isTermKind } from '../model/records.ts';
import { findRoute } from './routes.ts';
import type { State } from './state.ts';

const ITEM_METHODS = { posts: 'GET, DELETE, POST, PUT, PATCH', terms: 'GET, POST, PUT, PATCH, DELETE' };

/** `GET` for anonymous actors, outside all routes, for records that the replica does not have, and if the CMS does not respond. */
export async function allowHeader(state: State, services: Services): Promise<string> {
  return state.actor.account ? methodsOf(state, services).catch(() => 'GET') : 'GET';
}

async function methodsOf({ actor, path }: State, services: Services): Promise<string> {
  const { kind, by, addition } = findRoute(path) ?? {};
  if (!kind || addition) return 'GET';
  const permissions = await permissionsFor(services, kind, actor);
  if (isTermKind(kind)) {
    if (!can(actor, 'manageTerms', permissions)) return 'GET';
    return by ? ITEM_METHODS.terms : 'GET, POST';
  }
  if (!isStaff(actor, permissions)) return 'GET';
  if (!by) return 'GET, POST';
  const key = path.split('/').at(-1) ?? '';
  const id = by === 'id' ? Number(key) : services.replica.idsBySlug(kind, key)[0];
  const record = id === undefined ? undefined : services.replica.get(kind, id);
  return record && mayEdit(actor, record, permissions) ? ITEM_METHODS.posts : 'GET';
}
