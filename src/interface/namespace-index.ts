// The namespace index, the response to `GET {base}`: every route with its methods and parameters, in
// WordPress's format.

import type { JsonObject } from '../model/json.ts';
import type { Parameter } from './parameter.ts';
import { ROUTES, type Route } from './routes.ts';

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
  return {
    namespace: context.namespace,
    routes: Object.fromEntries(routes),
    _links: { up: [{ href: context.up }] },
  };
}

/** One route's entry in the namespace index, which is also the response to OPTIONS. */
export function describeRoute(route: Route, context: NamespaceContext): object {
  const endpoints = route.endpoints.map(({ methods, parameters }) => ({
    methods,
    args: describeParameters(parameters, context),
  }));
  const description = {
    namespace: context.namespace,
    methods: endpoints.flatMap(({ methods }) => methods),
    endpoints,
  };
  if (route.by) return description;
  return { ...description, _links: { self: [{ href: `${context.base}${route.path}` }] } };
}

function routePattern({ path, by }: Route, { namespace }: NamespaceContext): string {
  return `/${namespace}${by ? path.replace(`{${by}}`, PLACEHOLDERS[by]) : path}`;
}

/**
 * A path parameter takes precedence over a body parameter of the same name. PHP writes an empty object as an
 * empty list.
 */
function describeParameters(parameters: readonly Parameter[], context: NamespaceContext): JsonObject | [] {
  const shown = parameters.filter(({ addition }) => !addition);
  if (shown.length === 0) return [];
  const args: JsonObject = {};
  for (const parameter of shown) {
    const { name, required = false, description, type } = parameter;
    if (Object.hasOwn(args, name)) continue;
    const value = defaultOf(parameter, context);
    args[name] = {
      required,
      ...(value === undefined ? {} : { default: value }),
      description,
      ...type.schema,
    };
  }
  return args;
}

function defaultOf({ name, default: value }: Parameter, { defaults }: NamespaceContext): Parameter['default'] {
  return value === 'computed' ? defaults[name] : value;
}
