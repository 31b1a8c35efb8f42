// One change of the replica as a value: what the sync stores.

import type { CalendarRecord, ImageRecord, KindOrImage, PostKind } from '../model/records.ts';

export interface ChangeSet {
  upserts?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  /** `trashed`: those of the events that were seen in the trash. */
  deletes?: readonly { kind: KindOrImage; ids: readonly number[]; trashed?: ReadonlySet<number> }[];
  /** Records that no list shows until they are read again. */
  withheld?: readonly { kind: PostKind; id: number }[];
  /** Entries of the replica's state (`Replica.setState`). */
  state?: Readonly<Record<string, string>>;
}
