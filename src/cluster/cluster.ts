// Several gateways before one CMS: runs the roles, follows the stream and speaks with the others. docs/scaling.md tells what holds.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Kind } from '../records.ts';
import { type Change, Relieved } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';
import type { Company, Sync } from '../replica/sync.ts';
import type { Standing } from '../replica/sync-state.ts';
import type { Credentials } from '../upstream/port.ts';
import { type Ask, type Asks, openAsks } from './asks.ts';
import { type Engine, EngineAway, openEngine } from './engine.ts';
import { compareIds, type Entry, START } from './entries.ts';
import { compareIdentities, identityOf, prefixOf } from './identity.ts';
import { createJournal, type Footing, keyOf, keysOf, ofKey, type Why } from './journal.ts';
import { initialRole, mayAsk, mayTake, type RoleEvent, type RoleName, stepRole } from './roles.ts';
import { giveSnapshot, takeSnapshot } from './snapshot.ts';

export interface ClusterOptions {
  url: string;
  siteUrl: string;
  mapping: Mapping;
  service: Credentials;
  replica: Replica;
  /** Of the CMS's rounds: the lock holds as long, and is renewed four times in it. */
  intervalMs: number;
  observe: Observe;
  /** Longest wait for one answer of the engine; a second. */
  deadlineMs?: number;
}

export interface ClusterStatus {
  role: RoleName;
  sinceMs: number;
  /** Whether the engine is heard. */
  engine: boolean;
  /** The entry that the copy stands at. */
  at: string;
  /** Entries applied since the start. */
  entries: number;
  /** Records that this copy has otherwise than the stream says, until that is mended. */
  beside: number | 'many';
}

export interface Cluster {
  company: Company;
  /**
   * Connects, and goes on alone where the engine does not answer. Throws `ConfigError` where the engine is shared with gateways of another
   * kind before the same site.
   */
  start(sync: Sync): Promise<void>;
  /** Lets the lock go and leaves. */
  stop(): Promise<void>;
  status(): ClusterStatus;
  /** What every answer is made at, for `reached`. */
  version(): string;
  /** Whether this gateway got, within the time, to where that version was given out; undefined when it is none. */
  reached(version: string, withinMs: number): Promise<boolean | undefined>;
  /** A moment to ask the CMS at. */
  moment(): number;
  /** Puts what the CMS answered to a question of `moment` into the stream and the copy: nothing that crossed a change. */
  keep(change: Change, moment: number): Promise<void>;
  /** The same for what was written; what crossed another change is read again before this resolves. */
  wrote(change: Change, moment: number): Promise<void>;
  /** Looks at the CMS through the gateway that asks it. */
  look(): Promise<void>;
  changed(changes: readonly { collection: string; id: number }[]): Promise<void>;
}

const TICKS_A_LEASE = 4;
const DEADLINE_MS = 1000;
const FOLLOW_MS = 1000;
const ENTRIES_A_TIME = 100;
/** So long a record that was written is read again by whoever begins to ask the CMS after that. */
const UNSETTLED_MS = 60_000;
const ASK_WAIT_MS = 5000;
/** Ends a version whose answer showed what is in the CMS and not in the stream yet: it has to be looked for there. */
const BEYOND = '+';
const VERSION = /^(\d{1,15}-\d{1,10})(\+?)$/;

/** What the holder of the lock says. */
interface Word {
  founding: boolean;
  standing: Standing;
}

