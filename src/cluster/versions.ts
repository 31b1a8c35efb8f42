// What an answer was made at, and waiting until this gateway got there: whoever sends a version back does not see what was before it.

import { setTimeout as sleep } from 'node:timers/promises';
import { isWhole } from './drift.ts';
import { compareIds } from './entries.ts';
import { ASK_WAIT_MS } from './keeping.ts';
import type { Member } from './member.ts';

export interface Versions {
  /** What every answer is made at, for `reached`. */
  version(): string;
  /** Whether this gateway got, within the time, to where that version was given out; undefined when it is none. */
  reached(version: string, withinMs: number): Promise<boolean | undefined>;
  /** Looks at the CMS, or has it looked at. Resolves with whether everything is seen here that the CMS had when this was called. */
  look(): Promise<boolean>;
}

/** Ends a version whose answer showed what is in the CMS and not in the stream yet: it has to be looked for there. */
const BEYOND = '+';
const VERSION = /^(\d{1,15}-\d{1,10})(\+?)$/;

/** Versions of one gateway of several: ids of the stream, `1700000000000-0`, with `+` behind while this gateway has more than the stream says. */
export function createVersions(member: Member): Versions {
  const { journal } = member;

  async function look(): Promise<boolean> {
    const { sync, asks } = member;
    if (member.mayAsk() && sync) return sync.look();
    const at = await asks?.ask({ type: 'look' }, ASK_WAIT_MS).catch(() => undefined);
    return at !== undefined && journal.reached(at, ASK_WAIT_MS);
  }

  return {
    version() {
      const settled = member.role.name === 'following' || member.role.name === 'leading';
      const isAsSaid = settled && !journal.isAhead && isWhole(journal.drift);
      return `${journal.at}${isAsSaid ? '' : BEYOND}`;
    },
    async reached(version, withinMs) {
      const found = VERSION.exec(version);
      if (!found) return undefined;
      const [, id = '', beyond] = found;
      const isAlone = member.role.name === 'away' || member.role.name === 'founding';
      if (isAlone || beyond === BEYOND) {
        if (compareIds(journal.at, id) >= 0 && beyond !== BEYOND) return true;
        const looked = await Promise.race([look(), sleep(withinMs, false, { ref: false })]);
        if (!looked || isAlone) return looked;
      }
      return journal.reached(id, withinMs);
    },
    look,
  };
}
