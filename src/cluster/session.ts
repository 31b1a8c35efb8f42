// The sessions with the engine, one after another: asks for the lock, follows the stream, and goes on alone in between.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../upstream/port.ts';
import { openAsks } from './asks.ts';
import { type Engine, EngineAway, openEngine } from './engine.ts';
import { compareIds, START } from './entries.ts';
import { compareIdentities, identityOf, prefixOf } from './identity.ts';
import { join } from './joining.ts';
import { answerAsks } from './leading.ts';
import type { Member, Word } from './member.ts';
import { readMessage } from './messages.ts';
import { mayTake } from './roles.ts';

export interface SessionOptions {
  url: string;
  siteUrl: string;
  service: Credentials;
  /** Longest wait for one answer of the engine. */
  deadlineMs: number;
  /** Reads again what this copy has beside the stream. */
  mend(): Promise<void>;
}

export interface Sessions {
  /** Opens the first one, and goes on in the background. Throws `ConfigError`. */
  start(): Promise<void>;
  /** Lets the lock go and ends. */
  stop(): Promise<void>;
}

const TICKS_A_LEASE = 4;
const RETRY_MS = 1000;
const MAX_FOLLOW_MS = 1000;
const ENTRIES_A_TIME = 100;

/** Nothing happens before `start`. One session at a time; a failed one is begun anew as a whole, after a second at most. */
export function createSessions(member: Member, options: SessionOptions): Sessions {
  const { me, leaseMs, mapping, replica, journal, observe, happened, ignored } = member;
  const { url, siteUrl, service, deadlineMs, mend } = options;
  const tickMs = leaseMs / TICKS_A_LEASE;
  // Whole, as the engine takes it; no longer than until the next tick may have found that there is something else to do.
  const followMs = Math.min(Math.ceil(tickMs), MAX_FOLLOW_MS);
  const stopping = new AbortController();
  const asked = answerAsks(member);
  let running: Promise<void> | undefined;
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
  const warn = (message: string) =>
    observe({ type: 'notice', level: 'warn', message: `the other gateways: ${message}` });

  /** Asks who holds the lock, and takes or renews it where this gateway may. */
  async function tick(session: Engine): Promise<void> {
    const { sync, role } = member;
    const askedMs = performance.now();
    const complete = sync?.standing().complete ?? false;
    const fit = { sound: journal.drift !== 'much', complete, virgin: !member.hasStream };
    // Who does not want the lock does not keep it either: it may have come back to a gateway that has to join anew.
    const wants = mayTake(role, fit, askedMs, { leaseMs }) ? 'take' : 'release';
    const holds = role.name === 'leading' || role.name === 'founding';
    const said: Word | undefined =
      sync && holds ? { founding: role.name === 'founding', standing: sync.standing() } : undefined;
    // The end that the engine tells of may be older than an entry that gets here before its answer.
    const { at } = journal;
    const claim = await session.claim(wants, leaseMs, said ? JSON.stringify(said) : '');
    member.hasStream = claim.tail !== START;
    const stands = member.role.name === 'following' || member.role.name === 'leading';
    // A gateway's entry that could not be read, the engine lost what it had, or the copy is not known any more to be what it says.
    const isPassedOver = claim.tail === journal.passedOver && compareIds(claim.tail, at) > 0;
    if (isPassedOver) journal.drifted('much');
    const isOff = compareIds(claim.tail, at) < 0 || journal.drift === 'much';
    if (stands && isOff) happened({ type: 'broken' });
    const token = claim.holder === me ? claim.token : undefined;
    happened({ type: 'heard', askedMs, token, held: claim.holder !== '' });
    member.word = claim.holder === '' || claim.word === '' ? undefined : wordIn(claim.word);
    followWord();
  }

  function wordIn(text: string): Word | undefined {
    try {
      return readMessage<Word>('word', text);
    } catch (error) {
      ignored(error);
      return undefined;
    }
  }

  /** What the gateway that asks the CMS says of its copy holds for this one as well. */
  function followWord(): void {
    const { sync, word } = member;
    if (!sync || !word || member.mayAsk()) return;
    const { complete } = sync.standing();
    if (!complete)
      sync.follow({ ...word.standing, state: 'copying', complete: false, reason: 'taken from another gateway' });
    else if (word.standing.complete) sync.follow(word.standing);
  }

  async function ticking(session: Engine): Promise<void> {
    while (!session.signal.aborted) {
      await pause(tickMs, session.signal);
      await tick(session);
    }
  }

  async function reading(session: Engine): Promise<void> {
    while (!session.signal.aborted) {
      if (member.role.name === 'joining') {
        await join(member, session);
        continue;
      }
      const entries = await session.follow(journal.cursor, ENTRIES_A_TIME, followMs);
      if (!(await journal.take(entries, member.role.name === 'founding'))) happened({ type: 'broken' });
      while (entries.length > 0 && replica.tidy()) await new Promise(setImmediate);
      if (member.role.name === 'following' || member.role.name === 'leading') void mend();
    }
  }

  /** Throws `ConfigError` and `EngineAway`. */
  async function open(): Promise<Engine> {
    const session = await openEngine({ url, prefix: prefixOf(siteUrl), me, deadlineMs });
    try {
      const mine = identityOf(siteUrl, mapping, service);
      compareIdentities(mine, await session.agree('identity', JSON.stringify(mine)));
      member.asks = await openAsks(session, { me, asked, at: () => journal.at, ignored });
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Until it is lost. Throws `EngineAway`. */
  async function use(session: Engine): Promise<void> {
    // It was opened when the end came: nobody else would close it.
    if (stopping.signal.aborted) return session.close();
    member.engine = session;
    happened({ type: 'connected' });
    let both: Promise<void>[] = [];
    try {
      await tick(session);
      both = [ticking(session), reading(session)];
      await Promise.all(both);
    } finally {
      session.close();
      member.engine = undefined;
      member.asks = undefined;
      // A copy that is being taken over ends where it is, before the next session takes one.
      await Promise.allSettled(both);
    }
  }

  async function run(first: Engine | undefined): Promise<void> {
    let session = first;
    let said = '';
    while (!stopping.signal.aborted) {
      try {
        await use(session ?? (await open()));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (!stopping.signal.aborted && message !== said) warn(message);
        said = message;
      }
      session = undefined;
      if (stopping.signal.aborted) return;
      happened({ type: 'silent' });
      await pause(Math.min(tickMs, RETRY_MS), stopping.signal);
      happened({ type: 'silent' });
    }
  }

  return {
    async start() {
      let first: Engine | undefined;
      try {
        first = await open();
      } catch (error) {
        if (!(error instanceof EngineAway)) throw error;
        warn(`${error.message}; going on alone`);
        observe({ type: 'cluster-role', from: 'starting', to: member.role.name, why: 'silent' });
      }
      running = run(first);
    },
    async stop() {
      stopping.abort();
      const session = member.engine;
      await session?.claim('release', leaseMs, '').catch(() => {});
      session?.close();
      await running;
    },
  };
}
