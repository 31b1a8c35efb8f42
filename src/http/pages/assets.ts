// Static assets of the HTML pages, with a version in their URL.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

interface Asset {
  type: string;
  version: string;
  /** Not cached: nearly every client accepts gzip, and the scripts take three megabytes. */
  bytes: () => Promise<Buffer>;
  /** Cached after the first request. */
  gzipped: () => Promise<Buffer>;
}

export type Assets = Map<string, Asset>;

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const A_YEAR_SECONDS = 31_536_000;

const compress = promisify(gzip);

/** @param own files of this folder; `packaged`: files of packages, by the name in the URL: `package/path` */
export function readAssets(own: readonly string[], packaged: Readonly<Record<string, string>>): Assets {
  const files = [
    ...own.map((name) => [name, new URL(name, import.meta.url)] as const),
    ...Object.entries(packaged).map(([name, path]) => [name, packageFileUrl(path)] as const),
  ];
  return new Map(files.map(([name, url]) => [name, asset(name, url)]));
}

/** Relative to the package's `package.json`, because packages do not export all of their files. */
function packageFileUrl(path: string): URL {
  const [name, ...rest] = path.split('/');
  return new URL(rest.join('/'), import.meta.resolve(`${name}/package.json`));
}

/** Throws if the file is missing. */
function asset(name: string, url: URL): Asset {
  const version = createHash('sha256').update(readFileSync(url)).digest('base64url').slice(0, 12);
  const bytes = () => readFile(url);
  let gzipped: Promise<Buffer> | undefined;
  const gzippedOnce = () => {
    gzipped ??= bytes().then(compress);
    return gzipped;
  };
  return { type: TYPES[extname(name)] ?? 'application/octet-stream', version, bytes, gzipped: gzippedOnce };
}

/** Replaces `asset:NAME` in a page by the relative URL with the version. */
export function withAssetUrls(html: string, assets: Assets): string {
  return html.replace(/asset:([\w.-]+)/g, (_, name: string) => `-/assets/${name}?v=${assets.get(name)!.version}`);
}

/** Sends the asset. Caches may store a URL with the current version forever, and must revalidate any other. */
export async function sendAsset(ctx: Context, { type, bytes, version, gzipped }: Asset): Promise<void> {
  ctx.set('Cache-Control', ctx.query.v === version ? `public, max-age=${A_YEAR_SECONDS}, immutable` : 'no-cache');
  ctx.set('Content-Type', type);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  const acceptsGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.set('ETag', acceptsGzip ? `"${version}-gzip"` : `"${version}"`);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (acceptsGzip) ctx.set('Content-Encoding', 'gzip');
  ctx.body = await (acceptsGzip ? gzipped() : bytes());
}
