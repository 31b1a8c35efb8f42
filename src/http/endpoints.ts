// The routes: finds the endpoint of a request in the route table, validates the parameters and runs the use case.

import Router, { type RouterContext } from '@koa/router';
import { withCreatedInError } from '../calendar/cms-records.ts';
import { defaultWindow, zoneOf } from '../calendar/dates.ts';
import { events } from '../calendar/events.ts';
import { calendarName, changesSince, feeds } from '../calendar/feeds/event-feeds.ts';
import { linkedRecords } from '../calendar/linked-records.ts';
import { readForReplay, referenceChecks, resolveSlug } from '../calendar/read-post.ts';
import { parseItems, parseRendered, RenderedList, toBuffer } from '../calendar/rendered-records.ts';
import type { ApiResponse, CreatedRecord } from '../calendar/request.ts';
import { createRequestImages } from '../calendar/request-images.ts';
import type { ApiRequest, Services } from '../calendar/services.ts';
import { terms } from '../calendar/terms.ts';
import { type Config, NAMESPACE } from '../config-schema.ts';
import { invalidParams, noRoute, notReady, readOnlyCalendar, unknownNamespace } from '../interface/errors.ts';
import { openApi } from '../interface/openapi.ts';
import {
  describeNamespace,
  describeRoute,
  type Endpoint,
  type NamespaceContext,
  type Operation,
  ROUTES,
  type Route,
  WRITE_OPERATIONS,
} from '../interface/routes.ts';
import { checkLengths, validate } from '../interface/validate.ts';
import { isTruthy, parseList } from '../interface/value-types.ts';
import type { JsonObject } from '../model/json.ts';
import { isTermKind, type Kind, type PostKind, UNKNOWN_SITE } from '../model/records.ts';
import { IDEMPOTENCY_KEY_HEADER, LOGINS } from './headers.ts';
import type { Idempotency } from './idempotency.ts';
import { createBodyReader } from './read-body.ts';
import { combineRepeated } from './read-request.ts';
import { withProperties } from './sparse-lists.ts';
import { dryRunSockets, type Middleware, newState, type State } from './state.ts';
import { unknownParametersHeader } from './unknown-parameters.ts';

export const USE_CASES = {
  event: events,
  venue: linkedRecords('venue'),
  organizer: linkedRecords('organizer'),
  category: terms('category'),
  tag: terms('tag'),
};

export interface RouteOptions {
  services: Services;
  idempotency: Idempotency;
  limits: Pick<Config['limits'], 'bodyBytes' | 'jsonDepth' | 'idsPerParameter'>;
}

interface EndpointRequest {
  route: Route;
  endpoint: Endpoint;
  /** The id or slug in the path, still encoded. */
  pathSegment: string | undefined;
  state: State;
  body: Record<string, unknown>;
  idempotencyKey?: string | undefined;
  isDryRun?: boolean;
}

/** Operations that describe the API, not the records of a site. */
const DESCRIPTIONS: ReadonlySet<Operation> = new Set(['describe', 'document']);

const PATTERNS = { id: '(\\d+)', slug: '([^/]+)' };

/** `/events/{id}` as a regular expression. Letter case does not matter, as in WordPress. */
const patternOf = (path: string): RegExp => {
  const pattern = path.replaceAll('.', '\\.').replace(/\{(id|slug)\}/g, (_, name: 'id' | 'slug') => PATTERNS[name]);
  return new RegExp(`^${pattern}/?$`, 'i');
};

const PATTERN_OF = new Map(ROUTES.map((route) => [route, patternOf(route.path)]));
const routeAt = (path: string): Route | undefined => ROUTES.find((route) => PATTERN_OF.get(route)!.test(path));
const endpointOf = ({ endpoints }: Route, method: string): Endpoint | undefined =>
  endpoints.find(({ methods }) => methods.includes(method === 'HEAD' ? 'GET' : method));

/** The name in log and metrics of the route at this path below the mount. */
export function routeName(path: string, method: string): string {
  const route = routeAt(path);
  const operation = method === 'OPTIONS' ? 'options' : route && endpointOf(route, method)?.operation;
  return route && operation ? `${operation} ${route.path || '/'}` : 'none';
}

