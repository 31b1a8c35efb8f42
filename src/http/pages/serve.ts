// The middleware that answers with a page: for its path, and instead of the error for a browser outside the API.

import { createMountFinder, type MountOptions } from '../read-request.ts';
import type { Context, Middleware } from '../state.ts';

/** Pages and their assets, by path. */
export type Pages = ReadonlyMap<string, (ctx: Context) => void | Promise<void>>;

/** The key of the page that explains an error, whose status is already set. */
export const ERROR_PAGE = 'error';

/** Explains errors to people: an address without a page, and errors of pages. The API answers in JSON. */
export function errorPages(pages: Pages, options: MountOptions): Middleware {
  const findMount = createMountFinder(options);
  const page = pages.get(ERROR_PAGE);
  return async function errorPagesMiddleware(ctx, next) {
    await next();
    const { state, path, query } = ctx;
    const isOfApi = query.rest_route !== undefined || findMount(path, false) !== undefined;
    if (!state.error || !page || isOfApi || ctx.accepts('json', 'html') !== 'html') return;
    ctx.status = state.error.status;
    ctx.set({ ...state.error.headers, 'X-Request-Id': state.requestId });
    state.error = undefined;
    await page(ctx);
  };
}

/** Answers reads of the pages, but not of `/?rest_route=`, which belongs to the API. */
export function servePages(pages: Pages): Middleware {
  return async function pagesMiddleware(ctx, next) {
    const page = pages.get(ctx.path);
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!page || !isRead || ctx.query.rest_route !== undefined) return next();
    ctx.state.route = ctx.path.startsWith('/-/assets/') ? 'asset' : `page ${ctx.path}`;
    ctx.set('X-Content-Type-Options', 'nosniff');
    await page(ctx);
  };
}
