// Refuses mappings with a field where the CMS, or its adapter, must have something else.

import type { CompiledField } from './compile-field.ts';
import { CORE_LOCATIONS } from './core-locations.ts';
import { type FieldAccessor, MappingFieldError } from './field-accessor.ts';
import type { KindSpec } from './mapping-file.ts';

/** Fields that decide who may list a record, or who may read all of it. */
const VISIBILITY_FIELDS = ['status', 'author', 'protected'];

/** Refuses a mapping in which something else than WordPress would decide who sees a post. */
export function checkVisibilityFields({ fields = {} }: KindSpec): void {
  for (const name of VISIBILITY_FIELDS) {
    const spec = fields[name];
    if (spec === undefined) continue;
    const { read } = CORE_LOCATIONS.wordpress.posts[name]!;
    const { at, readOnly: _, ...others } = typeof spec === 'string' ? { at: spec } : spec;
    if (at === read && Object.keys(others).length === 0) continue;
    const reason = `decides who sees a record, so it must be at "${read}", without another key than "readOnly"`;
    throw new MappingFieldError(`/fields/${name}`, reason);
  }
}

const ONE_PATH = 'must be one path, to read and to write, and not in a list';
const isOnePath = ({ selectedPaths, location }: FieldAccessor): boolean =>
  selectedPaths.length === 1 && selectedPaths[0] === location;

/** Where the adapter of Payload puts the API's status, and where Payload has its own and the time of a deletion. */
const ADAPTER_FIELDS = ['status', '_status', 'deletedAt'];

/**
 * A mapping may name the field of a site of Payload that holds `pending` or `private`; the adapter needs one path for
 * both directions.
 */
export function checkStatusPath({ fields: specs = {} }: KindSpec, fields: readonly CompiledField[]): void {
  const status = fields.find(({ name }) => name === 'status');
  if (specs.status === undefined || !status) return;
  if (!isOnePath(status.accessor)) throw new MappingFieldError('/fields/status', ONE_PATH);
  const { location } = status.accessor;
  if (ADAPTER_FIELDS.includes(location.split('.', 1)[0]!))
    throw new MappingFieldError(
      '/fields/status',
      `must not be at "${location}", where Payload or its adapter has a status`,
    );
}

/**
 * Refuses references of Payload that the adapter cannot convert: it replaces the ids at one path, in both
 * directions.
 */
export function checkReferencePaths(
  { fields: specs = {} }: KindSpec,
  fields: readonly CompiledField[],
  embedded: Readonly<Record<string, unknown>>,
): void {
  for (const { name, field, accessor } of fields) {
    // All numbers of the API are ids too. A fixed one has no path.
    const isReference = (field.type === 'ids' || field.type === 'number') && accessor.selectedPaths.length > 0;
    if (!isReference || name in embedded) continue;
    if (!isOnePath(accessor)) throw new MappingFieldError(`/fields/${name}`, ONE_PATH);
    const spec = specs[name];
    const as = typeof spec === 'object' && typeof spec.as === 'object' ? spec.as : {};
    if (typeof as.ids === 'object')
      throw new MappingFieldError(`/fields/${name}/as`, 'Payload answers ids, and no records that have them at a path');
  }
}
