// How the OpenAPI document shows one route: its operations with their parameters, bodies and answers (interface-behaviour 8).

import type { Kind } from '../records.ts';
import type { Parameter } from './parameters.ts';
import { listEnvelope, SCHEMA_OF, type Schema, schemaRef } from './records.ts';
import { COLLECTIONS, type Endpoint, type Operation, type Route } from './routes.ts';

export interface DocumentContext {
  /** Address of the called mount, with or without a final slash. */
  serverUrl: string;
  title: string;
  description: string;
  perPage: number;
  /** With POST on the collections and the longest texts, which the original's document leaves out: for the documentation page. */
  complete?: boolean;
}

type Json = Record<string, unknown>;

const VERBS: Record<Operation, string> = {
  describe: 'Describe the namespace',
  document: 'This document',
  list: 'List',
  create: 'Create',
  read: 'Read',
  update: 'Change',
  delete: 'Delete',
};

export const MEANINGS: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  400: 'A parameter is missing or not acceptable: `data.params` names it',
  401: 'The caller must log in',
  403: 'The caller may not do that',
  404: 'There is no such record or page',
  409: 'A request with this Idempotency-Key is in progress',
  410: 'It is already in the trash',
  422: 'This Idempotency-Key belongs to a request with another body',
  500: 'The CMS failed',
};

/** The status codes that the original's document names (interface-behaviour 8). */
function statuses(operation: Operation, kind: Kind | undefined): number[] {
  if (operation === 'document') return [200];
  if (operation === 'list') return [200, 400, 404];
  if (operation === 'create') return [201, 400, 401, 403, 409, 422];
  if (operation === 'delete') return [200, 400, 403, 410, 500];
  if (operation === 'update') return kind === 'organizer' ? [201, 400, 403] : [200, 201, 400, 403];
  return kind === 'category' || kind === 'tag' ? [200, 400, 404] : [200, 400, 403, 404];
}

/** Only the complete document shows creates. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: a repeated request with the same key and body gets the record that was created, with `Idempotent-Replayed: true`',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** A route as OpenAPI documents it: one operation a method. */
export function pathItem(route: Route, context: DocumentContext): Json {
  const shown = route.endpoints.filter(({ operation }) => operation !== 'create' || context.complete);
  return Object.fromEntries(
    shown.map((endpoint) => [endpoint.methods[0]!.toLowerCase(), operation(route, endpoint, context)]),
  );
}

