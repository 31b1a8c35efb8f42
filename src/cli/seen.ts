// The reason for a line of a known setup: in how many records what it names was seen.

import { parsePath, valueAt } from '../mapping/paths.ts';
import type { FieldSource } from '../mapping/source.ts';
import type { Native } from '../upstream/port.ts';
import type { Place, TypeFacts } from './probe.ts';
import { pathsOf, shows } from './setups.ts';
import { shown } from './words.ts';

const NOT_BEFORE = 'shown once the PHP file is in';

/** Taxonomies and the texts of the core are not among the places that somebody made. A list is wrapped, to stay one value. */
function coreValue(sample: Native, text: string): unknown {
  const path = parsePath(text);
  const value = path && valueAt(sample, path);
  return Array.isArray(value) && value.length > 0 ? [value] : value;
}

const isHeld = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '';

/** In words: how many records hold the line's place, with an example. `type`: undefined where the site does not show it. */
export function seen(type: TypeFacts | undefined, line: string | FieldSource): string {
  const paths = pathsOf(line);
  if (!type) return NOT_BEFORE;
  const place: Place | undefined = type.places.find(({ path, values }) => paths.includes(path) && values.length > 0);
  if (place)
    return `${place.values.length} of ${type.samples.length} records have it, such as ${shown(place.values[0])}`;
  const held = type.samples.flatMap((sample) => paths.map((path) => coreValue(sample, path)).filter(isHeld)[0] ?? []);
  if (held.length > 0) return `${held.length} of ${type.samples.length} records have it, such as ${shown(held[0])}`;
  if (paths.every((path) => shows(type, path))) return 'in the schema; no record has a value yet';
  return type.samples.length === 0 ? 'no record to see it in yet' : NOT_BEFORE;
}
