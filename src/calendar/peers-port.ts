// What the use cases and HTTP ask of the other gateways of the site.

import type { ChangedRecord } from '../sync/poll.ts';

export interface PeersPort {
  /**
   * Tells the peers that these records have changed, while `read` reads them again here. Resolves with the result of
   * `read` once Redis has the entry, or at once while Redis is away.
   */
  tell<T>(records: readonly ChangedRecord[], read: () => Promise<T>): Promise<T>;
  /** The state that this gateway's responses show now. `isTold`: the peers have been told of all of it. */
  consistencyToken(): { id: string; isTold: boolean };
  /** Whether this gateway shows, within the time and before the abort, what its peers have told until this id. */
  reaches(id: string, withinMs: number, signal: AbortSignal): Promise<boolean>;
}
