// The OpenAPI 3.0 document, the response to `GET {base}/doc`.

import type { JsonObject } from '../model/json.ts';
import { isTermKind, type Kind, PLURALS } from '../model/records.ts';
import { VERSION } from '../version.ts';
import type { Parameter, Schema } from './parameter.ts';
import { eventPassword } from './parameters.ts';
import {
  CHANGES_SCHEMA,
  ERROR_SCHEMA,
  listEnvelope,
  RECORD_SCHEMAS,
  SCHEMA_NAMES,
  schemaRef,
} from './response-schemas.ts';
import { type Endpoint, type Operation, ROUTES, type Route, WRITE_OPERATIONS } from './routes.ts';

interface OpenApiContext {
  /** URL of the namespace as called, without a final slash. */
  serverUrl: string;
  title: string;
  perPage: number;
  /** How a client logs in: the scheme of the header `Authorization`. */
  login: { scheme: string; description: string };
  /**
   * Adds what the document of The Events Calendar lacks: creates, the gateway's own routes and filters, and every
   * status. Leaves out what OpenAPI tools reject. For generators of clients and the documentation page.
   */
  complete?: boolean;
}

const JSON_TYPE = 'application/json';

const OPERATION_VERBS: Record<Operation, string> = {
  describe: 'Describe the namespace',
  document: 'This document',
  list: 'List',
  create: 'Create',
  read: 'Read',
  update: 'Change',
  delete: 'Delete',
  calendar: 'iCalendar file of',
  feed: 'Atom feed of',
  changes: 'Changes of public records',
};

/** `name`: in `components.responses`, an identifier of generated code. `description`: of all errors of the status. */
const HTTP_STATUSES: Readonly<Record<number, { name: string; description: string }>> = {
  200: { name: 'Done', description: 'Done' },
  201: { name: 'Created', description: 'Created' },
  400: { name: 'BadRequest', description: 'A parameter is missing or not acceptable: `data.params` names it' },
  401: { name: 'Unauthorized', description: 'The caller must log in, or the credentials are wrong' },
  403: { name: 'Forbidden', description: 'The caller may not do that' },
  404: { name: 'NotFound', description: 'There is no such record or page' },
  409: { name: 'Conflict', description: 'A request with this Idempotency-Key is in progress' },
  410: { name: 'Gone', description: 'It is already in the trash, or the token is too old' },
  422: { name: 'KeyReused', description: 'This Idempotency-Key belongs to a request with another body' },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests or failed logins: `Retry-After` says when to try again',
  },
  500: { name: 'Failed', description: 'The CMS failed' },
  502: {
    name: 'BadGateway',
    description: 'The CMS gave no usable answer. With the code `calendar_outcome_unknown` it may have made the change',
  },
  503: { name: 'Unavailable', description: 'The calendar is syncing, overloaded, or cannot reach the CMS for this' },
};

/** The paths lack the namespace, which is part of the server's URL. */
export function openApi(context: OpenApiContext): object {
  const { complete, serverUrl, title } = context;
  const { scheme, description } = context.login;
  const routes = ROUTES.filter(({ path, addition }) => path !== '' && (complete || !addition));
  return {
    openapi: '3.0.0',
    info: { version: VERSION, title, description: DESCRIPTION, ...(complete ? { license: LICENSE } : {}) },
    components: {
      schemas: RECORD_SCHEMAS,
      ...(complete ? {} : { parameters: { password: queryParameter(eventPassword, context) } }),
      responses: ERROR_RESPONSES,
      securitySchemes: { password: { type: 'http', scheme: scheme.toLowerCase(), description } },
    },
    servers: [{ url: complete ? serverUrl : `${serverUrl}/` }],
    paths: Object.fromEntries(routes.map((route) => [route.path, pathItem(route, context)])),
  };
}

const DESCRIPTION = 'Events, venues, organizers, categories and tags.';
const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' };

