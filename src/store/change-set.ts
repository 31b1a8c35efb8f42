// One change of the replica as a value: what the sync or a write of the gateway stores, in this replica and
// in those of all peers.

import { CmsUnavailable } from '../errors.ts';
import type { CalendarRecord, ImageRecord, Kind } from '../model/records.ts';
import type { Replica } from './replica.ts';

export interface ChangeSet {
  upserts?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  deletes?: readonly { kind: Kind | 'image'; ids: readonly number[] }[];
  /** Entries of the replica's state (`Replica.setState`). */
  state?: Readonly<Record<string, string>>;
}

/**
 * Applies a change set to the replica, and to those of all peers. `build` builds it from the replica's
 * present contents; it is called again if a peer's change came first. Resolves with the number of changed
 * records once the change is in this replica. Rejects with `NotLeaderError`.
 */
export type Commit = (build: () => ChangeSet) => Promise<number>;

/**
 * Another gateway is the leader now: this one must not write any more what it read from the CMS. The CMS did
 * not fail.
 */
export class NotLeaderError extends CmsUnavailable {
  constructor() {
    super('busy', 'another gateway asks the CMS now', { retryAfterS: 1 });
    this.name = 'NotLeaderError';
  }
}

/** Applies a change set to this replica, all or nothing. Returns the number of changed records. */
export function applyChangeSet(replica: Replica, changeSet: ChangeSet): number {
  const { upserts = [], images = [], deletes = [], state } = changeSet;
  if (deletes.length === 0 && state === undefined) return replica.upsert(upserts, images);
  return replica.transaction(() => {
    let changed = upserts.length + images.length > 0 ? replica.upsert(upserts, images) : 0;
    for (const { kind, ids } of deletes) changed += replica.delete(kind, ids);
    for (const [key, value] of Object.entries(state ?? {})) replica.setState(key, value);
    return changed;
  });
}

/** The `Commit` of a gateway without peers. */
export const localCommit =
  (replica: Replica): Commit =>
  async (build) =>
    applyChangeSet(replica, build());
