// The OpenAPI 3.0 document, the response to `GET {base}/doc`.

import type { JsonObject } from '../model/json.ts';
import { isTermKind, PLURALS } from '../model/kinds.ts';
import type { Kind } from '../model/records.ts';
import type { Parameter } from './parameter.ts';
import { ERROR_SCHEMA, listEnvelope, RECORD_SCHEMAS, SCHEMA_NAMES, schemaRef } from './response-schemas.ts';
import { type Endpoint, type Operation, ROUTES, type Route } from './routes.ts';
import type { Schema } from './schema.ts';

export interface OpenApiContext {
  /** URL of the namespace as called, with or without a final slash. */
  serverUrl: string;
  title: string;
  description: string;
  perPage: number;
  /**
   * Adds what the document of The Events Calendar lacks: creates, and the limits of texts. The documentation
   * page uses this.
   */
  complete?: boolean;
}

const OPERATION_VERBS: Record<Operation, string> = {
  describe: 'Describe the namespace',
  document: 'This document',
  list: 'List',
  create: 'Create',
  read: 'Read',
  update: 'Change',
  delete: 'Delete',
};

const STATUS_DESCRIPTIONS: Record<number, string> = {
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

/** Only creates answer these. */
const CREATE_STATUSES = new Set(['409', '422']);

/** The paths lack the namespace, which is part of the server's URL. */
export function openApi(context: OpenApiContext): object {
  const routes = ROUTES.filter(({ path }) => path !== '');
  const errors = Object.entries(STATUS_DESCRIPTIONS).filter(
    ([status]) => Number(status) >= 400 && (context.complete || !CREATE_STATUSES.has(status)),
  );
  return {
    openapi: '3.0.0',
    info: { version: '1.0.0', title: context.title, description: context.description },
    components: {
      schemas: RECORD_SCHEMAS,
      parameters: Object.fromEntries(
        routes.flatMap(misplacedParameters).map((parameter) => [parameter.name, queryParameter(parameter, context)]),
      ),
      responses: Object.fromEntries(
        errors.map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: ERROR_SCHEMA } } },
        ]),
      ),
      securitySchemes: {
        password: { type: 'http', scheme: 'basic', description: 'User name and application password of the CMS' },
      },
    },
    servers: [{ url: `${context.serverUrl.replace(/\/$/, '')}/` }],
    paths: Object.fromEntries(routes.map((route) => [route.path, pathItem(route, context)])),
  };
}

