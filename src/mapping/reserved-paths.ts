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

/** Paths of a record from Payload, and what is there. */
const STATUS_PATHS: readonly [path: string, content: string][] = [
  ['status', "where the gateway puts the API's status"],
  ['_status', 'where Payload has the status'],
  ['deletedAt', 'where Payload has the time of the deletion'],
];

const isWithin = (path: string, outer: string): boolean =>
  path === outer || (path.startsWith(outer) && /^[.[ ]/.test(path.slice(outer.length)));

/**
 * Refuses fields of Payload where the adapter reads or writes a status. A mapping may name the site's field
 * that holds `pending` or `private`; the adapter needs one path for both directions.
 */
export function checkStatusPaths(
  { fields: specs = {} }: KindSpec,
  fields: readonly CompiledField[],
  customFields: CustomFields,
): void {
  const check = (pointer: string, { selectedPaths, location }: FieldAccessor, reserved: typeof STATUS_PATHS): void => {
    const paths = [...selectedPaths, ...location.split(', ')];
    for (const [path, content] of reserved)
      if (paths.some((each) => isWithin(each, path) || isWithin(path, each)))
        throw new MappingFieldError(pointer, `must not be at "${path}", ${content}`);
  };
  const ofSite = specs.status === undefined ? undefined : fields.find(({ name }) => name === 'status')?.accessor;
  if (ofSite && !isOnePath(ofSite)) throw new MappingFieldError('/fields/status', ONE_PATH);
  if (ofSite) check('/fields/status', ofSite, STATUS_PATHS);
  const reserved: typeof STATUS_PATHS = ofSite
    ? [...STATUS_PATHS, [ofSite.location, 'where the mapping has the status']]
    : STATUS_PATHS;
  for (const { name, accessor } of fields) if (name !== 'status') check(`/fields/${name}`, accessor, reserved);
  for (const [name, { accessor }] of customFields) check(`/custom_fields/${name}`, accessor, reserved);
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
