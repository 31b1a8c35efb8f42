// The landing page and the documentation page, with all of their assets: of other hosts, browsers load pictures only.

import type { IncomingMessage } from 'node:http';
import type { ApiResponse } from '../../calendar/request.ts';
import type { Config } from '../../config-schema.ts';
import { decodeEntities } from '../../text/html.ts';
import { type Freshness, publicCacheControl } from '../headers.ts';
import type { Context } from '../state.ts';
import { type Assets, asset, assetUrl, readAssets, sendAsset } from './assets.ts';
import { errorPage } from './error-pages.ts';
import { Landing, type LandingOptions } from './landing.ts';
import { parseLandingQuery } from './landing-query.ts';
import { type Language, languageOf, preferredTag } from './language.ts';
import { type Brand, html, pageFrame } from './page-template.ts';
import { robotsTxt } from './search-engines.ts';
import type { Pages } from './serve.ts';

export interface PagesOptions extends LandingOptions {
  freshness: Freshness;
  /** Counts one more request of this client in the rate limit. */
  charge: (req: IncomingMessage) => void;
}

const LANDING_ASSETS = readAssets(['./landing.css', './events.css', './view.js', './landing.mjs']);
const DOCUMENTATION_ASSETS = readAssets([
  ...['./page.css', './icon.svg', './documentation.css', './documentation.mjs'],
  ...['swagger-ui-dist/swagger-ui-bundle.js', 'swagger-ui-dist/swagger-ui.css'],
]);

/** The colour of links and buttons, lighter on dark screens. */
const themeCss = ({ accent = '#4338ca' }: Config['pages']): string =>
  `:root {\n  --accent: light-dark(${accent}, color-mix(in oklab, ${accent}, white 60%));\n}\n`;

/** The documentation (`/docs`), the landing page (`/`) if it is enabled, and their assets. */
export function pages(options: PagesOptions): Pages {
  const { landing } = options.config;
  const theme = asset('.css', themeCss(options.config));
  const assets: Assets = new Map([...DOCUMENTATION_ASSETS, ...(landing ? LANDING_ASSETS : []), ['theme.css', theme]]);
  const landingPages = landing ? createLandingPages(options, assets) : undefined;
  const byPath: Pages['byPath'] = new Map<string, Handler>([
    ...(landingPages?.handlers ?? []),
    ['/docs', (ctx) => sendDocumentation(ctx, options, assets)],
    ...[...assets].map(([name, file]): [string, Handler] => [`/-/assets/${name}`, (ctx) => sendAsset(ctx, file)]),
  ]);
  return { byPath, explain: landingPages?.explain };
}

type Handler = (ctx: Context) => void | Promise<void>;

function brandOf({ config, site }: PagesOptions, assets: Assets, language: Language, root = ''): Brand {
  return {
    name: config.name ?? (decodeEntities(site().name) || language.texts.calendar),
    logo: config.logo,
    language,
    root,
    asset: (name) => root + assetUrl(name, assets),
  };
}

function createLandingPages(options: PagesOptions, assets: Assets) {
  const { config, freshness, charge, publicUrl } = options;
  const landing = new Landing(options);
  const cacheControl = publicCacheControl(freshness);
  const robots = asset('.txt', robotsTxt(publicUrl));
  const brandForVisitor = (ctx: Context, root?: string): Brand => {
    // No cache may give one visitor the page in the language of another.
    if (config.locale === undefined) ctx.vary('Accept-Language');
    return brandOf(options, assets, languageOf(config.locale ?? preferredTag(ctx.get('Accept-Language'))), root);
  };
  const handlers: [string, Handler][] = [
    [
      '/',
      async (ctx) => {
        setPageHeaders(ctx);
        const page = await landing.page(ctx.querystring, brandForVisitor(ctx), () => charge(ctx.req));
        await sendAsset(ctx, page, cacheControl);
      },
    ],
    ['/robots.txt', (ctx) => sendAsset(ctx, robots, cacheControl)],
    ['/sitemap.xml', async (ctx) => sendAsset(ctx, await landing.sitemap(() => charge(ctx.req)), cacheControl)],
  ];

  async function explain(ctx: Context, error: ApiResponse): Promise<void> {
    setPageHeaders(ctx);
    // Of `/a/b` it is `../`, and not `/`: the gateway may be below a path of its host.
    const root = '../'.repeat(ctx.path.split('/').length - 2);
    const brand = brandForVisitor(ctx, root);
    const page = asset('.html', errorPage(brand, parseLandingQuery(ctx.querystring), error).text);
    await sendAsset(ctx, page, 'no-store', error.status);
  }
  return { handlers, explain };
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

function sendDocumentation(ctx: Context, options: PagesOptions, assets: Assets): Promise<void> {
  const brand = brandOf(options, assets, languageOf('en'));
  const mounts = options.mounts.map((mount) => mount.slice(1));
  const { text } = pageFrame(brand, {
    title: `${brand.name}: API documentation`,
    head: html`<link rel="stylesheet" href="${brand.asset('swagger-ui.css')}">
<link rel="stylesheet" href="${brand.asset('documentation.css')}">
<script defer src="${brand.asset('swagger-ui-bundle.js')}"></script>
<script type="module" src="${brand.asset('documentation.mjs')}"></script>`,
    body: html`<div id="main" tabindex="-1" data-mounts="${mounts.join(' ')}">
<div id="interface"><p class="waiting">Reading the description of the API</p></div>
</div>`,
  });
  setPageHeaders(ctx);
  return sendAsset(ctx, asset('.html', text), 'no-cache');
}
