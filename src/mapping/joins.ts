// Events that name a venue or organizer by something other than its id: by a term with its slug, or by a key in its meta.

import type { LinkedKind } from '../records.ts';
import type { Native } from '../upstream/port.ts';
import { BadLine, pathOf } from './access.ts';
import { numberCodec, textCodec } from './codecs.ts';
import { valueAt } from './paths.ts';
import type { ViaSource } from './source.ts';

/** How one field of events is joined. Whoever reads records lists the linked kind (and the terms) first, and builds the table. */
export interface Join {
  field: 'venues' | 'organizers';
  kind: LinkedKind;
  /** The go-between's collection, to be listed with `id` and `slug`; absent where the linked record itself has the key. */
  terms?: string;
  /** @returns the table from the native linked records and, where there are any, the native terms. */
  table(linked: readonly Native[], terms: readonly Native[]): JoinTable;
}

export interface JoinTable {
  /** What an event stores -> id of the linked record. */
  idOf: ReadonlyMap<number, number>;
  /** Id of the linked record -> what an event stores. */
  storedOf: ReadonlyMap<number, number>;
  /** What events were found to store that the table lacks: they have to be read again when it comes. */
  missed: Set<number>;
}

export type JoinTables = { readonly [F in Join['field']]?: JoinTable };

const NO_ZONES = { event: '', site: '' };

/** Compiles a `via`. Throws `BadLine`. */
export function joinOf(kind: Join['kind'], via: ViaSource): Join {
  const field = kind === 'venue' ? 'venues' : 'organizers';
  if (via.terms !== undefined && via.slug !== undefined) {
    const pattern = via.slug;
    return {
      field,
      kind,
      terms: via.terms,
      table: (linked, terms) => {
        const termIds = new Map(terms.map((term) => [String(term.slug), Number(term.id)]));
        return tableOf(linked, (native) =>
          typeof native.slug === 'string' && native.slug !== ''
            ? termIds.get(pattern.replace('{slug}', () => String(native.slug)))
            : undefined,
        );
      },
    };
  }
  if (via.key === undefined) throw new BadLine('/via', 'needs "terms" and "slug", or "key"');
  const path = pathOf(via.key, '/via/key');
  return {
    field,
    kind,
    table: (linked) =>
      tableOf(linked, (native) => {
        const text = textCodec.read(valueAt(native, path), NO_ZONES);
        return numberCodec.read(text, NO_ZONES) as number | undefined;
      }),
  };
}

function tableOf(linked: readonly Native[], storedFor: (native: Native) => number | undefined): JoinTable {
  const idOf = new Map<number, number>();
  const storedOf = new Map<number, number>();
  for (const native of linked) {
    const stored = storedFor(native);
    const id = Number(native.id);
    if (stored === undefined || !Number.isSafeInteger(id)) continue;
    if (!idOf.has(stored)) idOf.set(stored, id);
    storedOf.set(id, stored);
  }
  return { idOf, storedOf, missed: new Set() };
}

/** The ids of linked records for what an event stores; what the table lacks is left out, since it would be somebody else's id. */
export function joinedIds(stored: readonly number[], table: JoinTable | undefined): number[] {
  return stored.flatMap((key) => {
    const id = table?.idOf.get(key);
    if (id === undefined) table?.missed.add(key);
    return id ?? [];
  });
}

/** What an event has to store for linked ids; `undefined` when one has no go-between (yet). */
export function storedIds(ids: readonly number[], table: JoinTable | undefined): number[] | undefined {
  const stored = ids.flatMap((id) => table?.storedOf.get(id) ?? []);
  return stored.length === ids.length ? stored : undefined;
}
