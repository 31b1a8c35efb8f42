// How a gateway's copy gets to a place of the stream: by what the stream still has, or else by a copy that another one hands over.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from './engine.ts';
import { compareIds, START } from './entries.ts';
import type { Member } from './member.ts';
import { takeSnapshot } from './snapshot.ts';

/** Between two tries, while nobody leads who could hand a copy over, in leases. */
const PAUSE = 1 / 16;

/** One try, after which the role tells whether it came to that. Throws `EngineAway`. */
export async function join(member: Member, session: Engine): Promise<void> {
  const { journal, replica, leaseMs } = member;
  if (await goOn(member, session)) return;
  journal.drifted('much');
  const isOff = () => member.role.name !== 'joining' || !member.word || member.word.founding;
  const { asks } = member;
  if (isOff() || !asks) {
    await sleep(leaseMs * PAUSE, undefined, { signal: session.signal }).catch(() => {});
    return;
  }
  const list = `copy:${randomUUID()}`;
  const complete = member.sync?.standing().complete ?? false;
  // Nobody reads a first copy yet: it is begun anew where the machine goes down.
  if (!complete) replica.setDurable(false);
  try {
    const ask = () => asks.tell({ type: 'copy', list });
    const taken = await takeSnapshot(session, list, { replica, ask, isOff, ignored: member.ignored });
    if (!taken) return;
    journal.moved(taken.at, taken.beside);
  } finally {
    replica.setDurable(true);
  }
  member.sync?.reload();
  followTaken(member);
  // More was read from the CMS meanwhile, for callers, than is remembered one by one: the next try has the CMS asked for less.
  if (journal.drift === 'much') return;
  if (await journal.catchUp(session)) member.happened({ type: 'joined' });
}

/** A copy that was handed over is whole, also where nobody leads any more who says what it is like. */
function followTaken({ sync, word }: Member): void {
  if (word?.standing.complete) sync?.follow(word.standing);
  else sync?.follow({ ...sync.standing(), state: 'lagging', complete: true, reason: 'taken from another gateway' });
}

/** Goes on in the stream where the copy stands; false when that place is not in it any more, or the copy is not what the stream said there. */
async function goOn({ sync, journal, leaseMs, happened }: Member, session: Engine): Promise<boolean> {
  const complete = sync?.standing().complete ?? false;
  if (!complete || journal.drift === 'much' || journal.at === START) return false;
  if (!(await journal.catchUp(session))) return false;
  const { tail } = await session.claim('watch', leaseMs, '');
  if (tail === journal.at) {
    happened({ type: 'joined' });
    return true;
  }
  // Somebody wrote meanwhile, which the next try reads; an end without entries after this copy's place is of another stretch.
  return compareIds(tail, journal.at) > 0 && (await session.range(journal.cursor, 1)).length > 0;
}
