// What gateways that share a change log must have in common: the first of them stores it in Redis, every
// other one compares.

import { createHash } from 'node:crypto';
import type { Credentials } from '../cms/port.ts';
import { ConfigError } from '../errors.ts';
import { type Mapping, mappingFingerprint } from '../mapping/mapping.ts';
import { REPLICA_FORMAT } from '../store/schema.ts';
import { trimCharactersEnd } from '../text/text.ts';
import { PROTOCOL_VERSION } from './change-log-entry.ts';
import { parseMessage } from './messages.ts';

/** The property names appear in the error that an operator reads. */
export interface Compatibility {
  site: string;
  mapping: string;
  /** Fingerprint of the whole mapping. */
  'mapping contents': string;
  'interface version': string;
  /** Whether the replica holds all records or only public ones. */
  scope: string;
}

const INTERFACE = 'calendar/events/v1';
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

export function compatibilityOf(siteUrl: string, mapping: Mapping, serviceCredentials: Credentials): Compatibility {
  return {
    site: siteUrl,
    mapping: mapping.name,
    'mapping contents': mappingFingerprint(mapping),
    'interface version': `${INTERFACE}, records ${REPLICA_FORMAT}, protocol ${PROTOCOL_VERSION}`,
    scope: serviceCredentials === undefined ? 'public records' : 'all records',
  };
}

/**
 * Prefix of every Redis key of a site, so that sites can share a Redis. The braces keep the keys on one node
 * of a Redis Cluster ("Redis cluster specification", hash tags).
 */
export const keyPrefix = (siteUrl: string): string => `calendar:{${hashOf(trimCharactersEnd(siteUrl, '/'))}}:`;

function parseCompatibility(stored: string): Partial<Compatibility> {
  try {
    return parseMessage<Partial<Compatibility>>('compatibility', stored);
  } catch {
    throw new ConfigError(
      'CALENDAR_REDIS_URL',
      'the value stored there for this site was not written by a gateway',
      'Stop all gateways and delete the keys of this site (docs/scaling.md), or use another Redis database.',
    );
  }
}

/** Throws `ConfigError` with the differences. */
export function assertCompatible(ours: Compatibility, stored: string): void {
  const theirs = parseCompatibility(stored);
  const names = Object.keys(ours) as (keyof Compatibility)[];
  const different = names.filter((name) => ours[name] !== theirs[name]);
  if (different.length === 0) return;
  const differences = different.map((name) => `${name}: theirs is ${theirs[name]}, this gateway has ${ours[name]}`);
  throw new ConfigError(
    'CALENDAR_REDIS_URL',
    `the gateways that share this Redis for the same site are configured differently (${differences.join('; ')})`,
    'Give all of them the same mapping and version, and all or none a service account, or give this gateway another Redis database. To change all gateways, stop all of them and delete the keys of this site (docs/scaling.md).',
  );
}
