// Several gateways before one CMS: what the rest of the gateway sees of the others. docs/scaling.md tells what holds.

import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Replica } from '../replica/store.ts';
import type { Company, Sync } from '../replica/sync.ts';
import type { Credentials } from '../upstream/port.ts';
import { EngineAway } from './engine.ts';
import { ASK_WAIT_MS, createKeeping, type Keeping } from './keeping.ts';
import { createMember } from './member.ts';
import type { RoleName } from './roles.ts';
import { createSessions } from './session.ts';
import { createVersions, type Versions } from './versions.ts';

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

export interface Cluster extends Pick<Keeping, 'moment' | 'keep' | 'wrote' | 'readAgain'>, Versions {
  company: Company;
  /**
   * Connects, and goes on alone where the engine does not answer. Throws `ConfigError` where the engine is shared with gateways of another
   * kind before the same site.
   */
  start(sync: Sync): Promise<void>;
  /** Lets the lock go and leaves. */
  stop(): Promise<void>;
  status(): ClusterStatus;
  /** Hands a change notice to the gateway that asks the CMS; resolves with whether it was followed. */
  changed(changes: readonly { collection: string; id: number }[]): Promise<boolean>;
}

const DEADLINE_MS = 1000;

/** Puts one gateway among the others. Nothing happens before `start`. */
export function createCluster(options: ClusterOptions): Cluster {
  const { url, siteUrl, service, intervalMs: leaseMs, deadlineMs = DEADLINE_MS } = options;
  const member = createMember({ ...options, leaseMs });
  const { journal } = member;
  const { mend, ...keeping } = createKeeping(member);
  const sessions = createSessions(member, { url, siteUrl, service, deadlineMs, mend });

  return {
    ...keeping,
    ...createVersions(member),
    company: {
      commit: (make) => journal.commit('look', make),
      async leads() {
        if (!member.beginRound()) return false;
        // What this copy alone has is told first: whoever leads next goes on from the marks of this look, which passed it.
        if (member.role.name === 'leading') await mend();
        return true;
      },
      async looked() {
        const { role, engine } = member;
        if (role.name !== 'founding' || !engine || role.token === undefined) return;
        if (member.roundToken() !== role.token) return;
        try {
          if (await journal.begin(engine, role.token)) member.happened({ type: 'founded' });
        } catch (error) {
          if (!(error instanceof EngineAway)) throw error;
        }
      },
    },
    async start(sync) {
      member.sync = sync;
      await sessions.start();
    },
    stop: sessions.stop,
    status: () => ({
      role: member.role.name,
      sinceMs: member.roleSinceMs,
      engine: member.engine !== undefined,
      at: journal.at,
      entries: journal.applied,
      beside: journal.drift === 'much' ? 'many' : journal.drift.size,
    }),
    async changed(changes) {
      if (member.mayAsk() && member.sync) return member.sync.changed(changes);
      const at = await member.asks?.ask({ type: 'changed', changes }, ASK_WAIT_MS).catch(() => undefined);
      return at !== undefined;
    },
  };
}