export function createCluster(options: ClusterOptions): Cluster {
  const { url, siteUrl, mapping, service, replica, intervalMs: leaseMs, observe } = options;
  const { deadlineMs = DEADLINE_MS } = options;
  const me = randomUUID();
  const tickMs = leaseMs / TICKS_A_LEASE;
  const nowMs = () => performance.now();
  const stopping = new AbortController();
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

  let role = initialRole(nowMs());
  let roleSinceMs = Date.now();
  let sync: Sync | undefined;
  let engine: Engine | undefined;
  let asks: Asks | undefined;
  let running: Promise<void> | undefined;
  /** Under which the present round asks the CMS; undefined: there is none. */
  let round: { token: number | undefined } | undefined;
  /** What was written lately, by anybody. */
  let recent: { kind: Kind; id: number; atMs: number }[] = [];
  let word: Word | undefined;
  let hasStream = false;
  let giving: Promise<unknown> = Promise.resolve();
  let mending = false;

  const journal = createJournal({ replica, me, footing, applied });

  function happened(event: RoleEvent): void {
    const before = role;
    role = stepRole(role, event, nowMs(), { leaseMs });
    if (before.name === role.name) return;
    roleSinceMs = Date.now();
    observe({ type: 'cluster-role', from: before.name, to: role.name, why: event.type });
    if (role.name === 'founding') journal.drifted('much');
    // What the one before had not settled is read again.
    if (role.name === 'leading' && before.name !== 'founding') sync?.takeOver(recent);
    else if (mayAsk(role, nowMs()) && role.name !== 'leading') sync?.takeOver([]);
    else sync?.wake();
  }

  function footing(why: Why): Footing {
    if (why === 'look' && round && (round.token !== role.token || !mayAsk(role, nowMs()))) throw new Relieved();
    if (!engine || role.name === 'away') return { type: 'apart' };
    if (why === 'look' && round) {
      return role.name === 'founding' ? { type: 'apart' } : { type: 'stream', engine, token: role.token };
    }
    if (role.name === 'joining') return why === 'write' ? { type: 'ahead', engine } : { type: 'apart' };
    return { type: 'stream', engine, anyway: role.name === 'founding' };
  }

  function applied({ from, type, change }: Entry): void {
    if (!sync) return;
    const records = keysOf(change)
      .map(ofKey)
      .filter((key): key is { kind: Kind; id: number } => key.kind !== 'image');
    if (from !== me) {
      if (change.state) sync.reload();
      sync.overtaken(records);
    }
    if (type !== 'write') return;
    if (role.name === 'leading' || role.name === 'founding') for (const { kind, id } of records) sync.wrote(kind, id);
    const atMs = nowMs();
    recent = recent.filter((one) => one.atMs >= atMs - UNSETTLED_MS);
    recent.push(...records.map((record) => ({ ...record, atMs })));
  }

  /** Asks who holds the lock, and takes or renews it where this gateway may. */
  async function tick(session: Engine): Promise<void> {
    const askedMs = nowMs();
    const complete = sync?.standing().complete ?? false;
    const fit = { sound: journal.drift !== 'much', complete, virgin: !hasStream };
    const wants = mayTake(role, fit, askedMs, { leaseMs }) ? 'take' : 'watch';
    const holds = role.name === 'leading' || role.name === 'founding';
    const said: Word | undefined =
      sync && holds ? { founding: role.name === 'founding', standing: sync.standing() } : undefined;
    const claim = await session.claim(wants, leaseMs, said ? JSON.stringify(said) : '');
    hasStream = claim.tail !== START;
    // The engine lost what it had.
    const stands = role.name === 'following' || role.name === 'leading';
    if (stands && compareIds(claim.tail, journal.at) < 0) happened({ type: 'broken' });
    const token = claim.holder === me ? claim.token : undefined;
    happened({ type: 'heard', askedMs, token, held: claim.holder !== '' });
    word = claim.holder === '' || claim.word === '' ? undefined : (JSON.parse(claim.word) as Word);
    followWord();
  }

  /** What the gateway that asks the CMS says of its copy holds for this one as well. */
  function followWord(): void {
    if (!sync || !word || mayAsk(role, nowMs())) return;
    const { complete } = sync.standing();
    if (!complete)
      sync.follow({ ...word.standing, state: 'copying', complete: false, reason: 'taken from another gateway' });
    else if (word.standing.complete) sync.follow(word.standing);
  }

  /** Brings the copy to a place of the stream. */
  async function join(session: Engine): Promise<void> {
    const complete = sync?.standing().complete ?? false;
    if (complete && journal.drift !== 'much' && journal.at !== START && (await journal.catchUp(session))) {
      const { tail } = await session.claim('watch', leaseMs, '');
      if (tail === journal.at) return happened({ type: 'joined' });
      if (compareIds(tail, journal.at) > 0 && (await session.range(journal.at, 1)).length > 0) return;
    }
    journal.drifted('much');
    if (!word || word.founding || !asks || role.name !== 'joining') return pause(tickMs / 4, session.signal);
    const list = `copy:${randomUUID()}`;
    await asks.tell({ type: 'copy', list });
    if (!complete) replica.setDurable(false);
    try {
      const at = await takeSnapshot(session, list, replica, () => role.name !== 'joining');
      if (at === undefined) return;
      journal.moved(at);
    } finally {
      replica.setDurable(true);
    }
    sync?.reload();
    if (word?.standing.complete) sync?.follow(word.standing);
    if (await journal.catchUp(session)) happened({ type: 'joined' });
  }

  /** The records that were put here alone while the engine was away are read from the CMS again, for all. */
  async function mend(): Promise<void> {
    const { drift } = journal;
    if (mending || !asks || drift === 'much' || drift.size === 0) return;
    mending = true;
    try {
      const keys = [...drift];
      if (await readAgain(keys)) journal.mended(keys);
    } catch (error) {
      if (!(error instanceof EngineAway || error instanceof Relieved)) throw error;
    } finally {
      mending = false;
    }
  }

  /** Has records read from the CMS again, and waits until they are here. */
  async function readAgain(keys: readonly string[]): Promise<boolean> {
    if (role.name === 'leading') {
      await readForAll(keys);
      return true;
    }
    const at = await asks?.ask({ type: 'read', keys }, ASK_WAIT_MS);
    return at !== undefined && journal.reached(at, ASK_WAIT_MS);
  }

  /** Reads records from the CMS again and tells all what they are, whether that is new here or not. */
  async function readForAll(keys: readonly string[]): Promise<void> {
    const records = keys.map(ofKey);
    const baseOf = (kind: Kind | 'image') => (kind === 'image' ? 'media' : (mapping.kinds[kind]?.base ?? ''));
    await sync?.changed(records.map(({ kind, id }) => ({ collection: baseOf(kind), id })));
    const all = { force: true };
    await journal.commit(
      'look',
      () => ({
        put: records.flatMap(({ kind, id }) => (kind === 'image' ? [] : (replica.get(kind, id) ?? []))),
        images: records.flatMap(({ kind, id }) => (kind === 'image' ? (replica.image(id) ?? []) : [])),
        remove: records.flatMap(({ kind, id }) => {
          const gone = (kind === 'image' ? replica.image(id) : replica.get(kind, id)) === undefined;
          return gone ? [{ kind, ids: [id] }] : [];
        }),
      }),
      all,
    );
  }

  /** What the others ask of the gateway that asks the CMS. */
  async function asked(ask: Ask): Promise<boolean> {
    const session = engine;
    if (role.name !== 'leading' || !sync || !session) return false;
    if (ask.type === 'look') {
      await sync.look();
      return sync.standing().state === 'live';
    }
    if (ask.type === 'changed') await sync.changed(ask.changes);
    else if (ask.type === 'read') await readForAll(ask.keys);
    else {
      // One after another, so that many who come at once weigh no more than one.
      const given = giving.then(() => giveSnapshot(session, ask.list, replica, journal.at));
      giving = given.catch(() => {});
      await given;
    }
    return true;
  }

  async function ticking(session: Engine): Promise<void> {
    while (!session.signal.aborted) {
      await pause(tickMs, session.signal);
      await tick(session);
    }
  }

  async function reading(session: Engine): Promise<void> {
    while (!session.signal.aborted) {
      if (role.name === 'joining') {
        await join(session);
        continue;
      }
      const entries = await session.follow(journal.at, ENTRIES_A_TIME, FOLLOW_MS);
      if (!(await journal.take(entries, role.name === 'founding'))) happened({ type: 'broken' });
      while (entries.length > 0 && replica.tidy()) await new Promise(setImmediate);
      if (role.name === 'following' || role.name === 'leading') void mend();
    }
  }

  /** A session with the engine. Throws `ConfigError` and `EngineAway`. */
  async function open(): Promise<Engine> {
    const session = await openEngine({ url, prefix: prefixOf(siteUrl), me, deadlineMs });
    try {
      const mine = identityOf(siteUrl, mapping, service);
      compareIdentities(mine, await session.agree('identity', JSON.stringify(mine)));
      asks = await openAsks(session, { me, asked, at: () => journal.at });
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  /** Until it is lost. Throws `EngineAway`. */
  async function use(session: Engine): Promise<void> {
    engine = session;
    happened({ type: 'connected' });
    try {
      await tick(session);
      await Promise.all([ticking(session), reading(session)]);
    } finally {
      session.close();
      engine = undefined;
      asks = undefined;
    }
  }

  async function run(first: Engine | undefined): Promise<void> {
    let session = first;
    let said = '';
    while (!stopping.signal.aborted) {
      try {
        await use(session ?? (await open()));
      } catch (error) {
        const message = `the other gateways: ${error instanceof Error ? error.message : String(error)}`;
        if (!stopping.signal.aborted && message !== said) observe({ type: 'notice', level: 'warn', message });
        said = message;
      }
      session = undefined;
      if (stopping.signal.aborted) return;
      happened({ type: 'silent' });
      await pause(Math.min(tickMs, DEADLINE_MS), stopping.signal);
      happened({ type: 'silent' });
    }
  }

  /** Whether everything is seen here that the CMS had when this was called. */
  async function look(): Promise<boolean> {
    if (mayAsk(role, nowMs())) {
      await sync!.look();
      return sync!.standing().state === 'live';
    }
    const at = await asks?.ask({ type: 'look' }, ASK_WAIT_MS).catch(() => undefined);
    return at !== undefined && journal.reached(at, ASK_WAIT_MS);
  }

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

  return {
    company: {
      commit: (make) => journal.commit('look', make),
      leads() {
        const does = mayAsk(role, nowMs());
        round = does ? { token: role.token } : undefined;
        return does;
      },
      async looked() {
        const { token } = role;
        if (role.name !== 'founding' || !engine || token === undefined || round?.token !== token) return;
        try {
          if (await journal.begin(engine, token)) happened({ type: 'founded' });
        } catch (error) {
          if (!(error instanceof EngineAway)) throw error;
        }
      },
    },
    async start(keeper) {
      sync = keeper;
      let first: Engine | undefined;
      try {
        first = await open();
      } catch (error) {
        if (!(error instanceof EngineAway)) throw error;
        observe({ type: 'notice', level: 'warn', message: `the other gateways: ${error.message}; going on alone` });
      }
      running = run(first);
    },
    async stop() {
      stopping.abort();
      const session = engine;
      await session?.claim('release', leaseMs, '').catch(() => {});
      session?.close();
      await running;
    },
    status: () => ({
      role: role.name,
      sinceMs: roleSinceMs,
      engine: engine !== undefined,
      at: journal.at,
      entries: journal.applied,
      beside: journal.drift === 'much' ? 'many' : journal.drift.size,
    }),
    version() {
      const settled = role.name === 'following' || role.name === 'leading';
      const isWhole = settled && journal.drift !== 'much' && journal.drift.size === 0;
      return `${journal.at}${isWhole ? '' : BEYOND}`;
    },
    async reached(version, withinMs) {
      const found = VERSION.exec(version);
      if (!found) return undefined;
      const isAlone = role.name === 'away' || role.name === 'founding';
      if (isAlone || found[2] === BEYOND) {
        if (compareIds(journal.at, found[1]!) >= 0 && found[2] !== BEYOND) return true;
        const looked = await Promise.race([look(), sleep(withinMs, false, { ref: false })]);
        if (!looked || isAlone) return looked;
      }
      return journal.reached(found[1]!, withinMs);
    },
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
    async look() {
      await look();
    },
    async changed(changes) {
      if (mayAsk(role, nowMs())) return sync!.changed(changes);
      await asks?.ask({ type: 'changed', changes }, ASK_WAIT_MS).catch(() => undefined);
    },
  };
}
