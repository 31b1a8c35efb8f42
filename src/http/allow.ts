// The `Allow` header: what the current caller may do at a route (interface-behaviour 9).

import type { Backing } from '../calendar/backing.ts';
import { capabilityNames } from '../calendar/capabilities.ts';
import { can, isStaff, mayEdit } from '../calendar/visibility.ts';
import type { Route } from '../interface/routes.ts';
import type { State } from './state.ts';

const ITEM = { posts: 'GET, DELETE, POST, PUT, PATCH', terms: 'GET, POST, PUT, PATCH, DELETE' };

/** The methods as the header lists them; `GET` for anonymous callers, outside of all routes and for records that the copy does not have. */
export async function allowed(route: Route | undefined, state: State, backing: Backing): Promise<string> {
  const { kind } = route ?? {};
  if (!route || !kind || !state.caller.account) return 'GET';
  const names = await capabilityNames(backing, kind, state.caller);
  if (kind === 'category' || kind === 'tag') {
    if (!can(state.caller, 'manage_terms', names && { manage_terms: 'manage_categories', ...names })) return 'GET';
    return route.by ? ITEM.terms : 'GET, POST';
  }
  if (!isStaff(state.caller, names)) return 'GET';
  if (!route.by) return 'GET, POST';
  const key = state.path.split('/').at(-1) ?? '';
  const id = route.by === 'id' ? Number(key) : backing.replica.bySlug(kind, key)[0];
  const record = id === undefined ? undefined : backing.replica.get(kind, id);
  return record && mayEdit(state.caller, record, names) ? ITEM.posts : 'GET';
}
