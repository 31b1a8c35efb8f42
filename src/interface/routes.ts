// The route table of the API: paths, methods, operations and their parameters.

import { type Kind, PLURALS, POST_KINDS, type PostKind, TERM_KINDS, type TermKind } from '../model/records.ts';
import { BODY_PARAMETERS, updateParameters } from './fields.ts';
import type { Parameter } from './parameter.ts';
import {
  changesParameters,
  eventFilters,
  eventSlugToUpdate,
  idParameters,
  LIST_PARAMETERS,
  namespaceParameters,
  slugParameters,
} from './parameters.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Operation =
  | 'describe'
  | 'document'
  | 'list'
  | 'create'
  | 'read'
  | 'update'
  | 'delete'
  /** The events of a list, or one event, as an iCalendar file. */
  | 'calendar'
  /** The events of a list as an Atom feed. */
  | 'feed'
  /** What the public lists gained, changed and lost. */
  | 'changes';

export const WRITE_OPERATIONS: ReadonlySet<Operation> = new Set(['create', 'update', 'delete']);

export interface Endpoint {
  methods: Method[];
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

export const NAMESPACE = 'calendar/events/v1';

const get = (operation: Operation, parameters: Parameter[] = []): Endpoint => ({
  methods: ['GET'],
  operation,
  parameters,
});

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

function itemRoute(kind: Kind, by: 'id' | 'slug', key: Parameter[], updateKey = key): Route {
  return {
    path: `/${PLURALS[kind]}/${by === 'id' ? '{id}' : 'by-slug/{slug}'}`,
    kind,
    by,
    endpoints: [
      get('read', key),
      { methods: ['DELETE'], operation: 'delete', parameters: key },
      {
        methods: ['POST', 'PUT', 'PATCH'],
        operation: 'update',
        parameters: [...updateKey, ...updateParameters(kind)],
      },
    ],
  };
}

const postRoutes = (kind: PostKind): Route[] => [
  collectionRoute(kind),
  itemRoute(kind, 'id', idParameters(kind)),
  itemRoute(kind, 'slug', slugParameters(kind), kind === 'event' ? [eventSlugToUpdate] : undefined),
];

const termRoutes = (kind: TermKind): Route[] => [collectionRoute(kind), itemRoute(kind, 'id', idParameters(kind))];

const eventFeeds: Route[] = [
  { path: '/events.ics', kind: 'event', endpoints: [get('calendar', eventFilters)], addition: true },
  { path: '/events.atom', kind: 'event', endpoints: [get('feed', eventFilters)], addition: true },
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
  ...TERM_KINDS.flatMap(termRoutes),
  { path: '/changes', endpoints: [get('changes', changesParameters)], addition: true },
];
