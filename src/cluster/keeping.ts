// How what a caller's request read or wrote gets into the copies of all: nothing that crossed a change, and nothing that stays behind.

import type { Kind } from '../records.ts';
import { type Change, Relieved } from '../replica/commit.ts';
import { EngineAway } from './engine.ts';
import { keyOf } from './keys.ts';
import { readForAll } from './leading.ts';
import type { Member } from './member.ts';

/** The longest that another gateway is waited for which was asked to do something. */
export const ASK_WAIT_MS = 5000;
/** Records that are read again in one step: one entry of the stream holds them. */
const MEND_AT_ONCE = 10;

export interface Keeping {
  /** A moment to ask the CMS at. */
  moment(): number;
  /** Puts what the CMS answered to a question of `moment` into the stream and the copy: nothing that crossed a change. */
  keep(change: Change, moment: number): Promise<void>;
  /** The same for what was written; what crossed another change is read again before this resolves. */
  wrote(change: Change, moment: number): Promise<void>;
  /** Reads a written record again for all gateways, since the CMS did not give its public rendering. Never rejects. */
  readAgain(kind: Kind, id: number): Promise<void>;
  /** Has the records read from the CMS again, for all, that this copy has beside the stream. Never rejects; what fails is tried with the next call. */
  mend(): Promise<void>;
}

/** The way of one gateway of several; `keepingAlone` is that of one alone. */
export function createKeeping(member: Member): Keeping {
  const { journal } = member;
  /** `leads`: begun by a gateway that asks the CMS itself, and so waits for nobody. */
  let mending: { leads: boolean; done: Promise<void> } | undefined;
  let notBeforeMs = 0;

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
  async function askAgain(keys: readonly string[]): Promise<boolean> {
    if (member.role.name === 'leading') return readForAll(member, keys);
    const at = await member.asks?.ask({ type: 'read', keys }, ASK_WAIT_MS);
    return at !== undefined && journal.reached(at, ASK_WAIT_MS);
  }

  async function readOrRemember(keys: ReadonlySet<string>): Promise<void> {
    const isRead = await askAgain([...keys]).catch(() => false);
    if (!isRead) journal.drifted(keys);
  }

  async function mendNow(): Promise<void> {
    const { drift } = journal;
    if (!member.asks || drift === 'much' || performance.now() < notBeforeMs) return;
    const records = [...drift];
    try {
      for (let from = 0; from < records.length; from += MEND_AT_ONCE) {
        const some = new Map(records.slice(from, from + MEND_AT_ONCE));
        if (await askAgain([...some.keys()])) journal.mended(some);
        else {
          notBeforeMs = performance.now() + member.leaseMs;
          return;
        }
      }
    } catch (error) {
      if (error instanceof EngineAway || error instanceof Relieved) return;
      // A full disk, say: tried again with the next entries, and before the next round.
      const message = error instanceof Error ? error.message : String(error);
      const told = `the other gateways: not told yet what this one has alone: ${message}`;
      member.observe({ type: 'notice', level: 'warn', message: told });
    }
  }

  return {
    moment: journal.moment,
    async keep(change, moment) {
      const still = (kind: Kind | 'image', ids: readonly number[]) =>
        ids.filter((id) => !journal.touchedSince(keyOf(kind, id), moment));
      await journal.commit('read', () => ({
        ...onlyFresh(change, moment, () => {}),
        remove: (change.remove ?? []).map(({ kind, ids }) => ({ kind, ids: still(kind, ids) })),
      }));
    },
    async wrote(change, moment) {
      const crossed = new Set<string>();
      await journal.commit('write', () => onlyFresh(change, moment, (key) => crossed.add(key)));
      if (crossed.size > 0) await readOrRemember(crossed);
    },
    readAgain: (kind, id) => readOrRemember(new Set([keyOf(kind, id)])),
    mend() {
      const leads = member.role.name === 'leading';
      if (mending && (mending.leads || !leads)) return mending.done;
      const mine = { leads, done: mendNow() };
      mending = mine;
      return mine.done.finally(() => {
        if (mending === mine) mending = undefined;
      });
    },
  };
}
