// One change of the copy as a value: what a look or a write found, to be put into this copy and, where there are several, into all.

import { UpstreamAway } from '../errors.ts';
import type { CalendarRecord, ImageRecord, Kind } from '../records.ts';
import type { Replica } from './store.ts';

export interface Change {
  put?: readonly CalendarRecord[];
  images?: readonly ImageRecord[];
  remove?: readonly { kind: Kind | 'image'; ids: readonly number[] }[];
  /** What is remembered beside the records, for whoever goes on from here: key -> value. */
  state?: Readonly<Record<string, string>>;
}

/**
 * Puts a change into the copy. `make` says what is right at the moment it is called; it is called again when a change of another
 * gateway came between. Resolves, with how many records really changed, once the change is in this copy. Throws `Relieved`.
 */
export type Commit = (make: () => Change) => Promise<number>;

/** Another gateway asks the CMS now: what this one found must not be written any more. No fault of the CMS. */
export class Relieved extends UpstreamAway {
  constructor() {
    super('busy', 'another gateway asks the CMS now', { retryAfterS: 1 });
    this.name = 'Relieved';
  }
}

/** Puts a change into this copy, all or nothing. Returns how many records changed. */
export function applyChange(replica: Replica, { put = [], images = [], remove = [], state }: Change): number {
  const alone = remove.length === 0 && state === undefined;
  if (alone) return replica.put(put, images);
  return replica.transaction(() => {
    let changed = put.length + images.length > 0 ? replica.put(put, images) : 0;
    for (const { kind, ids } of remove) changed += replica.remove(kind, ids);
    for (const [key, value] of Object.entries(state ?? {})) replica.setState(key, value);
    return changed;
  });
}

/** The way of a gateway that stands alone: at once. */
export const commitTo =
  (replica: Replica): Commit =>
  async (make) =>
    applyChange(replica, make());