/** The status codes that the document of The Events Calendar names. */
function statuses(operation: Operation, kind: Kind | undefined): number[] {
  if (operation === 'document') return [200];
  if (operation === 'list') return [200, 400, 404];
  if (operation === 'create') return [201, 400, 401, 403, 409, 422];
  if (operation === 'delete') return [200, 400, 403, 410, 500];
  if (operation === 'update') return kind === 'organizer' ? [201, 400, 403] : [200, 201, 400, 403];
  return kind && isTermKind(kind) ? [200, 400, 404] : [200, 400, 403, 404];
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: a repeated request with the same key and body gets the record that was created, with `Idempotent-Replayed: true`',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

function pathItem(route: Route, context: OpenApiContext): JsonObject {
  const endpoints = route.endpoints.filter(({ operation }) => operation !== 'create' || context.complete);
  return Object.fromEntries(
    endpoints.map((endpoint) => [endpoint.methods[0]!.toLowerCase(), operationObject(route, endpoint, context)]),
  );
}

function operationObject(route: Route, endpoint: Endpoint, context: OpenApiContext): JsonObject {
  const { kind, by } = route;
  const { operation, methods } = endpoint;
  const noun = kind && (operation === 'list' ? PLURALS[kind] : kind);
  const summary = [OPERATION_VERBS[operation], noun, by && `by ${by}`].filter(Boolean).join(' ');
  const isWrite = operation === 'create' || operation === 'update';
  return {
    operationId: summary.replaceAll(' ', '-').toLowerCase(),
    summary,
    ...(methods.length > 1 ? { description: `${methods.slice(1).join(' and ')} do the same.` } : {}),
    tags: [kind ? PLURALS[kind] : 'description'],
    security: securityOf(operation, kind),
    parameters: [
      ...(isWrite ? keyParameters(route) : endpoint.parameters).map((one) => parameterObject(one, route, context)),
      ...(operation === 'create' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(isWrite ? { requestBody: requestBody(bodyOf(route, endpoint), context) } : {}),
    responses: Object.fromEntries(
      statuses(operation, kind).map((status) => [status, response(status, route, operation)]),
    ),
  };
}

/** Lists and reads accept credentials, writes require them. */
function securityOf(operation: Operation, kind: Kind | undefined): object[] {
  if (operation === 'list' || operation === 'read') return [{}, { password: [] }];
  return kind ? [{ password: [] }] : [{}];
}

/** The parameters that identify the record: those of the route's read endpoint. */
function keyParameters({ by, endpoints }: Route): Parameter[] {
  return (by && endpoints.find(({ operation }) => operation === 'read')?.parameters) || [];
}

function bodyOf(route: Route, { parameters }: Endpoint): Parameter[] {
  const keys = keyParameters(route);
  return parameters.filter((parameter) => !parameter.inPath && !keys.includes(parameter));
}

/**
 * Query parameters that the document of The Events Calendar wrongly declares `in: path`: the password of an
 * event.
 */
const misplacedParameters = (route: Route): Parameter[] => keyParameters(route).filter(({ inPath }) => !inPath);

/**
 * A misplaced parameter becomes a reference to the correct query parameter, with the original's wrong
 * declaration next to it. OpenAPI 3.0 ignores the siblings of `$ref`, and clients that read the bare list
 * find what they expect.
 */
function parameterObject(parameter: Parameter, route: Route, context: OpenApiContext): JsonObject {
  const { name, description, inPath } = parameter;
  if (inPath) return { name, in: 'path', required: true, description, schema: schemaOf(parameter, context) };
  if (misplacedParameters(route).includes(parameter))
    return { $ref: `#/components/parameters/${name}`, name, in: 'path' };
  return queryParameter(parameter, context);
}

function queryParameter(parameter: Parameter, context: OpenApiContext): JsonObject {
  const { name, description } = parameter;
  const fullSchema = schemaOf(parameter, context);
  // In a query a list is CSV, and one value is a list of one.
  const schema = fullSchema.oneOf?.find(({ type }) => type === 'array') ?? fullSchema;
  const value = name === 'per_page' ? context.perPage : defaultOf(parameter);
  return {
    name,
    in: 'query',
    description,
    ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    schema: value === undefined ? schema : { ...schema, default: value },
  };
}

/** The parsed default: the namespace index shows some as texts. */
function defaultOf({ default: value, type }: Parameter): unknown {
  if (value === undefined || value === null || value === 'computed') return undefined;
  return type.parse ? type.parse(value) : value;
}

function schemaOf({ type, limit }: Parameter, { complete }: OpenApiContext): Schema {
  const schema = withoutTypeLists(type.schema);
  if (!complete) return schema;
  const withLimit = (one: Schema): Schema => (one.type === 'string' ? { ...one, maxLength: limit.characters } : one);
  return { ...withLimit(schema), ...(schema.oneOf ? { oneOf: schema.oneOf.map(withLimit) } : {}) };
}

/** OpenAPI 3.0 has no lists of types: `['integer', 'string']` becomes a choice. */
function withoutTypeLists({ type, items, oneOf, ...rest }: Parameter['type']['schema']): Schema {
  const choices = Array.isArray(type) ? type.map((one) => ({ type: one })) : oneOf;
  return {
    ...rest,
    ...(typeof type === 'string' ? { type } : {}),
    ...(items ? { items: withoutTypeLists(items) } : {}),
    ...(choices ? { oneOf: choices.map(withoutTypeLists) } : {}),
  };
}

function requestBody(fields: Parameter[], context: OpenApiContext): JsonObject {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const schema: Schema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field.name, { ...schemaOf(field, context), description: field.description }]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
  return {
    ...(required.length > 0 ? { required: true } : {}),
    content: Object.fromEntries(BODY_TYPES.map((type) => [type, { schema, example: exampleOf(fields) }])),
  };
}

const EXAMPLE_DATES: Record<string, string> = { start_date: '2027-05-01 19:00', end_date: '2027-05-01 21:00' };

/** A valid body: the required fields and the record's name. */
function exampleOf(fields: Parameter[]): JsonObject {
  const shown = fields.filter(
    ({ name, recordKey, required }) => required || name === 'title' || recordKey === 'title' || name === 'name',
  );
  return Object.fromEntries(shown.map(({ name, description }) => [name, EXAMPLE_DATES[name] ?? description]));
}

function response(status: number, { kind }: Route, operation: Operation): JsonObject {
  if (status >= 400) return { $ref: `#/components/responses/${status}` };
  return {
    description: STATUS_DESCRIPTIONS[status],
    content: { 'application/json': { schema: responseSchema(kind, operation) } },
  };
}

function responseSchema(kind: Kind | undefined, operation: Operation): Schema {
  if (!kind) return { type: 'object' };
  return operation === 'list' ? listEnvelope(kind) : schemaRef(SCHEMA_NAMES[kind]);
}
