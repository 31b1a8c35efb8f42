// Describes the interface out of its route table: the root description, what OPTIONS answers, and the OpenAPI document (interface-behaviour 8).

import { type DocumentContext, hiddenParameters, MEANINGS, pathItem, queryOf } from './operations.ts';
import type { Parameter } from './parameters.ts';
import { RECORD_SCHEMAS, REFUSAL } from './records.ts';
import { ROUTES, type Route } from './routes.ts';

export interface DescriptionContext {
  /** Address of the called mount, without a final slash: `http://host/calendar/events/v1`. */
  base: string;
  /** The called mount: `calendar/events/v1`, `tribe/events/v1`. */
  namespace: string;
  /** Where the root's `up` link points. */
  up: string;
  perPage: number;
  /** The default window of the event list, as date texts. */
  window: { start: string; end: string };
}

type Json = Record<string, unknown>;

const PLACEHOLDERS: Record<NonNullable<Route['by']>, string> = { id: '(?P<id>\\d+)', slug: '(?P<slug>[^/]+)' };

/** `GET {base}`: every route with its methods, endpoints and arguments. */
export function describeNamespace(context: DescriptionContext): object {
  const routes = ROUTES.map((route) => [pattern(route, context), describeRoute(route, context)]);
  return {
    namespace: context.namespace,
    routes: Object.fromEntries(routes),
    _links: { up: [{ href: context.up }] },
  };
}

/** One route's part of the root description, which is also the body of its OPTIONS answer. */
export function describeRoute(route: Route, context: DescriptionContext): object {
  const endpoints = route.endpoints.map(({ methods, parameters }) => ({ methods, args: args(parameters, context) }));
  return {
    namespace: context.namespace,
    methods: endpoints.flatMap(({ methods }) => methods),
    endpoints,
    ...(route.by ? {} : { _links: { self: [{ href: `${context.base}${route.path}` }] } }),
  };
}

function pattern({ path, by }: Route, { namespace }: DescriptionContext): string {
  return `/${namespace}${by ? path.replace(`{${by}}`, PLACEHOLDERS[by]) : path}`;
}

/** By name; where path and body have one of the same name, the path's. None at all is an empty list, as PHP writes it. */
function args(parameters: Parameter[], context: DescriptionContext): Json | [] {
  const described: Json = {};
  for (const one of parameters) {
    if (Object.hasOwn(described, one.name)) continue;
    const value = defaultOf(one, context);
    described[one.name] = {
      required: one.required ?? false,
      ...(value === undefined ? {} : { default: value }),
      description: one.about,
      ...one.kind.schema,
    };
  }
  return parameters.length > 0 ? described : [];
}

function defaultOf(one: Parameter, { namespace, perPage, window }: DescriptionContext): Parameter['default'] {
  if (one.name === 'namespace') return namespace;
  if (one.default !== 'computed') return one.default;
  const computed: Record<string, string> = {
    per_page: String(perPage),
    start_date: window.start,
    end_date: window.end,
  };
  return computed[one.name];
}

/** What creates alone answer, which only the complete document shows. */
const OF_CREATES = new Set(['409', '422']);

/** The OpenAPI 3.0 document that `/doc` answers, without its namespace in the paths. */
export function openApi(context: DocumentContext): object {
  const documented = ROUTES.filter(({ path }) => path !== '');
  const refusals = Object.entries(MEANINGS).filter(
    ([status]) => Number(status) >= 400 && (context.complete || !OF_CREATES.has(status)),
  );
  return {
    openapi: '3.0.0',
    info: { version: '1.0.0', title: context.title, description: context.description },
    components: {
      schemas: RECORD_SCHEMAS,
      parameters: Object.fromEntries(
        documented.flatMap(hiddenParameters).map((one) => [one.name, queryOf(one, context)]),
      ),
      responses: Object.fromEntries(
        refusals.map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: REFUSAL } } },
        ]),
      ),
      securitySchemes: {
        password: { type: 'http', scheme: 'basic', description: 'User name and application password of the CMS' },
      },
    },
    servers: [{ url: `${context.serverUrl.replace(/\/$/, '')}/` }],
    paths: Object.fromEntries(documented.map((route) => [route.path, pathItem(route, context)])),
  };
}
