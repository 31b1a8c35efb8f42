// The tables by which events name venues and organizers that they do not name by id; made of the CMS's lists, kept in the copy.

import type { Join, JoinTable, JoinTables } from '../mapping/joins.ts';
import type { Native } from '../upstream/port.ts';
import type { Collection } from './collections.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import type { AskedPage } from './walk.ts';

export interface Joins {
  tables(): JoinTables;
  /** Makes the tables anew where what they are made of changed. True when events that are copied may now read otherwise. */
  refresh(): Promise<boolean>;
  /** The next refresh makes them anew in any case: a key may change without any sign. */
  again(): void;
  /** Goes by the tables that are kept in the copy: another gateway made them. */
  reload(): void;
}

const STATE_KEY = 'sync.joins';

function load(replica: Replica): JoinTables {
  const kept = JSON.parse(replica.state(STATE_KEY) ?? '[]') as [
    Join['field'],
    [number, number][],
    [number, number][],
  ][];
  return Object.fromEntries(
    kept.map(([field, idOf, storedOf]) => [
      field,
      { idOf: new Map(idOf), storedOf: new Map(storedOf), missed: new Set<number>() },
    ]),
  );
}

function saved(tables: JoinTables): Record<string, string> {
  const kept = Object.entries(tables).map(([field, { idOf, storedOf }]) => [field, [...idOf], [...storedOf]]);
  return { [STATE_KEY]: JSON.stringify(kept) };
}

/** Whether something that events already stored now means something else, or means something at last. */
function moved(before: JoinTable | undefined, after: JoinTable): boolean {
  if ([...(before?.idOf ?? [])].some(([stored, id]) => after.idOf.get(stored) !== id)) return true;
  const missed = [...(before?.missed ?? [])];
  for (const stored of missed) if (!after.idOf.has(stored)) after.missed.add(stored);
  return missed.some((stored) => after.idOf.has(stored));
}

/** Begins with the tables that the copy keeps. `refresh` throws what the CMS throws, and leaves the tables that were made until then. */
export function createJoins(
  joins: readonly Join[],
  { replica, taking, collections }: { replica: Replica; taking: Taking; collections: readonly Collection[] },
): Joins {
  let tables = load(replica);
  const madeOf = new Map<Join, string>();

  async function listed(base: string, ask: (page: number) => Promise<AskedPage>): Promise<Native[]> {
    const natives: Native[] = [];
    for (let page = 1; base !== ''; page += 1) {
      const answer = await ask(page);
      natives.push(...answer.items);
      if (page * taking.asking.pageSize >= answer.total) break;
    }
    return natives;
  }

  async function refreshOne(join: Join): Promise<boolean> {
    const linked = collections.find(({ kind }) => kind === join.kind);
    if (!linked) return false;
    const size = { per_page: taking.asking.pageSize, orderby: 'id', order: 'asc' };
    const go = { ...linked, base: join.terms ?? '' };
    const terms = await listed(go.base, (page) =>
      taking.asking.ask(go, { ...size, page, _fields: 'id,slug' }, { scope: {}, options: taking.asking.asService() }),
    );
    const stamp = JSON.stringify([taking.revision(join.kind), terms]);
    if (madeOf.get(join) === stamp) return false;
    const _fields = join.terms === undefined ? linked.select : 'id,slug';
    const natives = await listed(linked.base, (page) => taking.asking.ask(linked, { ...size, page, _fields }));
    const table = join.table(natives, terms);
    const before = tables[join.field];
    tables = { ...tables, [join.field]: table };
    await taking.commit(() => ({ state: saved(tables) }));
    madeOf.set(join, stamp);
    return moved(before, table);
  }

  async function refreshAll(): Promise<boolean> {
    let any = false;
    for (const join of joins) if (await refreshOne(join)) any = true;
    return any;
  }

  // One after another: the answers of an older refresh must not undo a newer one.
  let latest: Promise<unknown> = Promise.resolve();

  return {
    tables: () => tables,
    again: () => madeOf.clear(),
    reload() {
      tables = load(replica);
      madeOf.clear();
    },
    refresh() {
      const refreshed = latest.then(refreshAll);
      latest = refreshed.catch(() => {});
      return refreshed;
    },
  };
}
