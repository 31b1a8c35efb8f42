// Brings in an image from an address that a caller names: from public hosts alone, bounded in time and size, its type read from its bytes.

import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, isIPv4, type LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { trimmed } from '../text/trim.ts';
import { isPublicAddress } from './public-address.ts';

export interface FetchedImage {
  bytes: Uint8Array;
  mimeType: string;
  filename: string;
}

/** Loaded with the first image: most gateways never fetch one. */
const undici = () => import('undici');

/** A host name's addresses. Rejects when it has none. */
export type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>;

export interface FetchImageOptions {
  /** Of the image. Default 10 MB. */
  maxBytes?: number;
  /** For everything together: names, redirects, the body. Default 10 s. */
  timeoutMs?: number;
  /** Replaces the rule that only public addresses may be called; for tests, whose server is on this machine. */
  mayCall?: (address: string) => boolean;
  /** In place of the system's resolver. */
  resolve?: ResolveHost;
  /** `usual`: 80 for http and 443 for https. Default `usual`, and `any` where `mayCall` is given. */
  ports?: 'usual' | 'any';
  /** Origins that are never called: the gateway's own. */
  notFrom?: readonly string[];
}

export const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const LONGEST_NAME = 100;

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1');

/** Brands of an ISO media file that stand for AVIF, as major brand or among the compatible ones. */
function isAvif(bytes: Uint8Array): boolean {
  if (ascii(bytes, 4, 8) !== 'ftyp') return false;
  const size = Buffer.from(bytes.subarray(0, 4)).readUInt32BE(0);
  return /^(.{4})*?(avif|avis)/s.test(ascii(bytes, 8, 12) + ascii(bytes, 16, Math.min(size, 256)));
}

const TYPES: readonly { mimeType: string; extension: string; fits: (bytes: Uint8Array) => boolean }[] = [
  { mimeType: 'image/png', extension: 'png', fits: (bytes) => ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' },
  { mimeType: 'image/jpeg', extension: 'jpg', fits: (bytes) => ascii(bytes, 0, 3) === '\xff\xd8\xff' },
  { mimeType: 'image/gif', extension: 'gif', fits: (bytes) => /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) },
  {
    mimeType: 'image/webp',
    extension: 'webp',
    fits: (bytes) => ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP',
  },
  { mimeType: 'image/avif', extension: 'avif', fits: isAvif },
];

/**
 * Fetches the image at `url`: http or https on their own ports, no credentials, no cookies, at most three redirects. Each host's address is checked as it
 * was resolved for the very connection that is made, so that a name cannot mean one address when checked and another when called.
 * Undefined for everything that is not a usable image: PNG, JPEG, GIF, WebP or AVIF by its first bytes, whatever the header says.
 */
export async function fetchImage(url: string, options: FetchImageOptions = {}): Promise<FetchedImage | undefined> {
  const { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, mayCall = isPublicAddress, resolve = resolveAll } = options;
  const { Agent } = await undici();
  const dispatcher = new Agent({
    connect: { lookup: checkedLookup(resolve, mayCall), timeout: timeoutMs },
    allowH2: false,
  });
  const { ports = options.mayCall ? 'any' : 'usual', notFrom = [] } = options;
  const rules: Rules = { mayCall, ports, notFrom };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    let place = usableUrl(url.trim(), undefined, rules);
    for (let hops = 0; place && hops <= MAX_REDIRECTS; hops += 1) {
      const answer = await ask(place, dispatcher, deadline.signal);
      if (!REDIRECTS.has(answer.statusCode)) return await imageOf(place, answer, maxBytes);
      discard(answer);
      const { location } = answer.headers;
      place = typeof location === 'string' ? usableUrl(location, place, rules) : undefined;
    }
    return undefined;
  } catch {
    // Refused addresses, names that do not exist, timeouts, broken answers: to the caller all of them are no usable image.
    return undefined;
  } finally {
    clearTimeout(timer);
    await dispatcher.destroy().catch(() => undefined);
  }
}

type Rules = Required<Pick<FetchImageOptions, 'mayCall' | 'ports' | 'notFrom'>>;

/** The address as it may be called. Hosts that are addresses never reach the resolver, so they are checked here. */
function usableUrl(text: string, base: URL | undefined, { mayCall, ports, notFrom }: Rules): URL | undefined {
  if (!URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  // Other ports are other services, which must not be found out about or asked for anything from here.
  if (url.port !== '' && ports === 'usual') return undefined;
  if (notFrom.includes(url.origin)) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return url;
  // 2130706433, 0x7f.1 and 0177.0.0.1 are written by nobody who means well, whatever they stand for.
  if (isIPv4(host) && url.host !== base?.host && !text.includes(`//${host}`)) return undefined;
  return mayCall(host) ? url : undefined;
}

const resolveAll: ResolveHost = (hostname) => systemLookup(hostname, { all: true });

/** A `lookup` for connections that gives only addresses that may be called; one closed address among them refuses the name. */
function checkedLookup(resolve: ResolveHost, mayCall: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first] = found;
        if (!first || !found.every(({ address }) => mayCall(address))) {
          callback(new Error(`${hostname} is not a public host`), '');
        } else if (all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

async function ask(url: URL, dispatcher: Dispatcher, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const headers = { accept: 'image/avif, image/webp, image/*', 'user-agent': 'calendar-gateway' };
  const { request } = await undici();
  return request(url, { method: 'GET', headers, dispatcher, signal });
}

/** Lets go of a body that nobody reads. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined);
  body.destroy();
}

async function imageOf(url: URL, answer: Dispatcher.ResponseData, maxBytes: number): Promise<FetchedImage | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const announced = Number(answer.headers['content-length'] ?? 0);
  if (answer.statusCode !== 200 || announced > maxBytes) {
    discard(answer);
    return undefined;
  }
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop ends the stream.
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const type = TYPES.find(({ fits }) => fits(bytes));
  return type && { bytes, mimeType: type.mimeType, filename: `${nameOf(url)}.${type.extension}` };
}

/** The last part of the path without its ending, in letters that any file system takes. */
function nameOf({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // A broken encoding makes a poor name, not a poor image.
  }
  const clean = trimmed(name.replace(/\.\w{1,5}$/, '').replace(/[^\p{L}\p{N}_-]+/gu, '-'), '-_');
  return [...clean].slice(0, LONGEST_NAME).join('') || 'image';
}
