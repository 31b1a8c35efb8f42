// What the pages consist of in bytes: static files with a version in their URL, and rendered pages.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

export interface Asset {
  type: string;
  version: string;
  content: Buffer;
  /** Compressed for the first request that accepts it. */
  gzipped?: Promise<Buffer>;
}

export type Assets = Map<string, Asset>;

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
};
const A_YEAR_SECONDS = 31_536_000;

const compress = promisify<Buffer, Buffer>(gzip);

/**
 * Throws if a file is missing.
 * @param local files of this folder; `packaged`: files of packages, by the name in the URL: `package/path`
 */
export function readAssets(local: readonly string[], packaged: Readonly<Record<string, string>>): Assets {
  const files = [
    ...local.map((name) => [name, new URL(name, import.meta.url)] as const),
    ...Object.entries(packaged).map(([name, path]) => [name, packageFileUrl(path)] as const),
  ];
  return new Map(files.map(([name, url]) => [name, asset(extname(name), readFileSync(url))]));
}

/** Relative to the package's `package.json`, because packages do not export all of their files. */
function packageFileUrl(path: string): URL {
  const [name, ...rest] = path.split('/');
  return new URL(rest.join('/'), import.meta.resolve(`${name}/package.json`));
}

/** `extension` decides on the type: `.css`. */
export function asset(extension: string, data: string | Buffer): Asset {
  const content = Buffer.from(data);
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  return { type: TYPES[extension]!, version, content };
}

/** The URL of an asset with its version, relative to the page. */
export const assetUrl = (name: string, assets: Assets): string => `-/assets/${name}?v=${assets.get(name)!.version}`;

/**
 * Sends the asset.
 * @param cacheControl by default, caches may store a URL with the current version forever, and revalidate others
 */
export async function sendAsset(ctx: Context, asset: Asset, cacheControl?: string, status = 200): Promise<void> {
  const { type, version, content } = asset;
  const ofVersion = ctx.query.v === version ? `public, max-age=${A_YEAR_SECONDS}, immutable` : 'no-cache';
  ctx.set('Cache-Control', cacheControl ?? ofVersion);
  ctx.set('Content-Type', type);
  ctx.vary('Accept-Encoding');
  ctx.status = status;
  const acceptsGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.set('ETag', acceptsGzip ? `"${version}-gzip"` : `"${version}"`);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (acceptsGzip) {
    ctx.set('Content-Encoding', 'gzip');
    asset.gzipped ??= compress(content);
  }
  ctx.body = acceptsGzip ? await asset.gzipped : content;
}
