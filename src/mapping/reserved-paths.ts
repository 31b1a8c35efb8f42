// Refuses mappings with a field where the CMS, or its adapter, must have something else.

import type { CompiledField, CustomFields } from './compile-field.ts';
import { CORE_LOCATIONS } from './core-locations.ts';
import { type FieldAccessor, MappingFieldError } from './field-accessor.ts';
import type { KindSpec } from './mapping-file.ts';

/** Fields that decide who may list a record, or who may read all of it. */
const VISIBILITY_FIELDS = ['status', 'author', 'protected'];

/** Refuses a mapping in which something else than WordPress would decide who sees a post. */
export function checkVisibilityFields({ fields = {} }: KindSpec): void {
  for (const name of VISIBILITY_FIELDS) {
    const { read } = CORE_LOCATIONS.wordpress.posts[name]!;
    if (fields[name] !== undefined && fields[name] !== read)
      throw new MappingFieldError(`/fields/${name}`, `WordPress has it at "${read}": leave this field out`);
  }
}

const ONE_PATH = 'must be one path, to read and to write, and not in a list';
const isOnePath = ({ selectedPaths, location }: FieldAccessor): boolean =>
  selectedPaths.length === 1 && selectedPaths[0] === location;

/**
 * Refuses paths at `status` of a record from Payload, where the adapter puts the API's status. A mapping may name the site's
 * field that holds `pending` or `private`; the adapter needs one path for both directions.
 */
export function checkStatusPaths(fields: readonly CompiledField[], customFields: CustomFields): void {
  const named = [
    ...fields.map(({ name, accessor }) => ({ pointer: `/fields/${name}`, accessor })),
    ...[...customFields].map(([name, { accessor }]) => ({ pointer: `/custom_fields/${name}`, accessor })),
  ];
  for (const { pointer, accessor } of named) {
    const { selectedPaths, location } = accessor;
    const isStatus = pointer === '/fields/status';
    if (isStatus && !isOnePath(accessor)) throw new MappingFieldError(pointer, ONE_PATH);
    const paths = [...selectedPaths, ...location.split(', ')];
    if (paths.some((path) => /^status[.[ ]/.test(path) || (!isStatus && path === 'status')))
      throw new MappingFieldError(pointer, 'must not be at "status", where the gateway puts the API\'s status');
  }
}

/** Refuses references of Payload that the adapter cannot convert: it replaces the ids at one path, in both directions. */
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
