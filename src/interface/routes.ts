// The route table of the API: paths, methods, operations and their parameters; and the namespace index, the response to
// `GET {base}`, which describes the routes in WordPress's format.

import type { JsonObject } from '../model/json.ts';
import { isTermKind, type Kind, PLURALS, POST_KINDS, type PostKind, TERM_KINDS } from '../model/records.ts';
import { BODY_PARAMETERS, updateParameters } from './fields.ts';
import type { Parameter } from './parameter.ts';
import {
  changesParameters,
  eventListParameters,
  eventSlugToUpdate,
  idParameters,
  LIST_PARAMETERS,
  namespaceParameters,
  slugParameters,
} from './parameters.ts';

export type Operation =
  | 'describe'
  | 'document'
  | 'list'
  | 'create'
  | 'read'
  | 'update'
  | 'delete'
  // An iCalendar file of a list or one event, an Atom feed, and what the public lists gained, changed and lost.
  | 'calendar'
  | 'feed'
  | 'changes';

export const WRITE_OPERATIONS: ReadonlySet<Operation> = new Set(['create', 'update', 'delete']);

export interface Endpoint {
  methods: readonly string[];
  operation: Operation;
  parameters: readonly Parameter[];
}

export interface Route {
  /** Below the namespace, with `{id}` or `{slug}`. */
  path: string;
  kind?: Kind;
  by?: 'id' | 'slug';
  endpoints: Endpoint[];
  /** The original lacks the route: as `Parameter.addition`. */
  addition?: true;
}

const get = (operation: Operation, parameters: Parameter[] = []): Endpoint => {
  return { methods: ['GET'], operation, parameters };
};

function collectionRoute(kind: Kind): Route {
  return {
    path: `/${PLURALS[kind]}`,
    kind,
    endpoints: [
      get('list', LIST_PARAMETERS[kind]),
      { methods: ['POST'], operation: 'create', parameters: BODY_PARAMETERS[kind] },
    ],
  };
}

/** @param inUpdate in the path of an update: with an unknown slug, one of an event gets a 404 and no 400 */
function itemRoute(kind: Kind, by: 'id' | 'slug', inPath: Parameter[], inUpdate = inPath): Route {
  const read = get('read', inPath);
  const parameters = [...inUpdate, ...updateParameters(kind)];
  const update: Endpoint = { methods: ['POST', 'PUT', 'PATCH'], operation: 'update', parameters };
  const remove: Endpoint = { methods: ['DELETE'], operation: 'delete', parameters: inPath };
  return {
    path: `/${PLURALS[kind]}/${by === 'id' ? '{id}' : 'by-slug/{slug}'}`,
    kind,
    by,
    // The original's orders: `methods` in the namespace index shows them.
    endpoints: isTermKind(kind) ? [read, update, remove] : [read, remove, update],
  };
}

const kindRoutes = (kind: Kind): Route[] => [collectionRoute(kind), itemRoute(kind, 'id', idParameters(kind))];

const postRoutes = (kind: PostKind): Route[] => [
  ...kindRoutes(kind),
  itemRoute(kind, 'slug', slugParameters(kind), kind === 'event' ? [eventSlugToUpdate] : undefined),
];

/** A feed has more events on a page than a list of the same parameters. */
const feedParameters = (perPage: number): Parameter[] =>
  eventListParameters.map((one) => (one.name === 'per_page' ? { ...one, shownDefault: perPage } : one));

const eventFeeds: Route[] = [
  { path: '/events.ics', kind: 'event', endpoints: [get('calendar', feedParameters(1000))], addition: true },
  { path: '/events.atom', kind: 'event', endpoints: [get('feed', feedParameters(50))], addition: true },
  {
    path: '/events/{id}.ics',
    kind: 'event',
    by: 'id',
    endpoints: [get('calendar', idParameters('event'))],
    addition: true,
  },
];

export const ROUTES: readonly Route[] = [
  { path: '', endpoints: [get('describe', namespaceParameters)] },
  { path: '/doc', endpoints: [get('document')] },
  ...POST_KINDS.flatMap(postRoutes),
  ...eventFeeds,
  ...TERM_KINDS.flatMap(kindRoutes),
  { path: '/changes', endpoints: [get('changes', changesParameters)], addition: true },
];

export interface NamespaceContext {
  /** URL of the namespace as called, without a final slash: `http://host/calendar/events/v1`. */
  base: string;
  /** The namespace as called: `calendar/events/v1`, `tribe/events/v1`. */
  namespace: string;
  /** Target of the index's `up` link. */
  up: string;
  /** The `computed` defaults, by parameter. */
  defaults: Readonly<Record<string, string>>;
}

const PLACEHOLDERS: Record<NonNullable<Route['by']>, string> = { id: '(?P<id>\\d+)', slug: '(?P<slug>[^/]+)' };

export function describeNamespace(context: NamespaceContext): object {
  const routes = ROUTES.filter(({ addition }) => !addition).map((route) => [
    routePattern(route, context),
    describeRoute(route, context),
  ]);
  const _links = { up: [{ href: context.up }] };
  return { namespace: context.namespace, routes: Object.fromEntries(routes), _links };
}

/** One route's entry in the namespace index, which is also the response to OPTIONS. */
export function describeRoute(route: Route, context: NamespaceContext): object {
  const endpoints = route.endpoints.map(({ methods, parameters }) => ({
    methods,
    args: describeParameters(parameters, context),
  }));
  const allMethods = endpoints.flatMap(({ methods }) => methods);
  const description = { namespace: context.namespace, methods: allMethods, endpoints };
  if (route.by) return description;
  return { ...description, _links: { self: [{ href: `${context.base}${route.path}` }] } };
}

const routePattern = ({ path, by }: Route, { namespace }: NamespaceContext): string =>
  `/${namespace}${by ? path.replace(`{${by}}`, PLACEHOLDERS[by]) : path}`;

function describeParameters(parameters: readonly Parameter[], context: NamespaceContext): JsonObject | [] {
  const shown = parameters.filter(({ addition }) => !addition);
  // PHP writes an empty object as an empty list.
  if (shown.length === 0) return [];
  const args: JsonObject = {};
  for (const parameter of shown) {
    const { name, required = false, description, type } = parameter;
    // An update by slug has two parameters `slug`: the index shows the one in the path, which comes first.
    if (Object.hasOwn(args, name)) continue;
    const value = parameter.shownDefault === 'computed' ? context.defaults[name] : parameter.shownDefault;
    args[name] = { required, ...(value === undefined ? {} : { default: value }), description, ...type.schema };
  }
  return args;
}
