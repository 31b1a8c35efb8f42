// The pages' files: their type, the version that their address carries, and their bytes when they are asked for.

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
  /** Read each time: nearly everybody takes the compressed form, and three megabytes of scripts are much for most gateways to keep. */
  bytes: () => Promise<Buffer>;
  /** Kept from the first time on. */
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

/** Files of these pages, and files of packages as `package/path`: name in the address -> content. */
export function readAssets(own: readonly string[], packaged: Readonly<Record<string, string>>): Assets {
  const places = [
    ...own.map((name) => [name, new URL(name, import.meta.url)] as const),
    ...Object.entries(packaged).map(([name, path]) => [name, inPackage(path)] as const),
  ];
  return new Map(places.map(([name, place]) => [name, asset(name, place)]));
}

/** Beside the package's description, since packages do not export all of their files. */
function inPackage(path: string): URL {
  const [name, ...rest] = path.split('/');
  return new URL(rest.join('/'), import.meta.resolve(`${name}/package.json`));
}

/** Throws when the file is not there. */
function asset(name: string, place: URL): Asset {
  const version = createHash('sha256').update(readFileSync(place)).digest('base64url').slice(0, 12);
  const bytes = () => readFile(place);
  let gzipped: Promise<Buffer> | undefined;
  const once = () => {
    gzipped ??= bytes().then(compress);
    return gzipped;
  };
  return { type: TYPES[extname(name)] ?? 'application/octet-stream', version, bytes, gzipped: once };
}

/** `asset:NAME` in a page -> the address, relative to the page, with the version. */
export function withAddresses(html: string, assets: Assets): string {
  return html.replace(/asset:([\w.-]+)/g, (_, name: string) => `-/assets/${name}?v=${assets.get(name)!.version}`);
}

/** Answers with the asset. An address that carries its version may be kept for ever, any other is asked for again. */
export async function sendAsset(ctx: Context, { type, bytes, version, gzipped }: Asset): Promise<void> {
  ctx.set('Cache-Control', ctx.query.v === version ? `public, max-age=${A_YEAR_SECONDS}, immutable` : 'no-cache');
  ctx.set('Content-Type', type);
  ctx.vary('Accept-Encoding');
  ctx.status = 200;
  const zipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.set('ETag', zipped ? `"${version}-gzip"` : `"${version}"`);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (zipped) ctx.set('Content-Encoding', 'gzip');
  ctx.body = await (zipped ? gzipped() : bytes());
}
