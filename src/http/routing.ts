// From a matched route to its operation: reads the body, checks the parameters, runs what the table names.

import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type KoaRouter from '@koa/router';
import type { Middleware } from 'koa';
import type { Answer, Asked, Input } from '../calendar/asked.ts';
import { type Backing, zoneOf } from '../calendar/backing.ts';
import { defaultWindow } from '../calendar/dates.ts';
import type { Events } from '../calendar/events.ts';
import { createImages } from '../calendar/images.ts';
import type { Linked } from '../calendar/linked.ts';
import { invalidParams, noRoute, unknownNamespace } from '../calendar/refusals.ts';
import type { Slugs } from '../calendar/slugs.ts';
import type { Terms } from '../calendar/terms.ts';
import { type DescriptionContext, describeNamespace, describeRoute, openApi } from '../interface/describe.ts';
import { refuseTooLong } from '../interface/limits.ts';
import { limitsOf } from '../interface/parameters.ts';
import { type Endpoint, NAMESPACE, ROUTES, type Route } from '../interface/routes.ts';
import { validate } from '../interface/validate.ts';
import { list } from '../interface/values.ts';
import type { Kind, PostKind } from '../records.ts';
import { type BodyLimits, body } from './body.ts';
import { KEY_HEADER } from './headers.ts';
import type { CreateOnce } from './idempotency.ts';
import { createLookups } from './lookups.ts';
import type { State } from './state.ts';

/** Its other form imports `node:http`, which costs memory: see `port.ts`. */
const Router: typeof KoaRouter = createRequire(import.meta.url)('@koa/router');

export interface Operations {
  event: Events;
  venue: Linked;
  organizer: Linked;
  category: Terms;
  tag: Terms;
}

export interface RoutingOptions {
  backing: Backing;
  operations: Operations;
  slugs: Slugs;
  createOnce: CreateOnce;
  limits: BodyLimits & { idsPerParameter: number };
}

const BY_EXPRESSION = { pathAsRegExp: true };
const PATTERNS = { id: '(\\d+)', slug: '([^/]+)' };

