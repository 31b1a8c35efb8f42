// A GET that never reaches a private network: public hosts only, each redirect checked, limited in time and size.

import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type Dispatcher, request } from 'undici';
import { readAtMost } from '../text/bytes.ts';

/** Resolves a host name's addresses; none if it has none. */
type ResolveHost = (hostname: string) => Promise<{ address: string; family: number }[]>;
type AddressCheck = (address: string) => boolean;

export interface PublicRequest {
  /** Sent to every host of a chain of redirects, with a `user-agent`: no credentials. */
  headers: Record<string, string>;
  /** Of the body. */
  maxBytes: number;
  /** For everything: DNS, redirects, body. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Hosts of private networks too, by the names that this machine knows, such as `localhost`. */
  allowPrivate?: boolean;
  /** Default: only 80 for http and 443 for https. Others belong to other services, which clients must not probe. */
  anyPort?: boolean;
  /** Default: public addresses only. */
  isAllowedAddress?: AddressCheck;
  /** Default: the DNS servers of this machine. */
  resolve?: ResolveHost;
}

export interface PublicResponse {
  /** After redirects. */
  url: URL;
  status: 200 | 304;
  headers: Dispatcher.ResponseData['headers'];
  /** Empty with 304. */
  bytes: Buffer;
}

/** The message says to an operator what is wrong: `intranet.example is not a public host`. */
export class PublicRequestError extends Error {
  override name = 'PublicRequestError';
}

const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Resolves with a 200, after redirects; or a 304, if `headers` has `if-none-match`. Checks each host's address as
 * resolved for the actual connection, so that a second resolution cannot change it (DNS rebinding).
 * @throws PublicRequestError for any other status, and when `signal` aborts
 */
export async function getPublic(text: string, options: PublicRequest): Promise<PublicResponse> {
  const { timeoutMs, allowPrivate = false, isAllowedAddress = isPublicAddress, resolve = resolveHost } = options;
  const lookup = createCheckedLookup(resolve, isAllowedAddress);
  const agent = new Agent({
    connect: { ...(!allowPrivate && { lookup }), timeout: timeoutMs },
    allowH2: false,
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    let url = new URL(text.trim());
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      checkUrl(url, options.anyPort ?? false, (address) => allowPrivate || isAllowedAddress(address));
      const sentHeaders = { 'user-agent': 'calendar-gateway', ...options.headers };
      const sent = { method: 'GET', headers: sentHeaders, dispatcher: agent, signal } as const;
      const { statusCode: status, headers, body } = await request(url, sent);
      if (status === 200) return { url, status, headers, bytes: await readAtMost(body, options.maxBytes) };
      void body.dump().catch(() => undefined);
      const isUnchanged = status === 304 && 'if-none-match' in options.headers;
      if (isUnchanged) return { url, status: 304, headers, bytes: Buffer.alloc(0) };
      if (!REDIRECT_STATUSES.has(status)) throw new PublicRequestError(`answered with status ${status}`);
      url = new URL(String(headers.location), url);
    }
    throw new PublicRequestError(`more than ${MAX_REDIRECTS} redirects`);
  } catch (error) {
    if (timeout.aborted) throw new PublicRequestError(`no complete answer within ${timeoutMs / 1000} s`);
    // `too large`, `connect ECONNREFUSED 192.0.2.1:443`, `Invalid URL`.
    throw error instanceof PublicRequestError
      ? error
      : new PublicRequestError((error as Error).message, { cause: error });
  } finally {
    await agent.destroy().catch(() => undefined);
  }
}

/** Checks all of a URL but the name of its host, which `createCheckedLookup` checks. @throws PublicRequestError */
export function checkUrl(url: URL, anyPort: boolean, isAllowedAddress: AddressCheck): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new PublicRequestError(`${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '') throw new PublicRequestError('an address with a password');
  if (url.port !== '' && !anyPort) throw new PublicRequestError(`port ${url.port} is not allowed`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !isAllowedAddress(host)) throw new PublicRequestError(`${host} is not a public host`);
}

/** The longest wait for the answer of a DNS server in milliseconds, and how often each server is queried. */
const DNS = { timeout: 2000, tries: 2 };

/**
 * Asks DNS servers itself (default: those of the machine). The system's lookups cannot be cancelled, and only two of
 * them run at a time: a client's names whose servers do not answer would keep the gateway from finding the CMS.
 */
export function createHostResolver(servers?: readonly string[], options = DNS): ResolveHost {
  return async (hostname) => {
    const resolver = new Resolver(options);
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
}

export const resolveHost = createHostResolver();

/** Creates a `lookup` for connections that fails if any address of the name is not allowed. */
export function createCheckedLookup(resolve: ResolveHost, isAllowedAddress: AddressCheck): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new PublicRequestError(`${hostname} has no address`), '');
        else if (!addresses.every(({ address }) => isAllowedAddress(address)))
          callback(new PublicRequestError(`${hostname} is not a public host`), '');
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

/** The only part of IPv6 that is allocated for global unicast. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure answers its virtual machines here, with an address that looks public. */
const AZURE_HOST = '168.63.129.16';

/** False for addresses of private and reserved ranges, and for a text that is no IP address. */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also accepts spellings such as `0x7f.1`, which node:net does not.
  if (isIP(address) === 0 || address === AZURE_HOST) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv4 || (ip instanceof ipaddr.IPv6 && ip.match(GLOBAL_IPV6));
}