const ERROR_RESPONSES: JsonObject = Object.fromEntries(
  Object.entries(HTTP_STATUSES)
    .filter(([status]) => Number(status) >= 400)
    .map(([, { name, description }]) => [name, { description, content: { [JSON_TYPE]: { schema: ERROR_SCHEMA } } }]),
);

function statuses(operation: Operation, kind: Kind | undefined, { complete }: OpenApiContext): number[] {
  const own = ownStatuses(operation, kind);
  if (!complete) return own;
  const ofWrites = WRITE_OPERATIONS.has(operation) ? [404, 500, 502] : [];
  return [...new Set([...own, 401, 429, 503, ...ofWrites])].sort((a, b) => a - b);
}

/** The status codes of the operation itself. Operations of the original have those of its document. */
function ownStatuses(operation: Operation, kind: Kind | undefined): number[] {
  if (operation === 'document') return [200];
  if (operation === 'changes') return [200, 400, 410];
  if (operation === 'list' || operation === 'feed') return [200, 400, 404];
  if (operation === 'create') return [201, 400, 401, 403, 409, 422];
  if (operation === 'delete') return [200, 400, 403, 410, 500];
  if (operation === 'update') return kind === 'organizer' ? [201, 400, 403] : [200, 201, 400, 403];
  return kind && isTermKind(kind) ? [200, 400, 404] : [200, 400, 403, 404];
}

const LISTS: ReadonlySet<Operation> = new Set(['list', 'calendar', 'feed']);

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key and body gets the record that was created, with `Idempotent-Replayed: true`',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const MEDIA_TYPES: Partial<Record<Operation, string>> = { calendar: 'text/calendar', feed: 'application/atom+xml' };

/** The document of The Events Calendar lacks creates, and what this gateway adds. */
function endpointsOf({ endpoints }: Route, { complete }: OpenApiContext): Endpoint[] {
  if (complete) return endpoints;
  return endpoints
    .filter(({ operation }) => operation !== 'create')
    .map((endpoint) => ({ ...endpoint, parameters: endpoint.parameters.filter(({ addition }) => !addition) }));
}

function pathItem(route: Route, context: OpenApiContext): JsonObject {
  const operations: JsonObject = {};
  for (const endpoint of endpointsOf(route, context))
    operations[endpoint.methods[0]!.toLowerCase()] = operationObject(route, endpoint, context);
  return operations;
}

