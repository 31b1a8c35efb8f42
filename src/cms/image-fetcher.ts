// Fetches images from URLs that clients give: from public hosts only, within time, size and memory limits, typed by
// their bytes.

import { Resolver } from 'node:dns/promises';
import { isIP, isIPv4, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { ApiError } from '../errors.ts';
import { percentDecoded, trimCharacters } from '../text/text.ts';
import { isPublicAddress } from './public-address.ts';

export interface ReservedImage {
  image: FetchedImage;
  /** Frees the image's memory. May be called again. */
  release(): void;
}

export interface ImageFetcher {
  /**
   * Fetches an image for an account as soon as the memory limits have room for the largest allowed image.
   * Undefined: no usable image.
   * @throws ApiError 503 without room for ten seconds
   */
  fetch(url: string, account: number): Promise<ReservedImage | undefined>;
}

export interface ImageFetcherOptions {
  fetchFrom?: (url: string, options: FetchImageOptions) => Promise<FetchedImage | undefined>;
  /** For `fetchFrom`. */
  options?: FetchImageOptions;
  /** Memory of all images that are being fetched or uploaded. A fetch counts as the largest allowed image. */
  totalBytes?: number;
  accountBytes?: number;
  /** Resolves after `ms` milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

const TOTAL_BYTES = 64 * 1024 * 1024;
const ACCOUNT_BYTES = TOTAL_BYTES / 2;
const MAX_WAIT_MS = 10_000;
const MAX_QUEUE = 100;

/** With the defaults: six concurrent fetches, three per account. */
export function createImageFetcher({
  fetchFrom = fetchImage,
  options = {},
  totalBytes = TOTAL_BYTES,
  accountBytes = ACCOUNT_BYTES,
  wait = (ms) => sleep(ms, undefined, { ref: false }),
}: ImageFetcherOptions = {}): ImageFetcher {
  const maxImageBytes = options.maxBytes ?? MAX_BYTES;
  const reservedByAccount = new Map<number, number>();
  const queue = new Set<{ account: number; start: () => void }>();
  let reserved = 0;

  const hasRoom = (account: number): boolean =>
    reserved + maxImageBytes <= totalBytes && (reservedByAccount.get(account) ?? 0) + maxImageBytes <= accountBytes;

  function reserve(account: number, bytes: number): void {
    reserved += bytes;
    const ofAccount = (reservedByAccount.get(account) ?? 0) + bytes;
    if (ofAccount > 0) reservedByAccount.set(account, ofAccount);
    else reservedByAccount.delete(account);
  }

  function free(account: number, bytes: number): void {
    reserve(account, -bytes);
    for (const queued of queue) {
      if (!hasRoom(queued.account)) continue;
      queue.delete(queued);
      reserve(queued.account, maxImageBytes);
      queued.start();
    }
  }

  async function acquire(account: number): Promise<void> {
    if (hasRoom(account)) return reserve(account, maxImageBytes);
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const queued = { account, start: resolve };
    if (queue.size >= MAX_QUEUE) throw overloadedError();
    queue.add(queued);
    await Promise.race([started, wait(MAX_WAIT_MS)]);
    if (queue.delete(queued)) throw overloadedError();
  }

  return {
    async fetch(url, account) {
      await acquire(account);
      let bytes = 0;
      let image: FetchedImage | undefined;
      try {
        image = await fetchFrom(url, options);
        bytes = image?.bytes.length ?? 0;
      } finally {
        free(account, maxImageBytes - bytes);
      }
      if (!image) return undefined;
      let isReserved = true;
      return {
        image,
        release() {
          if (isReserved) free(account, bytes);
          isReserved = false;
        },
      };
    },
  };
}

const overloadedError = (): ApiError =>
  new ApiError(503, 'calendar_overloaded', 'Too many images are being fetched at once. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  });

export interface FetchedImage {
  bytes: Uint8Array;
  mimeType: string;
  filename: string;
}

/** Resolves a host name's addresses; none if it has none. */
export type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>;

export interface FetchImageOptions {
  /** Size of the image. Default 10 MB. */
  maxBytes?: number;
  /** For the whole download: DNS, redirects, body. Default 10 s. */
  timeoutMs?: number;
  /** Default: public addresses only. Tests, whose server is on this machine, replace it. */
  isAllowedAddress?: (address: string) => boolean;
  /** Default: the DNS servers of this machine. */
  resolve?: ResolveHost;
  /**
   * `standard`: 80 for http and 443 for https. Default `standard`, or `any` if `isAllowedAddress` is given.
   */
  ports?: 'standard' | 'any';
  /** Origins that are never called, such as the gateway's own. */
  blockedOrigins?: readonly string[];
}

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const MAX_FILENAME_LENGTH = 100;

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1');

/** True for an ISO media file with an AVIF brand, as major or compatible brand. */
function isAvif(bytes: Uint8Array): boolean {
  if (ascii(bytes, 4, 8) !== 'ftyp') return false;
  const size = Buffer.from(bytes.subarray(0, 4)).readUInt32BE(0);
  return /^(.{4})*?(avif|avis)/s.test(ascii(bytes, 8, 12) + ascii(bytes, 16, Math.min(size, 256)));
}

const IMAGE_TYPES: readonly { mimeType: string; extension: string; matches: (bytes: Uint8Array) => boolean }[] = [
  { mimeType: 'image/png', extension: 'png', matches: (bytes) => ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' },
  { mimeType: 'image/jpeg', extension: 'jpg', matches: (bytes) => ascii(bytes, 0, 3) === '\xff\xd8\xff' },
  { mimeType: 'image/gif', extension: 'gif', matches: (bytes) => /^GIF8[79]a$/.test(ascii(bytes, 0, 6)) },
  {
    mimeType: 'image/webp',
    extension: 'webp',
    matches: (bytes) => ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP',
  },
  { mimeType: 'image/avif', extension: 'avif', matches: isAvif },
];

/**
 * Downloads the image at `url`: http or https on their standard ports, no credentials, no cookies, at most
 * three redirects. Checks each host's address as resolved for the actual connection, so that a second
 * resolution cannot change it (DNS rebinding). Returns undefined for everything except a PNG, JPEG, GIF, WebP
 * or AVIF image, recognised by its first bytes and not by its headers.
 */
export async function fetchImage(url: string, options: FetchImageOptions = {}): Promise<FetchedImage | undefined> {
  const {
    maxBytes = MAX_BYTES,
    timeoutMs = TIMEOUT_MS,
    isAllowedAddress = isPublicAddress,
    resolve = resolveHost,
  } = options;
  const agent = new Agent({
    connect: { lookup: createCheckedLookup(resolve, isAllowedAddress), timeout: timeoutMs },
    allowH2: false,
  });
  const { ports = options.isAllowedAddress ? 'any' : 'standard', blockedOrigins = [] } = options;
  const rules: Rules = { isAllowedAddress, ports, blockedOrigins };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    let target = parseAllowedUrl(url.trim(), undefined, rules);
    for (let hops = 0; target && hops <= MAX_REDIRECTS; hops += 1) {
      const response = await get(target, agent, deadline.signal);
      if (!REDIRECT_STATUSES.has(response.statusCode)) return await readImage(target, response, maxBytes);
      discard(response);
      const { location } = response.headers;
      target = typeof location === 'string' ? parseAllowedUrl(location, target, rules) : undefined;
    }
    return undefined;
  } catch {
    // Blocked addresses, unknown hosts, timeouts, broken responses: for the client none of them is a usable
    // image.
    return undefined;
  } finally {
    clearTimeout(timer);
    await agent.destroy().catch(() => undefined);
  }
}

type Rules = Required<Pick<FetchImageOptions, 'isAllowedAddress' | 'ports' | 'blockedOrigins'>>;

/**
 * Parses a URL that may be called. Checks hosts that are IP addresses here, since these never reach the
 * resolver.
 */
function parseAllowedUrl(
  text: string,
  base: URL | undefined,
  { isAllowedAddress, ports, blockedOrigins }: Rules,
): URL | undefined {
  if (!URL.canParse(text, base?.href)) return undefined;
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  // Other ports belong to other services, which clients must not be able to probe.
  if (url.port !== '' && ports === 'standard') return undefined;
  if (blockedOrigins.includes(url.origin)) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return url;
  // Rejects unusual spellings of IPv4 addresses (2130706433, 0x7f.1, 0177.0.0.1): only attacks use them.
  if (isIPv4(host) && url.host !== base?.host && !text.includes(`//${host}`)) return undefined;
  return isAllowedAddress(host) ? url : undefined;
}

/** The longest wait for the answer of a DNS server in milliseconds, and how often each server is queried. */
const DNS = { timeout: 2000, tries: 2 };

/**
 * Asks the DNS servers of the machine, or these, itself. The system's lookups cannot be cancelled, and only
 * two of them run at a time: a client's names whose servers do not answer would keep the gateway from finding
 * the CMS.
 */
export function createHostResolver(servers?: readonly string[], options = DNS): ResolveHost {
  return async (hostname) => {
    const resolver = new Resolver(options);
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 })) : [],
    );
  };
}

