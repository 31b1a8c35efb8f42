// What the pages consist of in bytes: static files with a version in their URL, and rendered pages.

import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';
import { contentHash } from '../../calendar/rendered-records.ts';

export interface Asset {
  /** Decides on the type: `.css`. */
  extension: string;
  version: string;
  content: Buffer;
  /** Compressed for the first request that accepts it. */
  gzipped?: Promise<Buffer>;
}

export type Assets = Map<string, Asset>;

const A_YEAR_SECONDS = 31_536_000;

const compress = promisify<Buffer, Buffer>(gzip);

/**
 * Assets by the names of their files. Throws if one is missing.
 * @param specifiers as of an `import`: `./page.css` of this folder, `swagger-ui-dist/swagger-ui.css` of a package
 */
export function readAssets(specifiers: readonly string[]): Assets {
  const urls = specifiers.map((specifier) => new URL(import.meta.resolve(specifier)));
  return new Map(urls.map((url) => [basename(url.pathname), asset(extname(url.pathname), readFileSync(url))]));
}

export function asset(extension: string, data: string | Buffer): Asset {
  const content = Buffer.from(data);
  return { extension, version: contentHash(content), content };
}

export const assetUrl = (name: string, assets: Assets): string => `-/assets/${name}?v=${assets.get(name)!.version}`;

/** @param cacheControl by default, caches may store a URL with the current version forever, and revalidate others */
export async function sendAsset(ctx: Context, asset: Asset, cacheControl?: string, status = 200): Promise<void> {
  const { extension, version, content } = asset;
  const ofVersion = ctx.query.v === version ? `public, max-age=${A_YEAR_SECONDS}, immutable` : 'no-cache';
  ctx.set('Cache-Control', cacheControl ?? ofVersion);
  ctx.type = extension;
  ctx.set('X-Content-Type-Options', 'nosniff');
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
