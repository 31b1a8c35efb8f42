// The route table of calendar/events/v1: paths, methods, operations and their parameters. Everything that knows the interface reads it here.

import type { Kind, PostKind, TermKind } from '../records.ts';
import type { Parameter } from './parameters.ts';
import * as parameters from './parameters.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Operation = 'describe' | 'document' | 'list' | 'create' | 'read' | 'update' | 'delete';

export interface Endpoint {
  methods: Method[];
  operation: Operation;
  parameters: Parameter[];
}

export interface Route {
  /** Below the namespace, with `{id}` or `{slug}`. */
  path: string;
  kind?: Kind;
  by?: 'id' | 'slug';
  endpoints: Endpoint[];
}

/** The interface's word for each kind: in paths, envelopes and error codes. */
export const COLLECTIONS: Record<Kind, string> = {
  event: 'events',
  venue: 'venues',
  organizer: 'organizers',
  category: 'categories',
  tag: 'tags',
};

export const NAMESPACE = 'calendar/events/v1';

const get = (operation: Operation, ...parameters: Parameter[]): Endpoint => ({
  methods: ['GET'],
  operation,
  parameters,
});
const create = (fields: Parameter[]): Endpoint => ({ methods: ['POST'], operation: 'create', parameters: fields });

function item(
  path: string,
  kind: Kind,
  by: 'id' | 'slug',
  key: Parameter[],
  fields: Parameter[],
  updateKey = key,
): Route {
  return {
    path,
    kind,
    by,
    endpoints: [
      get('read', ...key),
      { methods: ['DELETE'], operation: 'delete', parameters: key },
      {
        methods: ['POST', 'PUT', 'PATCH'],
        operation: 'update',
        parameters: [...updateKey, ...parameters.optional(fields)],
      },
    ],
  };
}

function posts(kind: PostKind, list: Parameter[], fields: Parameter[]): Route[] {
  const path = `/${COLLECTIONS[kind]}`;
  const byId = kind === 'event' ? [parameters.eventId, parameters.password] : [parameters.recordId(kind)];
  return [
    { path, kind, endpoints: [get('list', ...list), create(fields)] },
    item(`${path}/{id}`, kind, 'id', byId, fields),
    item(
      `${path}/by-slug/{slug}`,
      kind,
      'slug',
      [parameters.recordSlug(kind)],
      fields,
      kind === 'event' ? [parameters.eventSlugToUpdate] : undefined,
    ),
  ];
}

function terms(kind: TermKind): Route[] {
  const path = `/${COLLECTIONS[kind]}`;
  return [
    {
      path,
      kind,
      endpoints: [
        get('list', ...parameters.termList(kind, COLLECTIONS[kind])),
        create(parameters.termFields(kind, 'create')),
      ],
    },
    item(`${path}/{id}`, kind, 'id', [parameters.recordId(kind)], parameters.termFields(kind, 'update')),
  ];
}

export const ROUTES: readonly Route[] = [
  { path: '', endpoints: [get('describe', ...parameters.describe)] },
  { path: '/doc', endpoints: [get('document')] },
  ...posts('event', parameters.eventList, parameters.eventFields),
  ...posts('venue', parameters.linkedList('venues'), parameters.venueFields),
  ...posts('organizer', parameters.linkedList('organizers'), parameters.organizerFields),
  ...terms('category'),
  ...terms('tag'),
];
