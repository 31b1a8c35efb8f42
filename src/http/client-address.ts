// Which client a request comes from: by its connection, or by what trusted proxies report.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { MAX_HEADER_CHARACTERS } from '../interface/value-lengths.ts';

export type ClientAddress = (req: IncomingMessage) => string;

/** Stands for every entry of X-Forwarded-For that is not an IP address: such clients count as one. */
const UNKNOWN = 'unknown';

/** A dual-stack socket reports 10.0.0.1 as the IPv4-mapped address `::ffff:10.0.0.1`. */
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** An entry of X-Forwarded-For, without the port that some proxies add: each connection would be another client. */
function parseForwarded(entry: string): string {
  const address = entry
    .replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1')
    .replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1');
  return isIP(address) === 0 ? UNKNOWN : unmapped(address);
}

/** Addresses and networks of proxies, such as `10.0.0.0/8` and `::1`; true: every peer; false: none. */
type TrustedProxies = boolean | readonly string[];

export function createProxyCheck(trusted: TrustedProxies): (address: string) => boolean {
  if (typeof trusted === 'boolean') return () => trusted;
  const isProxy = proxyAddr.compile([...trusted]);
  return (address) => isProxy(unmapped(address), 0);
}

export function createClientAddress(trusted: TrustedProxies): ClientAddress {
  const isProxy = createProxyCheck(trusted);
  // Hop 0 is the peer, a proxy as checked below. Of `198.51.100.9, 203.0.113.7, 10.9.9.9` the client is
  //   trusted ['10.0.0.0/8']   203.0.113.7: the last entry that is no proxy
  //   trusted true             10.9.9.9: the last entry, since every peer appends the address that it saw
  const isTrusted = (entry: string, hop: number): boolean =>
    hop === 0 || (trusted !== true && isProxy(parseForwarded(entry)));
  return (req) => {
    const forwarded = req.headers['x-forwarded-for'];
    const peer = unmapped(req.socket.remoteAddress ?? '');
    if (typeof forwarded !== 'string' || !isProxy(peer)) return peer;
    // The nearest proxy appends last, so a cut at the front drops only what the farthest hops claim.
    const headers: IncomingHttpHeaders = { 'x-forwarded-for': forwarded.slice(-MAX_HEADER_CHARACTERS.forwardedFor) };
    const address = proxyAddr({ headers, socket: req.socket } as IncomingMessage, isTrusted);
    // The peer's own address: X-Forwarded-For had no entry.
    return address === req.socket.remoteAddress ? peer : parseForwarded(address);
  };
}
