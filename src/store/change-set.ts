// One change of the replica as a value: what the sync or a write of the gateway stores, in this replica and
// in those of all peers.

import type { CalendarRecord, ImageRecord, KindOrImage } from '../model/records.ts';

export interface ChangeSet {
  upserts?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  deletes?: readonly { kind: KindOrImage; ids: readonly number[] }[];
  /** Entries of the replica's state (`Replica.setState`). */
  state?: Readonly<Record<string, string>>;
}

/**
 * Applies a change set to this replica, and puts it into the change log for all peers. `build` builds it from
 * the replica's present contents; it is called again if a peer's change came first. Resolves with the number
 * of changed records once the change is in this replica. Rejects with `NotLeaderError`.
 */
export type Commit = (build: () => ChangeSet) => Promise<number>;
