// From a matched route to its operation: reads the body, checks the parameters, runs what the table names.

import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { type Answer, type Asked, type Backing, type Input, zoneOf } from '../calendar/backing.ts';
import { defaultWindow } from '../calendar/dates.ts';
import type { Events } from '../calendar/events.ts';
import { createImages } from '../calendar/images.ts';
import type { Linked } from '../calendar/linked.ts';
import { eventNotFound, invalidParams, noRoute, unknownNamespace } from '../calendar/refusals.ts';
import type { Slugs } from '../calendar/slugs.ts';
import type { Terms } from '../calendar/terms.ts';
import { type DescriptionContext, describeNamespace, describeRoute, openApi } from '../interface/describe.ts';
import { type Endpoint, NAMESPACE, ROUTES, type Route } from '../interface/routes.ts';
import { validate } from '../interface/validate.ts';
import { list } from '../interface/values.ts';
import type { Kind, PostKind } from '../records.ts';
import { type BodyLimits, body } from './body.ts';
import { createLookups } from './lookups.ts';
import type { State } from './state.ts';

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
  limits: BodyLimits & { idsPerParameter: number };
}

const BY_EXPRESSION = { pathAsRegExp: true };
const PATTERNS = { id: '(\\d+)', slug: '([^/]+)' };

/** `/events/{id}` as an expression that takes any letter case, as the original does (9). */
const expression = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\{(id|slug)\}/g, (_, name: 'id' | 'slug') => PATTERNS[name])}/?$`, 'i');

export function describing(state: State, backing: Backing): DescriptionContext {
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

/** The router of one interface, below its mount. Its handlers leave an `Answer` in `ctx.state.answer`. */
export function createRouting(options: RoutingOptions): Middleware {
  const router = new Router();
  const readBody = body(options.limits);
  for (const route of ROUTES) {
    for (const endpoint of route.endpoints) {
      router.register(
        expression(route.path),
        endpoint.methods,
        async (ctx) => {
          await readBody(ctx, async () => undefined);
          ctx.state.route = `${endpoint.operation} ${route.path || '/'}`;
          ctx.state.answer = await run(options, route, endpoint, ctx);
        },
        BY_EXPRESSION,
      );
    }
    router.register(
      expression(route.path),
      ['OPTIONS'],
      (ctx) => {
        ctx.state.route = `options ${route.path || '/'}`;
        ctx.state.answer = { status: 200, body: describeRoute(route, describing(ctx.state, options.backing)) };
      },
      BY_EXPRESSION,
    );
  }
  return router.routes() as unknown as Middleware;
}

/** The route that a path below the mount belongs to, whatever the method. */
export const routeAt = (path: string): Route | undefined => ROUTES.find((route) => expression(route.path).test(path));

async function run(
  { backing, operations, slugs, limits }: RoutingOptions,
  route: Route,
  endpoint: Endpoint,
  ctx: Context,
): Promise<Answer> {
  const state = ctx.state as State;
  const who = { caller: state.caller, requestId: state.requestId };
  const asked: Asked = { ...who, base: state.base, images: createImages(backing, who) };
  const captured = (ctx as unknown as { captures: (string | undefined)[] }).captures[0];
  const path: Record<string, string> = route.by ? { [route.by]: decoded(captured ?? '') } : {};
  const { operation } = endpoint;
  if (operation === 'describe') return describe(state, backing);
  if (operation === 'document') return documentation(state, backing);
  refuseLongLists(endpoint, { ...state.query, ...state.body }, limits.idsPerParameter);
  const lookups = await createLookups(backing, slugs, asked, route.kind);
  const input = await validate(endpoint, { path, query: state.query, body: state.body ?? {} }, lookups);
  const operate = operations[route.kind as Kind];
  if (operation === 'list' || operation === 'create') return operate[operation](input, asked);
  return operate[operation === 'delete' ? 'remove' : operation](
    await idOf(route, operation, input, slugs, asked),
    input,
    asked,
  ) as Promise<Answer>;
}

/** The id that the path names. An update of an event by an unknown slug is one of event 0 (5.2). */
async function idOf(route: Route, operation: string, input: Input, slugs: Slugs, asked: Asked): Promise<number> {
  if (route.by === 'id') return input.path.id!;
  const id = await slugs.resolve(route.kind as PostKind, input.path.slug!, asked);
  if (id === undefined) {
    if (operation === 'update' && asked.caller.account) throw eventNotFound(0);
    return 0;
  }
  return id;
}

function describe(state: State, backing: Backing): Answer {
  const context = describing(state, backing);
  const asked = state.query.namespace;
  if (asked !== undefined && asked !== NAMESPACE && asked !== context.namespace) throw unknownNamespace();
  return { status: 200, body: describeNamespace(context), tags: ['root'], validUntilMs: backing.nowMs() + 60_000 };
}

function documentation(state: State, backing: Backing): Answer {
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
