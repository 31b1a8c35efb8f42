// Which network addresses belong to the public internet: the only ones that the gateway may be sent to by a caller.

import { BlockList, isIP } from 'node:net';

/** Of IPv4 all that is not for the public internet (IANA special-purpose registry), with multicast and the reserved end. */
const CLOSED_V4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Of IPv6 only global unicast is open, which leaves out loopback, fc00::/7, fe80::/10, multicast and every form that carries an IPv4
 * address (::ffff:, 64:ff9b::); within it, tunnels (Teredo, 6to4), protocol assignments and documentation are closed too.
 */
const OPEN_V6: readonly [string, number] = ['2000::', 3];
const CLOSED_V6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

// Separate lists: one that knows both kinds takes ::ffff:0:0/96 for all of IPv4.
const closedV4 = new BlockList();
for (const [net, prefix] of CLOSED_V4) closedV4.addSubnet(net, prefix, 'ipv4');
const openV6 = new BlockList();
openV6.addSubnet(...OPEN_V6, 'ipv6');
const closedV6 = new BlockList();
for (const [net, prefix] of CLOSED_V6) closedV6.addSubnet(net, prefix, 'ipv6');

/** Whether this is the address of a public host. Anything that is no address at all is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !closedV4.check(address, 'ipv4');
  return family === 6 && openV6.check(address, 'ipv6') && !closedV6.check(address, 'ipv6');
}
