// What the use cases need of the other gateways of the site. A gateway that is alone has no `Peers`.

import type { ChangedRecord } from '../sync/fetch-changed.ts';

export interface Peers {
  /** Resolves when the peers are told that these records have changed, or while Redis is away. Never rejects. */
  publish(records: readonly ChangedRecord[]): Promise<void>;
  /** Grows with every record that a peer or a webhook names. */
  changeMark(): number;
  /** Whether a peer or a webhook has named the record since that mark. */
  isNamedSince(record: ChangedRecord, changeMark: number): boolean;
  /** The state that this gateway's responses show now. `isTold`: the peers have been told of all of it. */
  consistencyToken(): { id: string; isTold: boolean };
  /** Whether this gateway shows, within the time and before the abort, what its peers have told until this id. */
  reaches(id: string, withinMs: number, signal: AbortSignal): Promise<boolean>;
}
