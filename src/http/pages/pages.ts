// The landing page and the documentation page, served by the gateway itself: no other host is asked for anything.

import { readFileSync } from 'node:fs';
import type { Context, Middleware } from 'koa';
import { NAMESPACE } from '../../interface/routes.ts';
import { type Assets, readAssets, sendAsset, withAddresses } from './assets.ts';

/** What anybody may know of the gateway's state: shown on the landing page and answered at `/-/status.json`. */
export interface PublicStatus {
  site: { name: string; url: string };
  copy: { state: string; percent: number };
  cms: { reachable: boolean };
  /** Totals of the public lists by collection: `events`, `venues` ...; nothing that these leave out is counted. */
  counts: Record<string, number>;
  /** Changes whenever records that everybody sees do: the calendar is then read again. */
  version: number;
}

export interface PagesOptions {
  /** Paths at which the interface is mounted, with or without a leading slash; the pages use the first. */
  mounts: readonly string[];
  publicUrl: string;
  status: () => PublicStatus;
  enabled: { landing: boolean; documentation: boolean };
}

/** Scripts and styles from here only, none of them in the page; Swagger UI and FullCalendar set styles through the DOM, which this allows. */
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
const LANDING_FILES = ['landing.css', 'interface.mjs', 'calendar.mjs', 'status.mjs', 'details.mjs', 'examples.mjs'];
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

/** Middleware that answers `/`, `/docs` (also by `/doc`) and what they need below `/-/`, as far as they are enabled; all else goes on. */
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
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    // `/?rest_route=` is the interface's.
    const handler = ctx.query.rest_route === undefined ? handlers.get(ctx.path) : undefined;
    const asset = assetAt(ctx.path);
    if (!reads || !(handler || asset)) return next();
    ctx.set('X-Content-Type-Options', 'nosniff');
    if (handler) await handler(ctx);
    else if (asset) await sendAsset(ctx, asset);
  };
}

/** As part of an address: `calendar/events/v1`. */
const bare = (mount: string | undefined) => (mount ?? NAMESPACE).replace(/^\/|\/$/g, '');

function landingHandlers({ mounts, publicUrl, status, enabled }: PagesOptions, assets: Assets): [string, Handler][] {
  const html = page('landing.html', assets);
  const mount = bare(mounts[0]);
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
          mounts: mounts.map(bare).join(' '),
          document: `${bare(mounts[0])}/doc`,
          landing: enabled.landing ? '' : 'hidden',
        }),
    ],
    ['/docs/', (ctx) => ctx.redirect('../docs')],
    ['/doc', (ctx) => ctx.redirect('docs')],
    ['/doc/', (ctx) => ctx.redirect('../docs')],
  ];
}

function page(name: string, assets: Assets): string {
  return withAddresses(readFileSync(new URL(name, import.meta.url), 'utf8'), assets);
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}
