// What this gateway is among the others at the moment: its role, whom it speaks with, and how a change may be made therefore.

import { randomUUID } from 'node:crypto';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Kind } from '../records.ts';
import { Relieved } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';
import type { Sync } from '../replica/sync.ts';
import type { Standing } from '../replica/sync-state.ts';
import type { Asks } from './asks.ts';
import type { Engine } from './engine.ts';
import type { Entry } from './entries.ts';
import { createJournal, type Footing, type Journal, type Why } from './journal.ts';
import { keysOf, ofKey } from './keys.ts';
import { initialRole, mayAsk, type Role, type RoleEvent, stepRole } from './roles.ts';

/** What the holder of the lock says of its copy. */
export interface Word {
  founding: boolean;
  standing: Standing;
}

export interface Member {
  /** A name that no other gateway has, and no earlier start of this one. */
  readonly me: string;
  readonly leaseMs: number;
  readonly mapping: Mapping;
  readonly replica: Replica;
  readonly observe: Observe;
  readonly journal: Journal;
  readonly role: Role;
  readonly roleSinceMs: number;
  /** The keeper of the copy; undefined before the start. */
  sync: Sync | undefined;
  /** While it is connected. */
  engine: Engine | undefined;
  asks: Asks | undefined;
  /** What the holder of the lock said last. */
  word: Word | undefined;
  /** Whether there is a stream already. */
  hasStream: boolean;
  /** Something in the engine is no message of a gateway: it is counted, and told once a minute. */
  ignored(error: unknown): void;
  /** Steps the role, with all that follows from it. */
  happened(event: RoleEvent): void;
  /** Whether this gateway asks the CMS now: for all, or for itself. */
  mayAsk(): boolean;
  /** Begins a round of looking at the CMS, whose changes count only under the lock that is held now; false when that is for another gateway. */
  beginRound(): boolean;
  /** The lock's number under which the round was begun that is under way. */
  roundToken(): number | undefined;
}

export interface MemberOptions {
  leaseMs: number;
  mapping: Mapping;
  replica: Replica;
  observe: Observe;
}

/** So long a record that was written is read again by whoever begins to ask the CMS after that. */
const UNSETTLED_MS = 60_000;

const TELL_EVERY_MS = 60_000;

const nowMs = (): number => performance.now();

/** Begins alone (`away`), with the place in the stream that the copy on disk stands at. */
export function createMember({ leaseMs, mapping, replica, observe }: MemberOptions): Member {
  const me = randomUUID();
  let role = initialRole(nowMs());
  let roleSinceMs = Date.now();
  /** Under which the present round asks the CMS; undefined: there is none. */
  let round: { token: number | undefined } | undefined;
  /** What was written lately, by anybody. */
  let recent: { kind: Kind; id: number; atMs: number }[] = [];

  function happened(event: RoleEvent): void {
    const before = role;
    role = stepRole(role, event, nowMs(), { leaseMs });
    if (before.name === role.name) return;
    roleSinceMs = Date.now();
    observe({ type: 'cluster-role', from: before.name, to: role.name, why: event.type });
    if (role.name === 'founding') member.journal.drifted('much');
    // What the one before had not settled is read again.
    if (role.name === 'leading' && before.name !== 'founding') member.sync?.takeOver(recent);
    else if (member.mayAsk() && role.name !== 'leading') member.sync?.takeOver([]);
    else member.sync?.wake();
  }

  let toldMs = Number.NEGATIVE_INFINITY;
  function ignored(error: unknown): void {
    observe({ type: 'cluster-ignored' });
    if (nowMs() - toldMs < TELL_EVERY_MS) return;
    toldMs = nowMs();
    const what = error instanceof Error ? error.message : String(error);
    observe({ type: 'notice', level: 'warn', message: `Redis: ignored a message that no gateway wrote: ${what}` });
  }

  function footing(why: Why): Footing {
    if (why === 'look' && round && (round.token !== role.token || !member.mayAsk())) throw new Relieved();
    const { engine } = member;
    // Its copy is what the others follow: what it finds while it cannot tell them would be no news to it afterwards.
    if (!engine && why === 'look' && role.name === 'leading') throw new Relieved();
    const begins = why === 'look' && (role.name === 'away' || role.name === 'founding');
    if (!engine || role.name === 'away') return { type: 'apart', begins };
    if (why === 'look' && round) {
      return role.name === 'founding' ? { type: 'apart', begins } : { type: 'stream', engine, token: role.token };
    }
    if (role.name === 'joining') return why === 'write' ? { type: 'ahead', engine } : { type: 'apart' };
    return { type: 'stream', engine, anyway: role.name === 'founding' };
  }

  function applied({ from, type, change }: Entry): void {
    const { sync } = member;
    if (!sync) return;
    const records = keysOf(change)
      .map(ofKey)
      .filter((key): key is { kind: Kind; id: number } => key.kind !== 'image');
    if (from !== me) {
      if (change.state) sync.reload();
      sync.overtaken(records);
    }
    if (type !== 'write') return;
    if (['leading', 'founding', 'away'].includes(role.name)) for (const { kind, id } of records) sync.wrote(kind, id);
    const atMs = nowMs();
    recent = recent.filter((one) => one.atMs >= atMs - UNSETTLED_MS);
    recent.push(...records.map((record) => ({ ...record, atMs })));
  }

  const member: Member = {
    ...{ me, leaseMs, mapping, replica, observe },
    journal: createJournal({ replica, me, footing, applied, ignored }),
    get role() {
      return role;
    },
    get roleSinceMs() {
      return roleSinceMs;
    },
    ...{ sync: undefined, engine: undefined, asks: undefined, word: undefined, hasStream: false },
    ignored,
    happened,
    mayAsk: () => mayAsk(role, nowMs()),
    beginRound() {
      const does = member.mayAsk();
      round = does ? { token: role.token } : undefined;
      return does;
    },
    roundToken: () => round?.token,
  };
  return member;
}
