// Owns what every step of the sync gets: the replica, the CMS, the settings, and the memory that the steps
// change.

import type { Cms, Credentials } from '../cms/port.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Kind, Site } from '../model/records.ts';
import type { Observe } from '../observability/events.ts';
import type { Commit } from '../store/change-set.ts';
import type { Replica } from '../store/replica.ts';
import type { Collection } from './collections.ts';
import type { SyncMemory } from './memory.ts';

export interface SyncContext {
  readonly replica: Replica;
  readonly commit: Commit;
  readonly cms: Cms;
  readonly mapping: Mapping;
  readonly serviceCredentials: Credentials;
  readonly collections: readonly Collection[];
  readonly pageSize: number;
  readonly resyncIntervalMs: number;
  readonly observe: Observe;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
  readonly memory: SyncMemory;
}

const UNKNOWN_SITE: Site = { url: '', name: '', timezone: 'UTC' };

export const siteOf = ({ memory }: SyncContext): Site => memory.site ?? UNKNOWN_SITE;

export const collectionOf = ({ collections }: SyncContext, kind: Kind): Collection | undefined =>
  collections.find((collection) => collection.kind === kind);

/**
 * `public`: the replica holds published records only. `all`: everything that the service account may read.
 */
export const scopeOf = ({ serviceCredentials }: SyncContext): 'public' | 'all' =>
  serviceCredentials === undefined ? 'public' : 'all';
