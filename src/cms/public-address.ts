// Decides which IP addresses belong to the public internet: the gateway fetches images by URL from no others.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only part of IPv6 that is allocated for global unicast. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure answers its virtual machines here, with an address that looks public. */
const AZURE_HOST = '168.63.129.16';

/**
 * True for the address of a public host. False for private and reserved ranges, and for a string that is no
 * IP address.
 */
export function isPublicAddress(address: string): boolean {
  // ipaddr.js also accepts spellings such as `0x7f.1`, which node:net does not.
  if (isIP(address) === 0 || address === AZURE_HOST) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv4 || (ip instanceof ipaddr.IPv6 && ip.match(GLOBAL_IPV6));
}
