// The landing page and the documentation page, with all of their assets: of other hosts, browsers load pictures only.

import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Config } from '../../config-schema.ts';
import { decodeEntities } from '../../text/html.ts';
import { type Freshness, publicCacheControl } from '../headers.ts';
import { type Assets, asset, assetUrl, readAssets, sendAsset } from './assets.ts';
import { Landing, type LandingOptions, type RenderedPage } from './landing.ts';
import { type Language, languageOf, preferredTag } from './language.ts';
import { type Brand, type Html, html, pageFrame } from './page-template.ts';
import { ERROR_PAGE } from './serve.ts';

export interface PagesOptions extends LandingOptions {
  freshness: Freshness;
  /** Counts in the rate limit what a request costs beyond one. */
  charge: (req: IncomingMessage, requests: number) => void;
}

const LANDING_ASSETS = readAssets(['landing.css', 'events.css', 'view.js', 'landing.mjs'], {});
const DOCUMENTATION_ASSETS = readAssets(['page.css', 'icon.svg', 'documentation.css', 'documentation.mjs'], {
  'swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
});

type Handler = (ctx: Context) => void | Promise<void>;

const DEFAULT_ACCENT = '#4338ca';

/** The colour of links and buttons, lighter on dark screens. */
const themeCss = ({ accent = DEFAULT_ACCENT }: Config['pages']): string =>
  `:root {\n  --accent: light-dark(${accent}, color-mix(in oklab, ${accent}, white 60%));\n}\n`;

/** The documentation (`/docs`), the landing page (`/`) if it is enabled, and their assets. */
export function pages(options: PagesOptions): ReadonlyMap<string, Handler> {
  const { landing } = options.config;
  const theme = asset('.css', themeCss(options.config));
  const assets: Assets = new Map([...DOCUMENTATION_ASSETS, ...(landing ? LANDING_ASSETS : []), ['theme.css', theme]]);
  return new Map<string, Handler>([
    ...(landing ? landingHandlers(options, assets) : []),
    ['/docs', documentationHandler(options, assets)],
    ...[...assets].map(([name, file]): [string, Handler] => [`/-/assets/${name}`, (ctx) => sendAsset(ctx, file)]),
  ]);
}

function brandOf({ config, site }: PagesOptions, assets: Assets, language: Language, root = ''): Brand {
  return {
    name: config.name ?? (decodeEntities(site().name) || language.texts.calendar),
    logo: config.logo,
    language,
    root,
    asset: (name) => root + assetUrl(name, assets),
  };
}

function landingHandlers(options: PagesOptions, assets: Assets): [string, Handler][] {
  const { config, freshness, charge, publicUrl } = options;
  const landing = new Landing(options);
  const cacheControl = publicCacheControl(freshness);
  // Search engines read the page, and the events that `sitemap.xml` names: every month links to another one.
  const rules = ['User-agent: *', 'Disallow: /*?', 'Allow: /?event=', 'Allow: /-/assets/'];
  const robots = asset('.txt', [...rules, '', `Sitemap: ${publicUrl}/sitemap.xml`, ''].join('\n'));
  const brandFor = (ctx: Context, root?: string): Brand => {
    // No cache may give one visitor the page in the language of another.
    if (config.locale === undefined) ctx.vary('Accept-Language');
    return brandOf(options, assets, languageOf(config.locale ?? preferredTag(ctx.get('Accept-Language'))), root);
  };
  const send = (ctx: Context, { status, page, headers = {} }: RenderedPage) => {
    setPageHeaders(ctx);
    ctx.set(headers);
    return sendAsset(ctx, page, status === 200 ? cacheControl : 'no-store', status);
  };
  const chargeOne = (ctx: Context) => () => charge(ctx.req, 1);
  return [
    ['/', async (ctx) => send(ctx, await landing.page(ctx.querystring, brandFor(ctx), chargeOne(ctx)))],
    ['/robots.txt', (ctx) => sendAsset(ctx, robots, cacheControl)],
    ['/sitemap.xml', async (ctx) => sendAsset(ctx, await landing.sitemap(chargeOne(ctx)), cacheControl)],
    // The address may be one in a folder, `/a/b`, and the gateway itself below a path of its host.
    [
      ERROR_PAGE,
      (ctx) => send(ctx, errorPage(brandFor(ctx, '../'.repeat(ctx.path.split('/').length - 2)), ctx.status)),
    ],
  ];
}

/** For an address without a page, or an error of one. */
function errorPage(brand: Brand, status: number): RenderedPage {
  const { name, root, language } = brand;
  const { pageNotFound, pageNotFoundText, error, errorText, allEvents } = language.texts;
  const [title, message] = status === 404 ? [pageNotFound, pageNotFoundText] : [error, errorText];
  const { text } = pageFrame(brand, {
    title: `${title} – ${name}`,
    head: html`<link rel="stylesheet" href="${brand.asset('landing.css')}">`,
    body: html`<main id="main" tabindex="-1">
<h1>${title}</h1>
<p class="empty">${message}</p>
<p><a href="${root}./">${allEvents}</a></p>
</main>`,
  });
  return { status, page: asset('.html', text) };
}

/** Swagger UI fills the page. */
function documentationHandler(options: PagesOptions, assets: Assets): Handler {
  return (ctx) => {
    setPageHeaders(ctx);
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'html';
    ctx.body = documentationPage(options, assets).text;
  };
}

/**
 * Allows scripts and styles of this origin, none inline (Swagger UI sets styles through the DOM, which needs
 * no permission), and pictures of any host, as on the site itself.
 */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: http: https:",
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join('; ');

function setPageHeaders(ctx: Context): void {
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
}

function documentationPage(options: PagesOptions, assets: Assets): Html {
  const brand = brandOf(options, assets, languageOf('en'));
  const { asset } = brand;
  const mounts = options.mounts.map((mount) => mount.slice(1));
  const document = `${mounts[0]}/doc`;
  return pageFrame(brand, {
    title: `${brand.name}: API documentation`,
    head: html`<link rel="stylesheet" href="${asset('swagger-ui.css')}">
<link rel="stylesheet" href="${asset('documentation.css')}">
<script defer src="${asset('swagger-ui.js')}"></script>
<script type="module" src="${asset('documentation.mjs')}"></script>`,
    ...(options.config.landing ? { nav: html`<a href="./">Calendar</a>` } : {}),
    body: html`<div id="main" tabindex="-1" data-mounts="${mounts.join(' ')}">
<div id="interface"><p class="waiting">Reading the description of the API</p></div>
<noscript><p class="waiting">This page needs JavaScript. The description itself:
<a href="${document}">${document}</a></p></noscript>
</div>`,
  });
}
