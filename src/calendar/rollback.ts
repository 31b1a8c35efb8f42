// What one request created in the CMS: removed with proof when a later step is refused, named in the error when it stays.

import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError, UpstreamAway, UpstreamRefused } from '../errors.ts';
import type { Asked, Rollback } from './asked.ts';
import type { Backing } from './backing.ts';
import type { CreatedKind } from './references.ts';
import { removeCreated } from './removal.ts';
import { away, translate } from './translate.ts';

/** A record as an error names it. */
export interface Named {
  kind: CreatedKind;
  id: number;
}

/** A record that this request may have created. Without an id: there may be one, and the gateway could not look for it. */
export interface PossiblyCreated {
  kind: CreatedKind;
  id?: number;
}

/** The longest that a failed write waits for the poll and the look that follow it. */
const LOOK_LIMIT_MS = 3000;

/** One for each request that writes. */
export function createRollback(backing: Backing, asked: Asked): Rollback {
  const holder = {};
  const { references } = backing;
  const made = new Map<string, Named & { record?: object }>();
  const looks: { kind: CreatedKind; find: () => Promise<number[]> }[] = [];

  async function removeAll(): Promise<Named[]> {
    const left: Named[] = [];
    for (const one of [...made.values()].reverse()) {
      const { kind, id, record } = one;
      // Another gateway may be about to refer to what this one cannot see: only events are never referred to.
      const isShareable = kind !== 'event' && backing.others !== undefined;
      const remove = () => removeCreated(backing, kind, id, record!, asked);
      const isRemoved = record && !isShareable && (await references.removeUnused(holder, kind, id, remove));
      if (!isRemoved) left.unshift({ kind, id });
    }
    return left;
  }

  /** A site that refuses answers, in its own time; one that was silent may stay so. */
  async function lookFor({ kind, find }: (typeof looks)[number], isSilent: boolean): Promise<PossiblyCreated[]> {
    const found = find().catch(() => undefined);
    const ids = await (isSilent ? withinLimit(found) : found);
    return ids ? ids.map((id) => ({ kind, id })) : [{ kind }];
  }

  /** Polls the CMS. Reads of this user that come before the poll is over wait for it. */
  function poll(): Promise<unknown> {
    const userId = asked.caller.account?.userId ?? 0;
    const polled = backing.sync.look();
    backing.unsettled.set(userId, polled);
    return polled.finally(() => {
      if (backing.unsettled.get(userId) === polled) backing.unsettled.delete(userId);
    });
  }

  async function explained(error: unknown): Promise<unknown> {
    const isUnknown = error instanceof UpstreamAway && error.outcomeUnknown;
    const created = isUnknown ? [...made.values()].map(({ kind, id }) => ({ kind, id })) : await removeAll();
    const found = (await Promise.all(looks.map((look) => lookFor(look, isUnknown)))).flat();
    if (!isUnknown && created.length === 0 && found.length === 0) return error;
    // So that the caller's next read shows what the CMS has.
    await withinLimit(poll());
    // By now the CMS may have answered another request whose record was among the newest.
    const possibly = found.filter(({ kind, id }) => !backing.acknowledged.has(`${kind} ${id}`));
    const said = sayable(error);
    if (created.length > 0) said.data.created = created;
    if (possibly.length > 0) said.data.possibly_created = possibly;
    const names = [...created, ...possibly].map(({ kind, id = 'of unknown id' }) => `${kind} ${id}`).join(', ');
    if (names !== '')
      backing.observe({
        type: 'notice',
        level: 'warn',
        message: `a failed write left in the CMS, or may have: ${names}`,
      });
    return said;
  }

  return {
    created(kind, id, record) {
      references.created(holder, kind, id);
      backing.acknowledged.set(`${kind} ${id}`, true);
      const key = `${kind} ${id}`;
      made.set(key, { kind, id, ...(record ? { record } : {}) });
    },
    assertOwn(kind, id) {
      if (made.get(`${kind} ${id}`)?.record) return;
      const message = 'The CMS answered a create with a record that was there before.';
      throw new UpstreamAway('incomplete', message, { outcomeUnknown: true });
    },
    mayHaveCreated: (kind, find) => void looks.push({ kind, find }),
    use: (kind, id) => references.use(holder, kind, id),
    async guard(body) {
      try {
        return await body();
      } catch (error) {
        throw await explained(error);
      } finally {
        references.release(holder);
      }
    },
  };
}

/** The error as one that can name records. */
function sayable(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof UpstreamAway) return away(error);
  if (error instanceof UpstreamRefused) return translate(error, { kind: 'event', anonymous: false }) as GatewayError;
  const message = 'The gateway could not complete this request.';
  return new GatewayError(500, 'internal_server_error', message, { cause: error });
}

const withinLimit = <T>(work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work, sleep(LOOK_LIMIT_MS, undefined, { ref: false })]);
