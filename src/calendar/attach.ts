// What an event's body attaches: terms by id, slug or name, and venues and organizers by id or data. New ones are created, and taken back on failure.

import { setImmediate as turn } from 'node:timers/promises';
import { UpstreamRefused } from '../errors.ts';
import type { LinkedKind, TermKind } from '../records.ts';
import { type Asked, callOptions, type Rollback } from './asked.ts';
import { type Backing, whole, writableKind } from './backing.ts';
import { beginCreate, noteCreated, noteFailedCreate } from './failed-create.ts';
import { failedLink, type Linked } from './linked.ts';
import { invalidParam } from './refusals.ts';
import { NO_ROUTE, translate } from './translate.ts';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Ids of the terms that a body names (interface-behaviour 5.5): numbers are ids, without fraction and sign, and unknown ones are
 * dropped; other texts are slugs or names, created where there is no such term. `true` is the name `1`.
 */
export async function attachTerms(
  backing: Backing,
  kind: TermKind,
  items: unknown[],
  asked: Asked,
  rollback: Rollback,
): Promise<number[]> {
  const ids = new Set<number>();
  for (const item of items) {
    const text = item === null || item === undefined || item === false ? '' : String(item).trim();
    if (text === '') continue;
    // Let other requests run between two items: there may be a thousand items.
    await turn();
    if (NUMBER.test(text)) {
      const id = Math.trunc(Math.abs(Number(text)));
      if (id > 0 && (await termExists(backing, kind, id, asked)) && (await rollback.use(kind, id))) ids.add(id);
      continue;
    }
    const name = item === true ? '1' : text;
    const found = findTerm(backing, kind, name);
    const isUsable = found !== undefined && (await rollback.use(kind, found));
    ids.add(isUsable ? found : await createTerm(backing, kind, name, asked, rollback));
  }
  return [...ids];
}

/** The id of a term in the copy: a slug wins over a name, the lowest id over others. Undefined: the copy has none, though the CMS may. */
export function findTerm(backing: Backing, kind: TermKind, text: string): number | undefined {
  return backing.replica.termBySlug(kind, text) ?? backing.replica.termByName(kind, text);
}

/** Whether there is such a term: in the replica, or in the CMS and then in the replica. @throws UpstreamAway */
export async function termExists(backing: Backing, kind: TermKind, id: number, asked: Asked): Promise<boolean> {
  const { replica, unknown } = backing;
  if (replica.get(kind, id)) return true;
  const mapping = backing.mapping.kinds[kind];
  const name = `${kind} ${id}`;
  if (!mapping || id > 2 ** 53 - 1 || unknown.isMissing(name)) return false;
  const found = await unknown.ask(asked.caller, kind, async () => {
    const moment = backing.keeping.moment();
    try {
      const native = await backing.upstream.read(mapping.base, id, {}, callOptions(asked));
      await backing.keeping.keep({ put: [mapping.read(whole(backing, kind, native), backing.site())] }, moment);
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamRefused)) throw error;
      if (error.code === NO_ROUTE) throw translate(error, { kind, id, anonymous: !asked.caller.account });
      if (error.status === 404) unknown.missing(name);
      return false;
    }
  });
  return found ? found.answer : replica.get(kind, id) !== undefined;
}

async function createTerm(
  backing: Backing,
  kind: TermKind,
  name: string,
  asked: Asked,
  rollback: Rollback,
): Promise<number> {
  const mapping = writableKind(backing, kind);
  const begun = beginCreate(backing, kind);
  const moment = backing.keeping.moment();
  try {
    const native = await backing.upstream.create(mapping.base, mapping.write({ name }, { site: backing.site() }), {
      ...callOptions(asked),
      createId: begun.createId,
    });
    const record = noteCreated(backing, kind, Number(native.id), begun, rollback, () =>
      mapping.read(whole(backing, kind, native, true), backing.site()),
    );
    await backing.keeping.wrote({ put: [record] }, moment);
    return record.id;
  } catch (error) {
    if (error instanceof UpstreamRefused && error.code === 'term_exists') {
      const id = Number(error.data.term_id);
      await termExists(backing, kind, id, asked);
      await rollback.use(kind, id);
      return id;
    }
    await noteFailedCreate(backing, kind, error, begun, asked, rollback);
    throw translate(error, { kind, anonymous: false });
  }
}

/** Ids of the venues or organizers that a body names, in order, each once; data makes a new record or finds its twin. */
export async function attachLinked(
  backing: Backing,
  kind: LinkedKind,
  makers: Record<LinkedKind, Linked>,
  items: unknown[],
  asked: Asked,
  rollback: Rollback,
): Promise<number[]> {
  const ids = new Set<number>();
  for (const item of items) {
    if (typeof item !== 'object' || item === null) {
      ids.add(await usable(kind, Number(item), rollback));
      continue;
    }
    const data = item as Record<string, unknown>;
    if (data.id !== undefined) {
      ids.add(await usable(kind, Number(data.id), rollback));
      continue;
    }
    await turn();
    try {
      const record = await makers[kind].make(backing.readFields(kind, data), asked, rollback);
      ids.add(record.id);
    } catch (error) {
      throw failedLink(kind, error);
    }
  }
  return [...ids];
}

/** The id that the request was validated with. A rollback may have removed its record since. */
async function usable(kind: LinkedKind, id: number, rollback: Rollback): Promise<number> {
  if (!(await rollback.use(kind, id))) throw invalidParam(kind);
  return id;
}
