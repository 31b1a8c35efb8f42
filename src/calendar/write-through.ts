// Write-through: after the CMS has accepted a write, the gateway reads the record again as a visitor, and tells the
// others of the site. What the CMS sent to the writer never enters the replica.

import type { Mapping } from '../mapping/mapping.ts';
import { changedRecords } from '../sync/fetch-changed.ts';
import type { Sync, WrittenRecord } from '../sync/sync.ts';
import type { Peers } from './peers.ts';

/**
 * Resolves when the replica shows what visitors get of these records, or withholds them because that could not be read.
 * Never rejects: the CMS has accepted the write.
 */
export type WriteThrough = (...written: readonly WrittenRecord[]) => Promise<void>;

export const createWriteThrough =
  (sync: Pick<Sync, 'fetchWritten'>, mapping: Mapping, peers: Peers | undefined): WriteThrough =>
  async (...written) => {
    const read = () => sync.fetchWritten(written);
    await (peers ? peers.tell(changedRecords(mapping, written), read) : read());
  };
