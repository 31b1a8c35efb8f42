// Owns the interface between the core and the optional cluster of gateways (docs/internals/cluster.md). A
// single gateway has no `Peers`.

import type { Kind } from '../model/records.ts';
import type { ChangeSet, Commit } from '../store/change-set.ts';
import type { ChangedRecord } from './fetch-changed.ts';
import type { SyncState } from './sync-state.ts';

/** What the core needs of the other gateways of the cluster. */
export interface Peers {
  /** Commits what a poll found, in the replicas of all gateways. */
  commit: Commit;
  /** True if this gateway polls. The poller calls it before each poll. Never rejects. */
  beginPoll(): Promise<boolean>;
  /** A poll saw everything, and nothing waits for confirmation. */
  polled(): Promise<void>;
  /** The CMS, or the replica, failed during a poll. */
  pollFailed(): void;
  /** `Sync.poll`, by the leader for all gateways. */
  poll(): Promise<boolean>;
  /** `Sync.fetchChanged`, by the leader for all gateways. */
  fetchChanged(changes: readonly ChangedRecord[]): Promise<boolean>;
  writeThrough: WriteThrough;
  /** Names the state that this gateway's responses show now. */
  consistencyToken(): string;
  /**
   * Resolves with whether this gateway reached the token's state in time and before the abort; undefined if
   * the token is malformed.
   */
  waitFor(token: string, withinMs: number, signal: AbortSignal): Promise<boolean | undefined>;
}

/**
 * Stores CMS responses to the use cases' calls. The methods resolve once the change is in this replica, and,
 * if Redis is available, in the change log, from which the other gateways apply it.
 */
export interface WriteThrough {
  /** Take it before the CMS call whose response is stored: it shows later which changes happened during the call. */
  changeMark(): number;
  /** Stores the response to a read. */
  storeRead(changes: ChangeSet, changeMark: number): Promise<void>;
  /** Stores the response to a write. No older response replaces it. */
  storeWritten(changes: ChangeSet, changeMark: number): Promise<void>;
  /** Re-reads a written record whose public view the CMS did not send. Waits 5 s at most. Never rejects. */
  reread(kind: Kind, id: number): Promise<void>;
}

/** What the cluster tells the sync. */
export interface Leadership {
  /**
   * This gateway polls from now on, as leader or standalone. Of earlier polls it remembers what is still to be read,
   * and it re-reads the `dirty` records.
   */
  takeOverPolling(dirty: readonly RecordKey[]): void;
  /**
   * Returns the dirty records, and the images, that this gateway did not re-read while it polled, and forgets them:
   * the gateway that polls now re-reads them.
   */
  takeDirty(): ChangedRecord[];
  /** Asks `Peers.beginPoll` again. */
  recheckLeadership(): void;
  /** Takes over the leader's state: this gateway's replica equals the leader's. */
  followLeader(leader: SyncState): void;
  /** Another gateway changed these records in the replica. */
  peerChanged(records: readonly RecordKey[]): void;
  /**
   * Another gateway changed the replica's sync state: the site's facts, the link tables, the public view, the
   * known fields.
   */
  reloadState(): void;
}

export interface RecordKey {
  kind: Kind;
  id: number;
}