/** `/events/{id}` as an expression that takes any letter case, as the original does (9). */
const expressionOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\{(id|slug)\}/g, (_, name: 'id' | 'slug') => PATTERNS[name])}/?$`, 'i');

/** What descriptions of the interface say of this request and this site. */
function describing(state: Asking['state'], backing: Backing): DescriptionContext {
  const { start, end } = defaultWindow(backing.nowMs(), zoneOf(backing));
  const namespace = state.mount.replace(/^\/(wp-json\/)?/, '');
  return {
    base: state.base,
    namespace,
    up: `${backing.site().url}/wp-json/`,
    perPage: backing.lists.perPage,
    window: { start, end },
  };
}

/** Compiled once. */
const EXPRESSIONS = new Map(ROUTES.map((route) => [route, expressionOf(route.path)]));
const expression = (route: Route): RegExp => EXPRESSIONS.get(route)!;

/** The router of one interface, below its mount. Its handlers leave an `Answer` in `ctx.state.answer`. */
export function createRouting(options: RoutingOptions): Middleware {
  const router = new Router();
  const readBody = body(options.limits);
  for (const route of ROUTES) {
    for (const endpoint of route.endpoints) {
      router.register(
        expression(route),
        endpoint.methods,
        async (ctx) => {
          ctx.state.route = `${endpoint.operation} ${route.path || '/'}`;
          const found = foundOut.get(ctx.req);
          if (found) {
            if ('error' in found) throw found.error;
            ctx.state.answer = found.answer;
            return;
          }
          await readBody(ctx, async () => undefined);
          const captured = (ctx as unknown as { captures: (string | undefined)[] }).captures[0];
          const createKey = ctx.headers[KEY_HEADER.toLowerCase()];
          ctx.state.answer = await run(options, route, endpoint, {
            ...{ captured, state: ctx.state },
            ...(typeof createKey === 'string' ? { createKey } : {}),
          });
        },
        BY_EXPRESSION,
      );
    }
    router.register(
      expression(route),
      ['OPTIONS'],
      async (ctx) => {
        await readBody(ctx, async () => undefined);
        ctx.state.route = `options ${route.path || '/'}`;
        ctx.state.answer = { status: 200, body: describeRoute(route, describing(ctx.state, options.backing)) };
      },
      BY_EXPRESSION,
    );
  }
  return router.routes() as unknown as Middleware;
}

/** The route that a path below the mount belongs to, whatever the method. */
export const routeAt = (path: string): Route | undefined => ROUTES.find((route) => expression(route).test(path));

export interface Asking {
  /** Id or slug as the path has it. */
  captured: string | undefined;
  /** The `Idempotency-Key` header, as it came. */
  createKey?: string;
  state: Pick<State, 'caller' | 'requestId' | 'mount' | 'base' | 'query' | 'body'>;
}

/** What came of a request before it reached the middleware: the short way leaves here what it does not send itself. */
export const foundOut = new WeakMap<IncomingMessage, { error: unknown } | { answer: Answer }>();

/** The route and endpoint that a GET of this path below the mount belongs to, and the part of the path that names a record. */
export function readAt(path: string): { route: Route; endpoint: Endpoint; captured: string | undefined } | undefined {
  for (const route of ROUTES) {
    const found = expression(route).exec(path);
    const endpoint = found && route.endpoints.find(({ methods }) => methods.includes('GET'));
    if (endpoint) return { route, endpoint, captured: found[1] };
  }
  return undefined;
}

const WRITES: ReadonlySet<Endpoint['operation']> = new Set(['create', 'update', 'delete']);
const LIMITS_OF = new Map(
  ROUTES.flatMap(({ endpoints }) => endpoints).map((endpoint) => [endpoint, limitsOf(endpoint.parameters)]),
);

/** Runs what an endpoint names: checks the parameters, finds the record, and does it. */
export async function run(options: RoutingOptions, route: Route, endpoint: Endpoint, asking: Asking): Promise<Answer> {
  const { caller, requestId, base } = asking.state;
  const asked: Asked = { caller, requestId, base, images: createImages(options.backing, { caller, requestId }) };
  try {
    return await once(options, route, endpoint, asking, asked);
  } finally {
    asked.images.release();
  }
}

/** Runs a create with an `Idempotency-Key` once for each key. */
async function once(
  options: RoutingOptions,
  route: Route,
  endpoint: Endpoint,
  asking: Asking,
  asked: Asked,
): Promise<Answer> {
  const { createKey, state } = asking;
  // An anonymous create is refused in any case.
  if (endpoint.operation !== 'create' || createKey === undefined || !asked.caller.account)
    return operate(options, route, endpoint, asking, asked);
  const kind = route.kind as Kind;
  const query = Object.entries(state.query).filter(([name]) => !name.startsWith('_'));
  return options.createOnce({
    ...{ kind, asked, key: createKey, sent: { query: Object.fromEntries(query), body: state.body } },
    create: (key, renew) => operate(options, route, endpoint, asking, { ...asked, createKey: { kind, key, renew } }),
    created: (id) => options.operations[kind].created(id, asked),
  });
}

async function operate(
  { backing, operations, slugs, limits }: RoutingOptions,
  route: Route,
  endpoint: Endpoint,
  { captured, state }: Asking,
  asked: Asked,
): Promise<Answer> {
  const path: Record<string, string> = route.by ? { [route.by]: decoded(captured ?? '') } : {};
  const { operation } = endpoint;
  refuseTooLong([path, state.query, state.body ?? {}], LIMITS_OF.get(endpoint)!);
  if (operation === 'describe') return describe(state, backing);
  if (operation === 'document') return documentation(state, backing);
  refuseLongLists(endpoint, { ...state.query, ...state.body }, limits.idsPerParameter);
  const lookups = await createLookups(backing, slugs, asked, route.kind);
  const input = await validate(endpoint, { path, query: state.query, body: state.body ?? {} }, lookups);
  const operationsOf = operations[route.kind as Kind];
  // Before the CMS is asked: what it accepted would be answered, and be in no list until the replica can be written again.
  if (WRITES.has(operation) && asked.caller.account) backing.replica.assertWritable();
  if (operation === 'list' || operation === 'create') return operationsOf[operation](input, asked);
  return operationsOf[operation === 'delete' ? 'remove' : operation](
    await idOf(route, input, slugs, asked),
    input,
    asked,
  ) as Promise<Answer>;
}

/** The id that the path names. An update of an event by an unknown slug is one of event 0 (5.2). */
async function idOf(route: Route, input: Input, slugs: Slugs, asked: Asked): Promise<number> {
  if (route.by === 'id') return input.path.id!;
  return (await slugs.resolve(route.kind as PostKind, input.path.slug!, asked)) ?? 0;
}

function describe(state: Asking['state'], backing: Backing): Answer {
  const context = describing(state, backing);
  const asked = state.query.namespace;
  if (asked !== undefined && asked !== NAMESPACE && asked !== context.namespace) throw unknownNamespace();
  return { status: 200, body: describeNamespace(context), tags: ['root'], validUntilMs: backing.nowMs() + 60_000 };
}

function documentation(state: Asking['state'], backing: Backing): Answer {
  const title = backing.site().name || 'Calendar';
  const description = 'Events, venues, organizers, categories and tags.';
  const document = openApi({
    serverUrl: `${state.base}/`,
    title,
    description,
    perPage: backing.lists.perPage,
    complete: state.query.complete !== undefined,
  });
  return { status: 200, body: document, tags: ['doc'], validUntilMs: Number.POSITIVE_INFINITY };
}

/** A slug out of the path. One that hides a slash, dots alone or a control character is no slug. */
function decoded(text: string): string {
  let slug: string;
  try {
    slug = decodeURIComponent(text);
  } catch {
    throw noRoute();
  }
  if (/[/\\\p{Cc}]|^\.+$/u.test(slug)) throw noRoute();
  return slug;
}

/** Lists are looked up element by element: more than `limit` of them is refused before the first. */
function refuseLongLists({ parameters }: Endpoint, values: Record<string, unknown>, limit: number): void {
  const long = parameters.filter(({ name, kind }) => kind.schema.oneOf && list(values[name]).length > limit);
  if (long.length > 0) throw invalidParams(long.map(({ name }) => ({ name, message: `More than ${limit} values.` })));
}