const resolveHost = createHostResolver();

/** Creates a `lookup` for connections that fails if any address of the name is not allowed. */
function createCheckedLookup(resolve: ResolveHost, isAllowedAddress: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isAllowedAddress(address))) {
          callback(new Error(`${hostname} is not a public host`), '');
        } else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

async function get(url: URL, dispatcher: Dispatcher, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  const headers = { accept: 'image/avif, image/webp, image/*', 'user-agent': 'calendar-gateway' };
  return request(url, { method: 'GET', headers, dispatcher, signal });
}

/** Releases the connection of an unread body. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined);
  body.destroy();
}

async function readImage(
  url: URL,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<FetchedImage | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const contentLength = Number(response.headers['content-length'] ?? 0);
  if (response.statusCode !== 200 || contentLength > maxBytes) {
    discard(response);
    return undefined;
  }
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Leaving the loop ends the stream.
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const type = IMAGE_TYPES.find(({ matches }) => matches(bytes));
  return type && { bytes, mimeType: type.mimeType, filename: `${filenameOf(url)}.${type.extension}` };
}

/** The last path segment without its extension, in characters that any file system accepts. */
function filenameOf({ pathname }: URL): string {
  const name = percentDecoded(pathname.split('/').at(-1) ?? '');
  const clean = trimCharacters(name.replace(/\.\w{1,5}$/, '').replace(/[^\p{L}\p{N}_-]+/gu, '-'), '-_');
  return [...clean].slice(0, MAX_FILENAME_LENGTH).join('') || 'image';
}
