// One change of the replica as a value: what the sync or a write of the gateway stores.

import type { CalendarRecord, ImageRecord, KindOrImage } from '../model/records.ts';

export interface ChangeSet {
  upserts?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  deletes?: readonly { kind: KindOrImage; ids: readonly number[] }[];
  /** Entries of the replica's state (`Replica.setState`). */
  state?: Readonly<Record<string, string>>;
}

/**
 * Applies a change set that `build` makes from the replica's present contents. Resolves with the number of changed
 * records.
 */
export type Commit = (build: () => ChangeSet) => Promise<number>;
