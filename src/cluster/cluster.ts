// What gateways of one site share through Redis. docs/scaling.md says what that costs, and what happens without it.

import { createHash } from 'node:crypto';
import { mappingFingerprint } from '../mapping/mapping.ts';
import { trimCharactersEnd } from '../text/text.ts';
import { openConnection } from './connection.ts';
import { Peers, type PeersOptions } from './peers.ts';
import { PushLease } from './push-lease.ts';

/**
 * Connects in the background. The keys have a prefix of the site and the mapping, because gateways that store other
 * records must not meet. The braces, which Redis calls a hash tag, keep the keys on one node of a Redis Cluster.
 */
export function openCluster(options: Omit<PeersOptions, 'connection' | 'prefix'> & { siteUrl: string }) {
  const { url, siteUrl, mapping } = options;
  const connection = openConnection(url);
  const calendar = `${trimCharactersEnd(siteUrl, '/')} ${mapping.name} ${mappingFingerprint(mapping)}`;
  const prefix = `calendar:{${createHash('sha256').update(calendar).digest('hex').slice(0, 16)}}:`;
  return {
    /** For one replica. */
    createPeers: () => new Peers({ ...options, connection, prefix }),
    createPushLease: () => new PushLease({ connection, prefix }),
    /** For what else the gateways share, under keys with the prefix. */
    connection,
    prefix,
  };
}
