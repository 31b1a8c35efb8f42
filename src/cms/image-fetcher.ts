// Fetches images from URLs that clients give: from public hosts only, within time, size and memory limits, typed by
// their bytes.

import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { ApiError } from '../errors.ts';
import { normalizeUnicode, percentDecoded, trimCharacters } from '../text/text.ts';
import { readBody } from './http-exchange.ts';
import { isPublicAddress } from './public-address.ts';

export interface FetchedImage {
  bytes: Uint8Array;
  mimeType: string;
  filename: string;
}

export type ImageFetcher = ReturnType<typeof createImageFetcher>;

/** Memory of all images that are being fetched or uploaded: ten fetches at once. */
const TOTAL_BYTES = 100 * 1024 * 1024;
const FETCHES_PER_ACCOUNT = 5;

export function createImageFetcher(fetchFrom: typeof fetchImage = fetchImage) {
  /** A fetch counts as the largest allowed image, and then as what it has brought. */
  let taken = 0;
  /** By account. */
  const running = new Map<number, number>();
  return {
    /**
     * Fetches an image and keeps room for it in memory until `release`. Undefined: no usable image.
     * @param account the id of the account that asks: one has half of the fetches at once
     * @throws ApiError 503 if there is no room for the largest allowed image
     */
    async fetch(url: string, account: number): Promise<FetchedImage | undefined> {
      const own = running.get(account) ?? 0;
      if (own >= FETCHES_PER_ACCOUNT || taken + MAX_BYTES > TOTAL_BYTES) throw overloadedError();
      running.set(account, own + 1);
      taken += MAX_BYTES;
      let image: FetchedImage | undefined;
      try {
        image = await fetchFrom(url);
        return image;
      } finally {
        taken -= MAX_BYTES - (image?.bytes.length ?? 0);
        const left = running.get(account)! - 1;
        if (left > 0) running.set(account, left);
        else running.delete(account);
      }
    },
    release({ bytes }: FetchedImage): void {
      taken -= bytes.length;
    },
  };
}

const overloadedError = (): ApiError =>
  new ApiError(503, 'calendar_overloaded', 'Too many images are being fetched at once. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  });

/** Resolves a host name's addresses; none if it has none. */
export type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>;

/** What the tests, whose server is on this machine and is not waited for, replace. */
export interface FetchImageOptions {
  /** For the whole download: DNS, redirects, body. Default 10 s. */
  timeoutMs?: number;
  /** Default: public addresses only. */
  isAllowedAddress?: (address: string) => boolean;
  /** Default: the DNS servers of this machine. */
  resolve?: ResolveHost;
  /** Default: only 80 for http and 443 for https. */
  anyPort?: boolean;
}

/** Of one image. */
const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const MAX_FILENAME_LENGTH = 80;

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1');

/** An ISO media file with an AVIF brand, as major or compatible brand. */
const isAvif = (bytes: Uint8Array): boolean => /^ftyp(?:.{4})*?avi[fs]/s.test(ascii(bytes, 4, 64));

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
export async function fetchImage(text: string, options: FetchImageOptions = {}): Promise<FetchedImage | undefined> {
  const {
    timeoutMs = TIMEOUT_MS,
    isAllowedAddress = isPublicAddress,
    resolve = resolveHost,
    anyPort = false,
  } = options;
  const agent = new Agent({
    connect: { lookup: createCheckedLookup(resolve, isAllowedAddress), timeout: timeoutMs },
    allowH2: false,
  });
  const isAllowed = (url: URL) => mayBeCalled(url, isAllowedAddress, anyPort);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    let url = new URL(text.trim());
    for (let hops = 0; isAllowed(url) && hops <= MAX_REDIRECTS; hops += 1) {
      const response = await get(url, agent, signal);
      if (!REDIRECT_STATUSES.has(response.statusCode)) return await readImage(url, response);
      discard(response);
      url = new URL(String(response.headers.location), url);
    }
    return undefined;
  } catch {
    // Blocked addresses, unknown hosts, timeouts, broken responses: for the client none of them is a usable
    // image.
    return undefined;
  } finally {
    await agent.destroy().catch(() => undefined);
  }
}

/** Checks hosts that are IP addresses here, since these never reach the resolver. */
function mayBeCalled(url: URL, isAllowedAddress: (address: string) => boolean, anyPort: boolean): boolean {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false;
  if (url.username !== '' || url.password !== '') return false;
  // Other ports belong to other services, which clients must not be able to probe.
  if (url.port !== '' && !anyPort) return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 || isAllowedAddress(host);
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

async function readImage(url: URL, response: Dispatcher.ResponseData): Promise<FetchedImage | undefined> {
  if (response.statusCode !== 200) {
    discard(response);
    return undefined;
  }
  const bytes = await readBody(response.body, MAX_BYTES);
  const type = IMAGE_TYPES.find(({ matches }) => matches(bytes));
  return type && { bytes, mimeType: type.mimeType, filename: `${filenameOf(url)}.${type.extension}` };
}

/** The last path segment without its extension, fit for a header: `Fête d’été.jpg` -> `Fete-d-ete`. */
export function filenameOf({ pathname }: Pick<URL, 'pathname'>): string {
  const name = percentDecoded(pathname.split('/').at(-1) ?? '').replace(/\.\w{1,5}$/, '');
  const plain = normalizeUnicode(name, 'NFKD').replace(/\p{M}/gu, '');
  return trimCharacters(plain.replace(/[^A-Za-z0-9_-]+/g, '-'), '-_').slice(0, MAX_FILENAME_LENGTH) || 'image';
}