function operation(route: Route, endpoint: Endpoint, context: DocumentContext): Json {
  const { kind, by } = route;
  const { operation, methods } = endpoint;
  const word = kind && (operation === 'list' ? COLLECTIONS[kind] : kind);
  const summary = [VERBS[operation], word, by && `by ${by}`].filter(Boolean).join(' ');
  const writes = operation === 'create' || operation === 'update';
  return {
    operationId: summary.replaceAll(' ', '-').toLowerCase(),
    summary,
    ...(methods.length > 1 ? { description: `${methods.slice(1).join(' and ')} do the same.` } : {}),
    tags: [kind ? COLLECTIONS[kind] : 'description'],
    security: operation === 'list' || operation === 'read' ? [{}, { password: [] }] : kind ? [{ password: [] }] : [{}],
    parameters: [
      ...(writes ? keysOf(route) : endpoint.parameters).map((one) => documented(one, route, context)),
      ...(operation === 'create' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(writes ? { requestBody: requestBody(bodyOf(route, endpoint), context) } : {}),
    responses: Object.fromEntries(
      statuses(operation, kind).map((status) => [status, response(status, route, operation)]),
    ),
  };
}

/** What says which record is meant: the parameters of its read endpoint. A collection has none. */
function keysOf({ by, endpoints }: Route): Parameter[] {
  return (by && endpoints.find(({ operation }) => operation === 'read')?.parameters) || [];
}

function bodyOf(route: Route, { parameters }: Endpoint): Parameter[] {
  const keys = keysOf(route);
  return parameters.filter((one) => !one.inPath && !keys.includes(one));
}

/** Beside the id in the original's document, as if they were parts of the path too: an event's password. */
export const hiddenParameters = (route: Route): Parameter[] => keysOf(route).filter(({ inPath }) => !inPath);

/**
 * A path or query parameter. What the original wrongly declares `in: path` is a reference to the true, query parameter, with the
 * original's words beside it: OpenAPI 3.0 ignores what stands beside `$ref`, and a reader of the bare list finds what it knew.
 */
function documented(one: Parameter, route: Route, context: DocumentContext): Json {
  if (one.inPath) {
    return { name: one.name, in: 'path', required: true, description: one.about, schema: schemaOf(one, context) };
  }
  if (hiddenParameters(route).includes(one)) {
    return { $ref: `#/components/parameters/${one.name}`, name: one.name, in: 'path' };
  }
  return queryOf(one, context);
}

/** A parameter as one of a query (OpenAPI 3.0, Parameter Object). The default of `per_page` is the configured size. */
export function queryOf(one: Parameter, context: DocumentContext): Json {
  const { perPage } = context;
  const schema = schemaOf(one, context);
  // In a query a list is CSV, and one value is a list of one.
  const shown = schema.oneOf?.find(({ type }) => type === 'array') ?? schema;
  const value = one.name === 'per_page' ? perPage : defaultValue(one);
  return {
    name: one.name,
    in: 'query',
    description: one.about,
    ...(shown.type === 'array' ? { style: 'form', explode: false } : {}),
    schema: value === undefined ? shown : { ...shown, default: value },
  };
}

/** The default as the value it means: the root description has some of them as texts. */
function defaultValue({ default: value, kind }: Parameter): unknown {
  if (value === undefined || value === null || value === 'computed') return undefined;
  return kind.read ? kind.read(value) : value;
}

/** How long a text may be is said in the complete document alone: the original's has no such thing. */
function schemaOf({ kind, limit }: Parameter, { complete }: DocumentContext): Schema {
  const schema = withoutTypeLists(kind.schema);
  if (!complete) return schema;
  const limited = (one: Schema): Schema => (one.type === 'string' ? { ...one, maxLength: limit.characters } : one);
  return { ...limited(schema), ...(schema.oneOf ? { oneOf: schema.oneOf.map(limited) } : {}) };
}

/** OpenAPI 3.0 has no lists of types: `['integer', 'string']` becomes a choice. */
function withoutTypeLists({ type, items, oneOf, ...rest }: Parameter['kind']['schema']): Schema {
  const choices = Array.isArray(type) ? type.map((one) => ({ type: one })) : oneOf;
  return {
    ...rest,
    ...(typeof type === 'string' ? { type } : {}),
    ...(items ? { items: withoutTypeLists(items) } : {}),
    ...(choices ? { oneOf: choices.map(withoutTypeLists) } : {}),
  };
}

function requestBody(fields: Parameter[], context: DocumentContext): Json {
  const required = fields.filter((one) => one.required).map(({ name }) => name);
  const schema: Schema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((one) => [one.name, { ...schemaOf(one, context), description: one.about }]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
  return {
    ...(required.length > 0 ? { required: true } : {}),
    content: Object.fromEntries(BODY_TYPES.map((type) => [type, { schema, example: exampleOf(fields) }])),
  };
}

const EXAMPLE_DATES: Record<string, string> = { start_date: '2027-05-01 19:00', end_date: '2027-05-01 21:00' };

/** A body that is accepted as it stands: what is required, and the record's name. */
function exampleOf(fields: Parameter[]): Json {
  const shown = fields.filter(
    ({ name, field, required }) => required || [name, field].includes('title') || name === 'name',
  );
  return Object.fromEntries(shown.map(({ name, about }) => [name, EXAMPLE_DATES[name] ?? about]));
}

function response(status: number, { kind }: Route, operation: Operation): Json {
  if (status >= 400) return { $ref: `#/components/responses/${status}` };
  const schema: Schema = !kind
    ? { type: 'object' }
    : operation === 'list'
      ? listEnvelope(kind)
      : schemaRef(SCHEMA_OF[kind]);
  return { description: MEANINGS[status], content: { 'application/json': { schema } } };
}
