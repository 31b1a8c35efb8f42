// The landing page and the documentation page, with all of their assets: of other hosts, browsers load pictures only.

import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import type { Config } from '../../config-schema.ts';
import { NAMESPACE } from '../../interface/routes.ts';
import type { Site } from '../../model/records.ts';
import { decodeEntities } from '../../text/html.ts';
import { trimCharacters } from '../../text/text.ts';
import { type Freshness, publicCacheControl } from '../headers.ts';
import type { PublicRead } from '../routes.ts';
import { type Assets, asset, assetUrl, readAssets, sendAsset } from './assets.ts';
import { type Html, html } from './html.ts';
import { Landing } from './landing.ts';
import { type Language, languageOf, preferredTag } from './language.ts';
import { type Brand, pageFrame } from './page-template.ts';

export interface PagesOptions {
  config: Config['pages'];
  cost: Config['cost'];
  /** Paths at which the API is mounted, with or without a leading slash; the pages use the first. */
  mounts: readonly string[];
  publicUrl: string;
  freshness: Freshness;
  site: () => Site;
  today: () => string;
  replicaVersion: () => number;
  read: PublicRead;
  /** Counts in the rate limit what a request costs beyond one. */
  charge: (req: IncomingMessage, requests: number) => void;
  /** The network of the client, for fairness between them. */
  callerOf: (req: IncomingMessage) => string;
  assertPublic: (eventId: number) => void;
}

const LANDING_FILES = ['landing.css', 'events.css', 'view.js', 'landing.mjs'];
const DOCUMENTATION_FILES = ['page.css', 'icon.svg', 'documentation.css', 'documentation.mjs'];
const DOCUMENTATION_PACKAGES = {
  'swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
};

type Handler = (ctx: Context) => void | Promise<void>;

const DEFAULT_ACCENT = '#4338ca';

/** The colour of links and buttons, lighter on dark screens. */
const themeCss = ({ accent = DEFAULT_ACCENT }: Config['pages']): string =>
  `:root {\n  --accent: light-dark(${accent}, color-mix(in oklab, ${accent}, white 60%));\n}\n`;

/** The documentation (`/docs`), the landing page (`/`) if it is enabled, and their assets. */
export function pages(options: PagesOptions): ReadonlyMap<string, Handler> {
  const { landing } = options.config;
  const assets = readAssets([...DOCUMENTATION_FILES, ...(landing ? LANDING_FILES : [])], DOCUMENTATION_PACKAGES);
  assets.set('theme.css', asset('.css', Buffer.from(themeCss(options.config))));
  return new Map<string, Handler>([
    ...(landing ? [['/', landingHandler(options, assets)] as const] : []),
    ['/docs', documentationHandler(options, assets)],
    ...[...assets].map(([name, file]): [string, Handler] => [`/-/assets/${name}`, (ctx) => sendAsset(ctx, file)]),
  ]);
}

function brandOf({ config, site }: PagesOptions, assets: Assets, language: Language): Brand {
  return {
    name: config.name ?? (decodeEntities(site().name) || language.texts.calendar),
    logo: config.logo,
    language,
    asset: (name) => assetUrl(name, assets),
  };
}

/** Without leading and trailing slashes: `calendar/events/v1`. */
const withoutSlashes = (mount: string | undefined) => trimCharacters(mount ?? NAMESPACE, '/');

function landingHandler(options: PagesOptions, assets: Assets): Handler {
  const { config, mounts, freshness, charge, callerOf } = options;
  const publicUrl = options.publicUrl.replace(/\/$/, '');
  const mount = withoutSlashes(mounts[0]);
  const landing = new Landing({
    ...options,
    publicUrl,
    mount,
    brand: (language) => brandOf(options, assets, language),
  });
  const cacheControl = publicCacheControl(freshness);
  return async (ctx) => {
    setPageHeaders(ctx);
    const caller = callerOf(ctx.req);
    const tag = config.locale ?? preferredTag(ctx.get('Accept-Language'));
    // No cache may give one visitor the page in the language of another.
    if (config.locale === undefined) ctx.vary('Accept-Language');
    const { status, page, headers = {} } = await landing.page(ctx.querystring, tag, caller, () => charge(ctx.req, 1));
    ctx.set(headers);
    await sendAsset(ctx, page, status === 200 ? cacheControl : 'no-store', status);
  };
}

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
function setPageHeaders(ctx: Context): void {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data: http: https:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
  };
  const directives = Object.entries(policy).map(([name, value]) => `${name} ${value}`);
  ctx.set('Content-Security-Policy', directives.join('; '));
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
}

/** Swagger UI fills it. */
function documentationPage(options: PagesOptions, assets: Assets): Html {
  const brand = brandOf(options, assets, languageOf('en'));
  const { asset } = brand;
  const mounts = options.mounts.map(withoutSlashes);
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
