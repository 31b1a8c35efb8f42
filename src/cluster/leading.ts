// What the gateway that asks the CMS does for the others: it looks, reads records again, and hands its copy over.

import { LRUCache } from 'lru-cache';
import type { Kind } from '../records.ts';
import type { Ask } from './asks.ts';
import { isWhole } from './drift.ts';
import { ofKey } from './keys.ts';
import type { Member } from './member.ts';
import { giveSnapshot } from './snapshot.ts';

/** Reads records from the CMS again and tells all what they are, whether that is new here or not; false when they could not be read. Throws `Relieved`. */
export async function readForAll(
  { mapping, replica, sync, journal }: Member,
  keys: readonly string[],
): Promise<boolean> {
  const records = keys.map(ofKey);
  const baseOf = (kind: Kind | 'image') => (kind === 'image' ? 'media' : (mapping.kinds[kind]?.base ?? ''));
  const isRead = await sync?.changed(records.map(({ kind, id }) => ({ collection: baseOf(kind), id })));
  if (!isRead) return false;
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
    { force: true },
  );
  return true;
}

/** A list that was asked for longer ago than this is not waited for any more. */
const WANTED_MS = 3000;
const MAX_LISTS = 1000;

/** Hands copies over, one after another: many who come at once weigh no more than one. Whoever waits asks again; who does not has gone. */
function createGiving(member: Member): (list: string) => Promise<void> {
  const { replica, journal } = member;
  /** When each list was asked for last; one that was given is remembered, since asking again may cross its first piece. */
  const askedMs = new LRUCache<string, number>({ max: MAX_LISTS });
  let last: Promise<unknown> = Promise.resolve();

  async function give(list: string): Promise<void> {
    const { engine } = member;
    const isWanted = performance.now() - (askedMs.get(list) ?? 0) <= WANTED_MS;
    let isGiven = false;
    try {
      if (!engine || !isWanted || member.role.name !== 'leading') return;
      await giveSnapshot(engine, list, replica, journal);
      isGiven = true;
    } finally {
      if (!isGiven) askedMs.delete(list);
    }
  }

  return async (list) => {
    const isKnown = askedMs.has(list);
    askedMs.set(list, performance.now());
    if (isKnown) return;
    const given = last.then(() => give(list));
    last = given.catch(() => {});
    await given;
  };
}

/** Does what another gateway asks: false when it cannot, undefined when this one does not lead and another has to. */
export function answerAsks(member: Member): (ask: Ask) => Promise<boolean | undefined> {
  const give = createGiving(member);

  return async function asked(ask) {
    const { sync } = member;
    if (member.role.name !== 'leading' || !sync) return undefined;
    switch (ask.type) {
      case 'look':
        // What only this copy has is no news to its looks, and unknown to who asks.
        return (await sync.look()) && isWhole(member.journal.drift);
      case 'changed':
        return sync.changed(ask.changes);
      case 'read':
        return readForAll(member, ask.keys);
      case 'copy':
        await give(ask.list);
        return true;
    }
  };
}
