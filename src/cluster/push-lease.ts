// Which gateway of a cluster sends the outgoing webhooks, and how far each receiver is: a lease and a hash in Redis.

import { randomUUID } from 'node:crypto';
import type { PushLease as PushLeasePort } from '../push/receiver.ts';
import type { Connection } from './connection.ts';

/** A gateway that died is replaced after this time; the holder renews it each second. */
const LEASE_MS = 5000;
/** Longer than any outage that somebody wants to bridge. */
const POSITIONS_MS = 7 * 24 * 3_600_000;

export class PushLease implements PushLeasePort {
  readonly #connection: Connection;
  readonly #keys: { lease: string; positions: string };
  readonly #node = randomUUID();
  /** The holder's are as new as those in Redis, or newer. Another gateway's are those that Redis sent it last. */
  #positions: Record<string, string> = {};

  constructor({ connection, prefix }: { connection: Connection; prefix: string }) {
    this.#connection = connection;
    this.#keys = { lease: `${prefix}push`, positions: `${prefix}push-positions` };
  }

  /** While Redis is away, every gateway sends: receivers get repetitions, and miss nothing. */
  async takesLease(): Promise<boolean> {
    const { lease, positions } = this.#keys;
    const expiration = { type: 'PX', value: LEASE_MS } as const;
    try {
      return await this.#connection.run(async (client) => {
        const isNew = (await client.set(lease, this.#node, { expiration, condition: 'NX' })) !== null;
        const isOwn = isNew || (await client.get(lease)) === this.#node;
        // Should another gateway have taken the lease since the `get`, this makes that lease a moment longer.
        if (isOwn && !isNew) await client.pExpire(lease, LEASE_MS);
        // Of an own lease, positions in Redis may be older than what this gateway has sent. Without one they are kept
        // up to date, because this gateway begins there if it gets the lease, or if Redis is away.
        if (isNew || !isOwn) this.#positions = await client.hGetAll(positions);
        return isOwn;
      });
    } catch {
      return true;
    }
  }

  position(receiver: string): string | undefined {
    return this.#positions[receiver];
  }

  keep(receiver: string, position: string): void {
    this.#positions[receiver] = position;
    const { positions } = this.#keys;
    const save = this.#connection.run((client) =>
      client.multi().hSet(positions, receiver, position).pExpire(positions, POSITIONS_MS).exec(),
    );
    // If that fails, the next gateway with the lease repeats a batch.
    save.catch(() => undefined);
  }
}
