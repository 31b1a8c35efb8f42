// Errors explained to people: an address without a page, and errors of pages.

import type { ApiResponse } from '../../calendar/request.ts';
import { createMountFinder, type MountOptions } from '../read-request.ts';
import type { Middleware } from '../state.ts';
import type { LandingQuery } from './landing-query.ts';
import { backLink, landingPage } from './landing-template.ts';
import { fill, type Texts } from './language.ts';
import { type Brand, type Html, html } from './page-template.ts';
import type { Pages } from './serve.ts';

/** Instead of the error, for a browser outside the API. The API answers in JSON. */
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

/** For an address without a page, or an error of one. A browser asks again for a page that may come soon (503). */
export function errorPage(brand: Brand, query: LandingQuery, error: ApiResponse): Html {
  const [title, message] = describeError(error, brand.language.texts);
  const content = html`${backLink(brand, query)}<h1>${title}</h1>
<p class="empty"${error.status === 503 && html` id="waiting"`}>${message}</p>`;
  return landingPage({ brand, query, title: `${title} – ${brand.name}`, head: html``, content });
}

function describeError({ status, body }: ApiResponse, texts: Texts): [title: string, message: string] {
  const { code, data } = body as { code: string; data?: { percent?: number } };
  if (code === 'calendar_not_ready') return [texts.events, fill(texts.syncing, { percent: String(data?.percent) })];
  if (code === 'event-password-protected') return [texts.protectedEvent, texts.protectedEventText];
  if (code === 'rest-event-not-found') return [texts.eventNotFound, texts.eventNotFoundText];
  return status === 404 ? [texts.pageNotFound, texts.pageNotFoundText] : [texts.error, texts.errorText];
}