/** Leaves the response in `ctx.state.apiResponse`. Throws 404 `rest_no_route` for an unknown route. */
export function routes(options: RouteOptions): Middleware {
  const router = new Router<State>();
  const readBody = createBodyReader(options.limits);
  const run = createEndpointRunner(options);

  async function runRoute(ctx: RouterContext<State>, route: Route): Promise<void> {
    const { state, method } = ctx;
    const endpoint = endpointOf(route, method);
    state.matchedRoute = route;
    if (endpoint?.methods.includes('GET')) {
      const lists = endpoint.parameters.filter(({ type }) => type.isList);
      state.query = combineRepeated(state.query, ctx.querystring, lists);
    }
    const idempotencyKey = ctx.headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()] as string | undefined;
    // A tool with `dry_run` sends its request over a marked socket (mcp/server.ts).
    const isDryRun = dryRunSockets.has(ctx.req.socket);
    const body = await readBody(ctx);
    if (!endpoint) {
      state.apiResponse = { status: 200, body: describeRoute(route, namespaceContext(state, options.services)) };
      return;
    }
    const pathSegment = ctx.captures?.[0];
    const response = await run({ route, endpoint, pathSegment, state, body, idempotencyKey, isDryRun });
    const ofParameters = unknownParametersHeader(endpoint, { ...state.query, ...body });
    const isDescription = DESCRIPTIONS.has(endpoint.operation);
    state.apiResponse = isDescription ? response : { ...response, headers: { ...response.headers, ...ofParameters } };
  }

  // One entry for all methods of a route: the router tries all entries for every request.
  for (const route of ROUTES) {
    const methods = [...route.endpoints.flatMap((endpoint) => endpoint.methods), 'OPTIONS'];
    router.register(PATTERN_OF.get(route)!, methods, (ctx) => runRoute(ctx, route), { pathAsRegExp: true });
  }
  const dispatch = router.routes();

  return async function routesMiddleware(ctx) {
    // @koa/router matches `newRouterPath` instead of `ctx.path`: here the path below the mount. `/calendar/events/v1`
    // itself leaves an empty one, which the router would take for none.
    ctx.newRouterPath = ctx.state.path || '/';
    // The router itself adds to `ctx` what a `RouterContext` has beside it.
    await dispatch(ctx as RouterContext<State>, async () => {
      if (ctx.method !== 'OPTIONS') throw noRoute();
      // WordPress answers OPTIONS on an unknown path with an empty list.
      ctx.state.apiResponse = { status: 200, body: [] };
    });
  };
}

/** The body of a public read: of `/events` with parameters, or of `/events/12`. Throws as the API does. */
export type PublicRead = (path: string, query: Record<string, string>) => Promise<JsonObject>;

/** Reads of this API without a request, as an anonymous caller: a page shows nothing else than the API would. */
export function createPublicRead(options: RouteOptions, mounted: { mount: string; baseUrl: string }): PublicRead {
  const run = createEndpointRunner(options);
  return async function read(path, query) {
    const route = routeAt(path)!;
    const [, pathSegment] = PATTERN_OF.get(route)!.exec(path)!;
    const endpoint = endpointOf(route, 'GET')!;
    const state = { ...newState(''), ...mounted, query };
    const { body } = await run({ route, endpoint, pathSegment, state, body: {} });
    if (!(body instanceof RenderedList)) return parseRendered(toBuffer(body));
    return { ...body.rest, [body.name]: await parseItems(body.items) };
  };
}

