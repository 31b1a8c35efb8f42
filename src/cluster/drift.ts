// What a copy has that the stream does not say: remembered beside the records, so that a restart does not forget it.

import type { Replica } from '../replica/store.ts';

/** Nothing, some records by key, or nobody knows what. */
export type Drift = ReadonlySet<string> | 'much';

export interface DriftBook {
  readonly drift: Drift;
  drifted(keys: Iterable<string> | 'much'): void;
  /** These records are as the stream says again. */
  mended(keys: Iterable<string>): void;
  /** The whole copy is. */
  clear(): void;
}

const DRIFT = 'cluster.drift';
/** More of them are as good as a whole copy. */
const MAX_DRIFT = 1000;

/** What was remembered before a restart is there again. */
export function openDrift(replica: Replica): DriftBook {
  const kept = JSON.parse(replica.state(DRIFT) ?? '[]') as string[] | 'much';
  let drift: Set<string> | 'much' = kept === 'much' ? kept : new Set(kept);

  function keep(): void {
    replica.setState(DRIFT, drift === 'much' ? '"much"' : drift.size === 0 ? undefined : JSON.stringify([...drift]));
  }

  return {
    get drift() {
      return drift;
    },
    drifted(keys) {
      if (drift === 'much') return;
      if (keys === 'much') drift = 'much';
      else {
        for (const key of keys) drift.add(key);
        if (drift.size > MAX_DRIFT) drift = 'much';
      }
      keep();
    },
    mended(keys) {
      if (drift === 'much') return;
      for (const key of keys) drift.delete(key);
      keep();
    },
    clear() {
      drift = new Set();
      keep();
    },
  };
}