function operationObject(route: Route, endpoint: Endpoint, context: OpenApiContext): JsonObject {
  const { kind, by } = route;
  const { operation, methods } = endpoint;
  const noun = kind && (LISTS.has(operation) && !by ? PLURALS[kind] : kind);
  const summary = [OPERATION_VERBS[operation], noun, by && `by ${by}`].filter(Boolean).join(' ');
  const tagWithoutKind = operation === 'changes' ? 'changes' : 'description';
  const isWrite = operation === 'create' || operation === 'update';
  const responses = statuses(operation, kind, context).map((status) => [status, response(status, route, operation)]);
  return {
    operationId: summary.replaceAll(' ', '-').toLowerCase(),
    summary,
    ...(methods.length > 1 ? { description: `${methods.slice(1).join(' and ')} do the same.` } : {}),
    tags: [kind ? PLURALS[kind] : tagWithoutKind],
    security: securityOf(operation, kind),
    parameters: [
      ...(isWrite ? identifyingParameters(route) : endpoint.parameters).map((one) => parameterObject(one, context)),
      ...(operation === 'create' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(isWrite ? { requestBody: requestBody(bodyOf(route, endpoint)) } : {}),
    responses: Object.fromEntries(responses),
  };
}

/** Lists and reads accept credentials, writes require them. Operations of no kind take none. */
function securityOf(operation: Operation, kind: Kind | undefined): object[] {
  if (operation === 'read' || LISTS.has(operation)) return [{}, { password: [] }];
  return kind ? [{ password: [] }] : [{}];
}

/** The parameters that identify the record, in the path or as a password: those of the route's read endpoint. */
function identifyingParameters({ by, endpoints }: Route): readonly Parameter[] {
  return (by && endpoints.find(({ operation }) => operation === 'read')?.parameters) || [];
}

/** All other parameters. `includes` compares objects, which read and update of a route share (`itemRoute`). */
function bodyOf(route: Route, { parameters }: Endpoint): Parameter[] {
  const identifying = identifyingParameters(route);
  return parameters.filter((parameter) => !parameter.inPath && !identifying.includes(parameter));
}

function parameterObject(parameter: Parameter, context: OpenApiContext): JsonObject {
  const { name, description, inPath } = parameter;
  if (inPath) return { name, in: 'path', required: true, description, schema: parameterSchema(parameter) };
  // The Events Calendar wrongly declares the password `in: path`, where its clients look for it. OpenAPI 3.0 ignores
  // what stands beside `$ref`. Some tools do not: the complete document has the query parameter alone.
  if (!context.complete && parameter === eventPassword)
    return { $ref: `#/components/parameters/${name}`, name, in: 'path' };
  return queryParameter(parameter, context);
}

function queryParameter(parameter: Parameter, context: OpenApiContext): JsonObject {
  const { name, description, type } = parameter;
  const fullSchema = parameterSchema(parameter);
  // In a query a list is CSV, and one value is a list of one.
  const schema = fullSchema.oneOf?.find(({ type }) => type === 'array') ?? fullSchema;
  const value = defaultOf(parameter) ?? (name === 'per_page' ? context.perPage : undefined);
  return {
    name,
    in: 'query',
    description,
    ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
    ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
    schema: value === undefined ? schema : { ...schema, default: value },
    ...(type.examples && { examples: Object.fromEntries(type.examples.map((value) => [value, { value }])) }),
  };
}

/** The default as a value of the parameter's type: `hide_empty` has the text `1`, which is true. */
function defaultOf({ shownDefault: value, type }: Parameter): unknown {
  if (value === undefined || value === null || value === 'computed') return undefined;
  return type.parse ? type.parse(value) : value;
}

export function parameterSchema({ type: { schema }, limit }: Parameter): Schema {
  const withLimit = (one: Schema): Schema => (one.type === 'string' ? { ...one, maxLength: limit.characters } : one);
  return { ...withLimit(schema), ...(schema.oneOf ? { oneOf: schema.oneOf.map(withLimit) } : {}) };
}

function requestBody(fields: Parameter[]): JsonObject {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const properties = fields.map((one) => [one.name, { ...parameterSchema(one), description: one.description }]);
  const schema: Schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
  // One type: clients generated for several types send JSON without a Content-Type.
  return {
    description: 'Forms with fields of the same names are accepted too.',
    ...(required.length > 0 ? { required: true } : {}),
    content: { [JSON_TYPE]: { schema, example: exampleOf(fields) } },
  };
}

const EXAMPLE_DATES: Record<string, string> = { start_date: '2027-05-01 19:00', end_date: '2027-05-01 21:00' };

/** A valid body: the required fields and the record's name. */
function exampleOf(fields: Parameter[]): JsonObject {
  const shown = fields.filter(({ name, property, required }) => required || property === 'title' || name === 'name');
  return Object.fromEntries(shown.map(({ name, description }) => [name, EXAMPLE_DATES[name] ?? description]));
}

function response(status: number, { kind }: Route, operation: Operation): JsonObject {
  const { name, description } = HTTP_STATUSES[status]!;
  if (status >= 400) return { $ref: `#/components/responses/${name}` };
  const mediaType = MEDIA_TYPES[operation];
  if (mediaType !== undefined) return { description, content: { [mediaType]: { schema: { type: 'string' } } } };
  return { description, content: { [JSON_TYPE]: { schema: responseSchema(kind, operation) } } };
}

function responseSchema(kind: Kind | undefined, operation: Operation): Schema {
  if (operation === 'changes') return CHANGES_SCHEMA;
  if (!kind) return { type: 'object' };
  return operation === 'list' ? listEnvelope(kind) : schemaRef(SCHEMA_NAMES[kind]);
}
