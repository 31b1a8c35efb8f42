// What gateways of one site share through Redis. docs/scaling.md says what that costs, and what happens without it.

import { createHash } from 'node:crypto';
import { type Mapping, mappingFingerprint } from '../mapping/mapping.ts';
import type { Observe } from '../observability/observations.ts';
import type { IdempotencyStore } from '../store/idempotency-keys.ts';
import { trimCharactersEnd } from '../text/text.ts';
import { type Connection, openConnection } from './connection.ts';
import { createIdempotencyStore } from './idempotency-store.ts';
import { Peers } from './peers.ts';

export interface ClusterOptions {
  url: string;
  siteUrl: string;
  mapping: Mapping;
  /** Between two polls. */
  intervalMs: number;
  observe: Observe;
}

export interface Cluster {
  /** Of one replica. */
  createPeers(): Peers;
  /** For the counters of limits. */
  client: Connection['client'];
  /** Of every key in Redis. */
  prefix: string;
  idempotencyKeys: IdempotencyStore;
  close(): void;
}

/**
 * Connects in the background. The keys have a prefix of the site and the mapping, because gateways that store other
 * records must not meet. The braces keep them on one node of a Redis Cluster ("Redis cluster specification", hash tags).
 */
export function openCluster({ url, siteUrl, mapping, intervalMs, observe }: ClusterOptions): Cluster {
  const connection = openConnection(url);
  const calendar = `${trimCharactersEnd(siteUrl, '/')} ${mapping.name} ${mappingFingerprint(mapping)}`;
  const prefix = `calendar:{${createHash('sha256').update(calendar).digest('hex').slice(0, 16)}}:`;
  return {
    createPeers: () => new Peers({ url, connection, prefix, intervalMs, observe }),
    client: connection.client,
    prefix,
    idempotencyKeys: createIdempotencyStore(connection, prefix),
    close: connection.close,
  };
}
