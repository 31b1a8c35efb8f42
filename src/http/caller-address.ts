// Whose address a request counts for: what connects, or whom the proxies before this gateway saw.

import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Reads the address that a request counts for. Whatever stands in `X-Forwarded-For` before the first that is not trusted is the caller's word. */
export type CallerAddress = (request: IncomingMessage) => string;

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** `::ffff:10.0.0.1`, as a socket for both families says it, is 10.0.0.1. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** @param trusted nobody, whoever connects, or these addresses and networks: `10.0.0.0/8`, `::1` */
export function callerAddress(trusted: boolean | readonly string[]): CallerAddress {
  const connected = ({ socket }: IncomingMessage) => socket.remoteAddress ?? '';
  if (trusted === false) return connected;
  const forwarded = ({ headers }: IncomingMessage) => {
    const header = headers['x-forwarded-for'];
    return typeof header === 'string' ? header.split(',').map((address) => address.trim()) : [];
  };
  if (trusted === true) return (request) => forwarded(request).at(-1) || connected(request);

  const list = listOf(trusted);
  const isTrusted = (address: string) => isIP(address) !== 0 && list.check(address, familyOf(address));
  return (request) => {
    let address = plain(connected(request));
    // From the nearest proxy outwards: each says whom it saw, and only the word of a trusted one counts.
    for (const seen of forwarded(request).reverse()) {
      if (!isTrusted(address) || seen === '') break;
      address = plain(seen);
    }
    return address;
  };
}
