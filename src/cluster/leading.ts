// What the gateway that asks the CMS does for the others: it looks, reads records again, and hands its copy over.

import type { Kind } from '../records.ts';
import type { Ask } from './asks.ts';
import { ofKey } from './keys.ts';
import type { Member } from './member.ts';
import { giveSnapshot } from './snapshot.ts';

/** Reads records from the CMS again and tells all what they are, whether that is new here or not. Throws `Relieved`. */
export async function readForAll({ mapping, replica, sync, journal }: Member, keys: readonly string[]): Promise<void> {
  const records = keys.map(ofKey);
  const baseOf = (kind: Kind | 'image') => (kind === 'image' ? 'media' : (mapping.kinds[kind]?.base ?? ''));
  await sync?.changed(records.map(({ kind, id }) => ({ collection: baseOf(kind), id })));
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
}

/** Does what another gateway asks; false when this one does not lead and another has to. */
export function answerAsks(member: Member): (ask: Ask) => Promise<boolean> {
  const { replica, journal } = member;
  let giving: Promise<unknown> = Promise.resolve();

  return async function asked(ask) {
    const { sync, engine } = member;
    if (member.role.name !== 'leading' || !sync || !engine) return false;
    switch (ask.type) {
      case 'look':
        await sync.look();
        return sync.standing().state === 'live';
      case 'changed':
        await sync.changed(ask.changes);
        return true;
      case 'read':
        await readForAll(member, ask.keys);
        return true;
      case 'copy': {
        // One after another, so that many who come at once weigh no more than one.
        const given = giving.then(() => giveSnapshot(engine, ask.list, replica, journal.at));
        giving = given.catch(() => {});
        await given;
        return true;
      }
    }
  };
}
