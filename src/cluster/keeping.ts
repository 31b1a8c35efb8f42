// How what a caller's request read or wrote gets into the copies of all: nothing that crossed a change, and nothing that stays behind.

import { type Change, Relieved } from '../replica/commit.ts';
import { EngineAway } from './engine.ts';
import { keyOf } from './keys.ts';
import { readForAll } from './leading.ts';
import type { Member } from './member.ts';

/** The longest that another gateway is waited for which was asked to do something. */
export const ASK_WAIT_MS = 5000;

export interface Keeping {
  /** A moment to ask the CMS at. */
  moment(): number;
  /** Puts what the CMS answered to a question of `moment` into the stream and the copy: nothing that crossed a change. */
  keep(change: Change, moment: number): Promise<void>;
  /** The same for what was written; what crossed another change is read again before this resolves. */
  wrote(change: Change, moment: number): Promise<void>;
  /** Has the records read from the CMS again, for all, that this copy has beside the stream. Never rejects; what fails is tried with the next call. */
  mend(): Promise<void>;
}

/** The way of one gateway of several; `keepingAlone` is that of one alone. */
export function createKeeping(member: Member): Keeping {
  const { journal } = member;
  let mending = false;

  /** Leaves out what crossed a change of somebody else; `crossed` is told of it. */
  const onlyFresh = (change: Change, moment: number, crossed: (key: string) => void): Change => ({
    ...change,
    put: (change.put ?? []).filter(({ kind, id }) => {
      const key = keyOf(kind, id);
      const isFresh = !journal.touchedSince(key, moment);
      if (!isFresh) crossed(key);
      return isFresh;
    }),
  });

  /** Has records read from the CMS again, and waits until they are here. */
  async function readAgain(keys: readonly string[]): Promise<boolean> {
    if (member.role.name === 'leading') {
      await readForAll(member, keys);
      return true;
    }
    const at = await member.asks?.ask({ type: 'read', keys }, ASK_WAIT_MS);
    return at !== undefined && journal.reached(at, ASK_WAIT_MS);
  }

  return {
    moment: journal.moment,
    async keep(change, moment) {
      const remove = (change.remove ?? []).map(({ kind, ids }) => ({
        kind,
        ids: ids.filter((id) => !journal.touchedSince(keyOf(kind, id), moment)),
      }));
      await journal.commit('read', () => ({ ...onlyFresh(change, moment, () => {}), remove }));
    },
    async wrote(change, moment) {
      const crossed = new Set<string>();
      await journal.commit('write', () => onlyFresh(change, moment, (key) => crossed.add(key)));
      if (crossed.size === 0) return;
      const isRead = await readAgain([...crossed]).catch(() => false);
      if (!isRead) journal.drifted(crossed);
    },
    async mend() {
      const { drift } = journal;
      if (mending || !member.asks || drift === 'much' || drift.size === 0) return;
      mending = true;
      try {
        const records = new Map(drift);
        if (await readAgain([...records.keys()])) journal.mended(records);
      } catch (error) {
        if (error instanceof EngineAway || error instanceof Relieved) return;
        // A full disk, say: tried again with the next entries, and before the next round.
        const message = `the other gateways: not told yet what this one has alone: ${error instanceof Error ? error.message : String(error)}`;
        member.observe({ type: 'notice', level: 'warn', message });
      } finally {
        mending = false;
      }
    },
  };
}
