// What gateways on one stream must have in common: kept beside the stream by the first of them, and compared by every other.

import { createHash } from 'node:crypto';
import { ConfigError } from '../errors.ts';
import { fingerprintOf, type Mapping } from '../mapping/mapping.ts';
import { SCHEMA_VERSION } from '../replica/schema.ts';
import { trimmedEnd } from '../text/trim.ts';
import type { Credentials } from '../upstream/port.ts';
import { STREAM_VERSION } from './entries.ts';
import { readMessage } from './messages.ts';

export interface Identity {
  /** The site's address; the keys' prefix is made of it, so that sites may share an engine. */
  site: string;
  mapping: string;
  /** Of everything that the mapping says. */
  'mapping contents': string;
  'interface version': string;
  /** Whether all records are copied or public ones alone. */
  scope: string;
}

const INTERFACE = 'calendar/events/v1';
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** This gateway's side of the comparison, in words as far as they can be shown: an operator is told what differs. */
export function identityOf(siteUrl: string, mapping: Mapping, service: Credentials): Identity {
  return {
    site: siteUrl,
    mapping: mapping.name,
    'mapping contents': fingerprintOf(mapping),
    'interface version': `${INTERFACE}, records ${SCHEMA_VERSION}, stream ${STREAM_VERSION}`,
    scope: service === undefined ? 'public records' : 'all records',
  };
}

/** Before every key of a site. */
export const prefixOf = (siteUrl: string): string => `calendar:{${hashOf(trimmedEnd(siteUrl, '/'))}}:`;

function identityIn(kept: string): Partial<Identity> {
  try {
    return readMessage<Partial<Identity>>('identity', kept);
  } catch {
    throw new ConfigError(
      'CALENDAR_REDIS_URL',
      'the value kept there for this site was not written by a gateway',
      'Stop all gateways and delete the keys that begin with calendar:, or give them another database of the engine.',
    );
  }
}

/** Throws `ConfigError` with what differs. */
export function compareIdentities(mine: Identity, kept: string): void {
  const theirs = identityIn(kept);
  const names = Object.keys(mine) as (keyof Identity)[];
  const differ = names.filter((name) => mine[name] !== theirs[name]);
  if (differ.length === 0) return;
  const said = differ.map((name) => `${name}: theirs is ${theirs[name]}, this one's is ${mine[name]}`).join('; ');
  throw new ConfigError(
    'CALENDAR_REDIS_URL',
    `the gateways that share this engine before the same site are configured otherwise (${said})`,
    'Give all of them the same mapping, service account and version, or this one another database of the engine; for a change of all of them, stop all and delete the keys that begin with calendar:.',
  );
}
