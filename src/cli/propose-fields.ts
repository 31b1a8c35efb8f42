// Finds the other fields of a type by the names of its places and by what they hold.

import type { FieldSource } from '../mapping/source.ts';
import type { Kind } from '../records.ts';
import { parseZone } from '../time/zones.ts';
import type { Place } from './probe.ts';
import { guessBoolean } from './recognise.ts';
import { nameScore, shown, WISHES, type Wish } from './words.ts';

export interface Line {
  kind: Kind;
  field: string;
  line: string | FieldSource;
  reason: string;
}

/** One line for each field of the kind that some place looks like; `taken` are places that are used already. */
export function proposeFields(kind: Kind, places: readonly Place[], taken: Set<string>): Line[] {
  const pairs = (WISHES[kind] ?? []).flatMap((wish) =>
    places.flatMap((place) => {
      const score = nameScore(place, wish.names, wish.field);
      const line = score > 0 ? lineFor(wish, place) : undefined;
      return line === undefined ? [] : [{ wish, place, line, score }];
    }),
  );
  const found = new Map<string, Line>();
  // The best pair first, so that `show_map_link` is not taken for `show_map`.
  for (const { wish, place, line } of pairs.sort((one, other) => other.score - one.score)) {
    if (taken.has(place.path) || found.has(wish.field)) continue;
    taken.add(place.path);
    found.set(wish.field, { kind, field: wish.field, line, reason: reasonFor(place) });
  }
  return (WISHES[kind] ?? []).flatMap(({ field }) => found.get(field) ?? []);
}

/** Why a place was taken for a field, for the proposal's lines: its name, and the first value that was seen there or the type in the schema. */
export function reasonFor({ values, type }: Place): string {
  if (values.length > 0) return `named like it, and holds ${shown(values[0])}`;
  return `named like it (${type ?? 'no type'} in the schema; no record has a value yet)`;
}

function lineFor(wish: Wish, place: Place): string | FieldSource | undefined {
  const { path, values, type } = place;
  const texts = values.every((value) => typeof value === 'string');
  switch (wish.what) {
    case 'boolean': {
      const as = guessBoolean(place);
      return as === undefined ? undefined : as === null ? path : { at: path, as };
    }
    case 'cost':
      if (
        values.length > 0 ? values.every((value) => typeof value === 'number') : type === 'number' || type === 'integer'
      )
        return { at: path, as: 'number', clearWith: null };
      return texts && isText(type) ? path : undefined;
    case 'zone':
      return texts && isText(type) && values.every((value) => parseZone(String(value)) !== undefined)
        ? path
        : undefined;
    case 'url':
      return texts && isText(type) && values.every((value) => /^(https?:\/\/|www\.)|^0$/.test(String(value)))
        ? path
        : undefined;
    case 'email':
      return texts && isText(type) && values.every((value) => String(value).includes('@')) ? path : undefined;
    default:
      return texts && isText(type) ? path : undefined;
  }
}

const isText = (type: string | undefined): boolean => type === undefined || type === 'string';
