// Whose address a request counts for: what connects, or whom the proxies before this gateway saw.

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { HEADER_CHARACTERS } from '../interface/limits.ts';
import type { Observe } from '../observe/events.ts';
import { isPublicAddress } from '../upstream/public-address.ts';

/** Reads the address that a request counts for. Whatever stands in `X-Forwarded-For` before the first that is not trusted is the caller's word. */
export type CallerAddress = (request: IncomingMessage) => string;

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** `::ffff:10.0.0.1`, as a socket for both families says it, is 10.0.0.1. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** What a proxy writes for a caller whose address it does not tell; all other texts that are no address count as this one. */
const UNKNOWN = 'unknown';

/** An address as proxies write it, some of them with the port of the connection: each connection would count as another caller. */
function writtenAddress(text: string): string {
  if (text === '') return '';
  const address = text
    .replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1')
    .replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1');
  return isIP(address) === 0 ? UNKNOWN : address;
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/**
 * Warns once about a proxy that the configuration does not trust: all callers behind it are one address, so they share the limit of requests,
 * and a few wrong passwords of one block new logins of all.
 */
function createWarning(observe: Observe): (request: IncomingMessage, address: string) => void {
  let isSaid = false;
  return ({ headers }, address) => {
    if (isSaid || headers['x-forwarded-for'] === undefined || isPublicAddress(plain(address))) return;
    isSaid = true;
    const message =
      `Requests from ${plain(address)} carry X-Forwarded-For, and listen.trustProxies does not name that address: all callers ` +
      'behind it count as one, in the limits of requests and of failed logins. If it is your proxy, name it there.';
    observe({ type: 'notice', level: 'warn', message });
  };
}

/**
 * @param trusted false: no proxy; true: every peer; or these addresses and networks: `10.0.0.0/8`, `::1`
 * @param observe gets one warning if a proxy in a private network is not trusted
 */
export function callerAddress(trusted: boolean | readonly string[], observe: Observe = () => {}): CallerAddress {
  const connected = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';
  const warn = createWarning(observe);
  if (trusted === false) {
    return (request) => {
      const address = connected(request);
      warn(request, address);
      return address;
    };
  }
  const forwarded = ({ headers }: IncomingMessage) => {
    // The nearest proxies write last: what is further away than so many characters is not looked at.
    const header = headers['x-forwarded-for'];
    return typeof header === 'string'
      ? header
          .slice(-HEADER_CHARACTERS.forwardedFor)
          .split(',')
          .map((address) => writtenAddress(address.trim()))
      : [];
  };
  if (trusted === true) return (request) => forwarded(request).at(-1) || connected(request);

  const list = listOf(trusted);
  const isTrusted = (address: string) => isIP(address) !== 0 && list.check(address, familyOf(address));
  return (request) => {
    let address = plain(connected(request));
    if (!isTrusted(address)) warn(request, address);
    // From the nearest proxy outwards: each says whom it saw, and only the word of a trusted one counts.
    for (const seen of forwarded(request).reverse()) {
      if (!isTrusted(address) || seen === '') break;
      address = plain(seen);
    }
    return address;
  };
}
