// What the use cases and HTTP ask of the other gateways of the site.

import type { ChangedRecord } from '../sync/poll.ts';

export interface PeersPort {
  /**
   * Tells the peers that these records have changed, while `read` reads them again here. Resolves with the result of
   * `read`; not before Redis has the entry, unless Redis is away.
   */
  tell<T>(records: readonly ChangedRecord[], read: () => Promise<T>): Promise<T>;
  /** `id`: the last entry that this gateway wrote or applied. `isTold`: nothing that it changed is still to be told. */
  consistencyToken(): { id: string; isTold: boolean };
  /** Whether this gateway has, within the time, applied all entries up to this id. */
  reaches(id: string, withinMs: number): Promise<boolean>;
}
