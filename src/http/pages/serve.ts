// The middleware that answers with a page: for its path, and instead of the error for a browser outside the API.

import type { ApiResponse } from '../../calendar/request.ts';
import { createMountFinder, type MountOptions } from '../read-request.ts';
import type { Context, Middleware } from '../state.ts';

export interface Pages {
  byPath: ReadonlyMap<string, (ctx: Context) => void | Promise<void>>;
  /** Explains an error to people; undefined if the operator wants no landing page. */
  explain: ((ctx: Context, error: ApiResponse) => Promise<void>) | undefined;
}

/** Explains errors to people: an address without a page, and errors of pages. The API answers in JSON. */
export function errorPages({ explain }: Pages, options: MountOptions): Middleware {
  const findMount = createMountFinder(options);
  return async function errorPagesMiddleware(ctx, next) {
    await next();
    const { state, path, query } = ctx;
    const { error } = state;
    const isOfApi = query.rest_route !== undefined || findMount(path) !== undefined;
    if (!error || !explain || isOfApi || ctx.accepts('json', 'html') !== 'html') return;
    ctx.set({ ...error.headers, 'X-Request-Id': state.requestId });
    state.error = undefined;
    await explain(ctx, error);
  };
}

/** Answers reads of the pages, but not of `/?rest_route=`, which belongs to the API. */
export function servePages({ byPath }: Pages): Middleware {
  return async function pagesMiddleware(ctx, next) {
    const page = byPath.get(ctx.path);
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!page || !isRead || ctx.query.rest_route !== undefined) return next();
    ctx.state.routeName = ctx.path.startsWith('/-/assets/') ? 'asset' : `page ${ctx.path}`;
    await page(ctx);
  };
}