/** One long function: its parts share services, keys and limits, and call each other in the order of the table. */
function createEndpointRunner({ services, idempotency, limits }: RouteOptions) {
  /**
   * Runs a request's operation, and a create once per key. What refuses a request first, in this order:
   *
   *   `readBody`, before         400, 413: no JSON, too long
   *   here                       403: a write without a CMS; 503: nothing is known of the site
   *   `idempotency.createOnce`   400, 409, 422, 503; a repeated create gets its record, and goes no further
   *   `runOperation`             404: the slug; 400: lengths, long lists, then values and references (`validate`)
   *   the use case of a list     503: the initial sync (`assertServable`)
   *   the use case of a write    401, 403: the actor (`demand`), then the mapping (`writableMapping`), then the CMS
   */
  async function runEndpoint(endpointRequest: EndpointRequest): Promise<ApiResponse> {
    const { isDryRun = false, state, endpoint } = endpointRequest;
    const { actor, requestId, baseUrl } = state;
    const request = { services, actor, requestId, baseUrl };
    const { operation } = endpoint;
    if (services.cms.isReadOnly && WRITE_OPERATIONS.has(operation)) throw readOnlyCalendar();
    // Every record has the site's address in its JSON, and a write of an event may need the site's zone.
    if (services.site() === UNKNOWN_SITE && !DESCRIPTIONS.has(operation))
      throw notReady(services.sync.status().percent);
    if (!WRITE_OPERATIONS.has(operation)) return runOperation(endpointRequest, request);
    const created: CreatedRecord[] = [];
    const images = createRequestImages({ ...request, created });
    try {
      return await runOncePerKey(endpointRequest, { ...request, images, created, isDryRun });
    } finally {
      images.release();
    }
  }

  function runOncePerKey(endpointRequest: EndpointRequest, request: ApiRequest): Promise<ApiResponse> {
    const { route, endpoint, idempotencyKey, state, body } = endpointRequest;
    // Every anonymous create is rejected, and a dry run creates nothing that the key could stand for.
    const isKeyed = endpoint.operation === 'create' && idempotencyKey !== undefined;
    if (!isKeyed || !request.actor.account || request.isDryRun) return runOperation(endpointRequest, request);
    const kind = route.kind as Kind;
    const query = Object.entries(state.query).filter(([name]) => !name.startsWith('_'));
    return idempotency.createOnce({
      kind,
      request,
      key: idempotencyKey,
      params: { query: Object.fromEntries(query), body },
      create: (creationKey, renewClaim) =>
        runOperation(endpointRequest, { ...request, keyedCreate: { kind, creationKey, renewClaim } }),
      readForReplay: (id) =>
        isTermKind(kind) ? USE_CASES[kind].readForReplay(id, request) : readForReplay(kind, id, request),
    });
  }

  async function runOperation(
    { route, endpoint, pathSegment, state, body }: EndpointRequest,
    request: ApiRequest,
  ): Promise<ApiResponse> {
    const { query } = state;
    const path: Record<string, string> = route.by ? { [route.by]: decodeSlug(pathSegment ?? '') } : {};
    const { operation } = endpoint;
    checkLengths([path, query, body], endpoint.parameters);
    if (operation === 'describe') return describe(state, services);
    if (operation === 'document') return document(state, services);
    rejectLongLists(endpoint, { ...query, ...body }, limits.idsPerParameter);
    const input = await validate(endpoint, { path, query, body }, await referenceChecks(request, route.kind));
    if (operation === 'changes') return changesSince(input, request);
    if (operation === 'feed') return feeds.atom(input, request);
    const { id, slug = '' } = input.path;
    if (operation === 'calendar' && id !== undefined) return feeds.eventCalendar(id, input, request);
    if (operation === 'calendar') return feeds.calendar(input, request);
    const ofKind = USE_CASES[route.kind as Kind];
    // The parameter `fields`; WordPress's `_fields` is applied in `responseParams`.
    if (operation === 'list') return withProperties(await ofKind.list(input, request), input.values.fields);
    // Of an unknown slug 0, as in the original: "Event with ID 0 does not exist."
    const idOfRecord = async () => id ?? (await resolveSlug(route.kind as PostKind, slug, request)) ?? 0;
    if (operation === 'read') return ofKind.read(await idOfRecord(), input, request);
    return withCreatedInError(request, services.observe, async () =>
      operation === 'create' ? ofKind.create(input, request) : ofKind[operation](await idOfRecord(), input, request),
    );
  }

  return runEndpoint;
}

function namespaceContext({ mount, baseUrl }: State, services: Services): NamespaceContext {
  const namespace = mount.replace(/^\/(wp-json\/)?/, '');
  const window = defaultWindow(services.nowMs(), zoneOf(services));
  return {
    base: baseUrl,
    namespace,
    up: `${services.site().url}/wp-json/`,
    defaults: { namespace, per_page: String(services.lists.perPage), ...window },
  };
}

function describe(state: State, services: Services): ApiResponse {
  const context = namespaceContext(state, services);
  const { namespace } = state.query;
  if (namespace !== undefined && namespace !== NAMESPACE && namespace !== context.namespace) throw unknownNamespace();
  const body = describeNamespace(context);
  return { status: 200, body, cacheTags: ['root'], validUntilMs: services.nowMs() + 60_000 };
}

function document({ baseUrl, query }: State, services: Services): ApiResponse {
  const body = openApi({
    serverUrl: baseUrl,
    title: calendarName({ services }),
    perPage: services.lists.perPage,
    login: LOGINS[services.mapping.cms],
    complete: isTruthy(query.complete),
  });
  return { status: 200, body, cacheTags: ['doc'], validUntilMs: Number.POSITIVE_INFINITY };
}

/** Throws 404 for a slug with an encoded slash or a control character, and for dots alone. */
function decodeSlug(text: string): string {
  let slug: string;
  try {
    slug = decodeURIComponent(text);
  } catch {
    throw noRoute();
  }
  if (/[/\\\p{Cc}]|^\.+$/u.test(slug)) throw noRoute();
  return slug;
}

/** Every element of a list costs a lookup: rejects lists of more than `limit` elements before the first. */
function rejectLongLists({ parameters }: Endpoint, values: Record<string, unknown>, limit: number): void {
  const long = parameters.filter(({ name, type }) => type.isList && parseList(values[name]).length > limit);
  if (long.length > 0) throw invalidParams(long.map(({ name }) => ({ name, message: `More than ${limit} values.` })));
}
