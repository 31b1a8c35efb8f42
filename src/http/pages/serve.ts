// The middleware that answers with a page, for its path.

import type { ApiResponse } from '../../calendar/request.ts';
import type { Context, Middleware } from '../state.ts';

export interface Pages {
  byPath: ReadonlyMap<string, (ctx: Context) => void | Promise<void>>;
  /** Explains an error to people; undefined if the operator wants no landing page. */
  explain: ((ctx: Context, error: ApiResponse) => Promise<void>) | undefined;
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
