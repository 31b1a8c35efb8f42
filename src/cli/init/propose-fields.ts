// Proposes the fields of a kind from the names and values of a site's fields.

import { FIELDS, type Field } from '../../interface/fields.ts';
import { parseNumber } from '../../interface/param-types.ts';
import { isCoreField } from '../../mapping/core-locations.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { Kind } from '../../model/records.ts';
import { parseZone } from '../../time/zones.ts';
import { formatSample } from '../field-samples.ts';
import { fieldWords, nameScore } from './field-synonyms.ts';
import { inferBoolean, inferIds } from './infer-codecs.ts';
import type { SourceField } from './probe.ts';

export interface ProposedField {
  kind: Kind;
  field: string;
  source: string | FieldSpec;
  reason: string;
}

/**
 * Returns at most one site field for each field of the kind. Adds the paths that it uses to `used`, and uses
 * none that is there.
 */
export function proposeFields(kind: Kind, siteFields: readonly SourceField[], used: Set<string>): ProposedField[] {
  const mappable = Object.entries(FIELDS[kind]).filter(([, { key, type }]) => !isCoreField(key) && TYPES.has(type));
  const pairs = mappable.flatMap(([field, { type }]) =>
    siteFields.flatMap((siteField) => {
      const score = nameScore(siteField.path, fieldWords(kind, field), field);
      const source = score > 0 ? sourceFor(field, type, siteField) : undefined;
      return source === undefined ? [] : [{ field, siteField, source, score }];
    }),
  );
  const proposed = new Map<string, ProposedField>();
  // The best pair first: `show_map_link` also matches `show_map`.
  for (const { field, siteField, source } of pairs.sort((a, b) => b.score - a.score)) {
    if (used.has(siteField.path) || proposed.has(field)) continue;
    used.add(siteField.path);
    proposed.set(field, { kind, field, source, reason: nameReason(siteField) });
  }
  return mappable.flatMap(([field]) => proposed.get(field) ?? []);
}

const TYPES: ReadonlySet<Field['type']> = new Set(['text', 'boolean', 'zone', 'coordinate']);

export function nameReason({ values, type }: SourceField): string {
  if (values.length > 0) return `has a similar name, and holds ${formatSample(values[0])}`;
  return `has a similar name (${type ?? 'no type'} in the schema; no record has a value yet)`;
}

/** Texts that a site may store as numbers. In another text, such as a city, a number is likelier to be an id. */
const NUMERIC_FIELDS: ReadonlySet<string> = new Set(['cost', 'zip', 'phone']);

/** The source of a text that the site stores as a number; undefined for another field. */
export function numberSource(field: string, { path, values, type, decimal }: SourceField): FieldSpec | undefined {
  if (!NUMERIC_FIELDS.has(field)) return undefined;
  const isNumber =
    /number|integer/.test(type ?? '') || (values.length > 0 && values.every((value) => typeof value === 'number'));
  if (!isNumber) return undefined;
  // Pods ignores null. The others refuse a blank text for a number.
  const clearWith = /^(acf|meta)\./.test(path) ? null : '';
  return { at: path, as: decimal === undefined ? 'number' : { number: { decimal } }, clearWith };
}

/** How the mapping reads a site field as `field`; undefined if its values do not fit. */
function sourceFor(field: string, fieldType: Field['type'], siteField: SourceField) {
  const { path, values, type } = siteField;
  if (fieldType === 'boolean') {
    const as = inferBoolean(siteField);
    return as === null ? path : as && { at: path, as };
  }
  if (fieldType === 'coordinate') {
    const areNumbers = values.every((value) => value === '' || parseNumber(value) !== undefined);
    if (!areNumbers || !values.some((value) => value !== '')) return undefined;
    return path.startsWith('acf.') ? { at: path, clearWith: null } : path;
  }
  const number = numberSource(field, siteField);
  if (number) return number;
  const isText = (type ?? 'string') === 'string' && values.every((value) => typeof value === 'string');
  if (!isText || !values.every((value) => fits(field, fieldType, String(value)))) return undefined;
  // ACF refuses a blank text where it expects an address, and takes null for "none" in every field.
  if (siteField.readOnly) return { at: path, readOnly: true };
  return path.startsWith('acf.') && (field === 'email' || field === 'website') ? { at: path, clearWith: null } : path;
}

/**
 * How the mapping reads a field that the operator named: by its values. A text holds every form, so a key
 * without values is a text: WordPress shows nothing of `yes` in a key of booleans, and stores a list in a key
 * of lists.
 * @param isLinked whether the kind that the field refers to has records of its own
 */
export function namedSource(
  kind: Kind,
  field: string,
  path: string,
  siteFields: readonly SourceField[],
  isLinked: boolean,
): string | FieldSpec {
  const definition = FIELDS[kind][field];
  const siteField = siteFields.find((each) => each.path === path) ?? { path, type: undefined, values: [] };
  const isText = siteField.values.length === 0 && (siteField.type ?? 'string') === 'string' && path.startsWith('meta.');
  if (kind === 'event' && (field === 'venue' || field === 'organizer')) {
    if (!isLinked) return { embedded: { [field]: path } };
    const as = isText ? ({ ids: 'csv' } as const) : inferIds(siteField)?.as;
    return as === undefined ? path : { at: path, as };
  }
  if (definition?.type === 'boolean' && isText) return { at: path, as: { boolean: ['1', ''] } };
  return (definition && sourceFor(field, definition.type, siteField)) ?? path;
}

function fits(field: string, type: Field['type'], value: string): boolean {
  if (type === 'zone') return parseZone(value) !== undefined;
  if (field === 'website') return /^(https?:\/\/|www\.)|^0$/.test(value);
  return field !== 'email' || value.includes('@');
}
