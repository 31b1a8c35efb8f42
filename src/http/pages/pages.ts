// The landing page and the documentation page, with all of their assets: browsers load nothing from other hosts.

import { readFileSync } from 'node:fs';
import type { Context, Middleware } from 'koa';
import { NAMESPACE } from '../../interface/routes.ts';
import { escapeHtml } from '../../text/html.ts';
import { type Assets, readAssets, sendAsset, withAssetUrls } from './assets.ts';

/** The public part of the gateway's state: on the landing page and at `/-/status.json`. */
export interface PublicStatus {
  site: { name: string; url: string };
  replica: { state: string; percent: number };
  cms: { reachable: boolean };
  /** Totals of the public lists, by collection: `events`, `venues` ... */
  counts: Record<string, number>;
  /** Changes with every change of a public record: the page then reloads the calendar. */
  version: number;
}

export interface PagesOptions {
  /** Paths at which the API is mounted, with or without a leading slash; the pages use the first. */
  mounts: readonly string[];
  publicUrl: string;
  status: () => PublicStatus;
  enabled: { landing: boolean; documentation: boolean };
}

/** Allows scripts and styles of this origin, none inline; Swagger UI and FullCalendar set styles through the DOM, which needs no permission. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const COMMON_FILES = ['page.css', 'icon.svg'];
const LANDING_FILES = ['landing.css', 'api.mjs', 'calendar.mjs', 'status.mjs', 'details.mjs', 'examples.mjs'];
const LANDING_PACKAGES = {
  'fullcalendar.js': 'fullcalendar/all/global.js',
  'fullcalendar.css': 'fullcalendar/skeleton.css',
  'fullcalendar-theme.js': 'fullcalendar/themes/breezy/global.js',
  'fullcalendar-theme.css': 'fullcalendar/themes/breezy/theme.css',
  'fullcalendar-colours.css': 'fullcalendar/themes/breezy/palettes/indigo.css',
};
const DOCUMENTATION_FILES = ['documentation.css', 'documentation.mjs'];
const DOCUMENTATION_PACKAGES = {
  'swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
};

type Handler = (ctx: Context) => void | Promise<void>;

/** Middleware that serves the enabled pages (`/`, `/docs`, also as `/doc`) and their assets below `/-/`. */
export function pages(options: PagesOptions): Middleware {
  const { landing, documentation } = options.enabled;
  const assets = readAssets(
    [
      ...(landing || documentation ? COMMON_FILES : []),
      ...(landing ? LANDING_FILES : []),
      ...(documentation ? DOCUMENTATION_FILES : []),
    ],
    { ...(landing ? LANDING_PACKAGES : {}), ...(documentation ? DOCUMENTATION_PACKAGES : {}) },
  );
  const handlers = new Map<string, Handler>([
    ...(landing ? landingHandlers(options, assets) : []),
    ...(documentation ? documentationHandlers(options, assets) : []),
  ]);
  const assetAt = (path: string) => (path.startsWith('/-/assets/') ? assets.get(path.slice(10)) : undefined);

  return async (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    const handler = handlers.get(ctx.path);
    const asset = assetAt(ctx.path);
    // `/?rest_route=` belongs to the API.
    if (!isRead || !(handler || asset) || ctx.query.rest_route !== undefined) return next();
    ctx.set('X-Content-Type-Options', 'nosniff');
    if (handler) await handler(ctx);
    else if (asset) await sendAsset(ctx, asset);
  };
}

/** Without leading and trailing slashes: `calendar/events/v1`. */
const withoutSlashes = (mount: string | undefined) => (mount ?? NAMESPACE).replace(/^\/|\/$/g, '');

function landingHandlers({ mounts, publicUrl, status, enabled }: PagesOptions, assets: Assets): [string, Handler][] {
  const html = page('landing.html', assets);
  const mount = withoutSlashes(mounts[0]);
  return [
    [
      '/',
      (ctx) => {
        sendPage(ctx, html, {
          site: status().site.name || 'Calendar',
          base: `${publicUrl.replace(/\/$/, '')}/${mount}`,
          mount,
          documentation: enabled.documentation ? '' : 'hidden',
        });
      },
    ],
    ['/-/status.json', (ctx) => sendJson(ctx, status())],
  ];
}

function documentationHandlers({ mounts, status, enabled }: PagesOptions, assets: Assets): [string, Handler][] {
  const html = page('documentation.html', assets);
  return [
    [
      '/docs',
      (ctx) =>
        sendPage(ctx, html, {
          site: status().site.name || 'Calendar',
          mounts: mounts.map(withoutSlashes).join(' '),
          document: `${withoutSlashes(mounts[0])}/doc`,
          landing: enabled.landing ? '' : 'hidden',
        }),
    ],
    ['/docs/', (ctx) => ctx.redirect('../docs')],
    ['/doc', (ctx) => ctx.redirect('docs')],
    ['/doc/', (ctx) => ctx.redirect('../docs')],
  ];
}

function page(name: string, assets: Assets): string {
  return withAssetUrls(readFileSync(new URL(name, import.meta.url), 'utf8'), assets);
}

/** Fills `{{name}}` with the escaped value. */
function sendPage(ctx: Context, html: string, values: Record<string, string>): void {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Cache-Control', 'no-cache');
  ctx.type = 'html';
  ctx.body = html.replace(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''));
}

function sendJson(ctx: Context, value: object): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'json';
  ctx.body = JSON.stringify(value);
}
