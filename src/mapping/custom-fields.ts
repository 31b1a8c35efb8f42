// Custom fields: values of a site that the API has no field for, which a mapping names under `custom_fields`.

import type { Field } from '../interface/fields.ts';
import { compileField } from './compile-field.ts';
import type { FieldAccessor } from './field-accessor.ts';
import type { CustomFieldSpec, FieldSpec } from './mapping-file.ts';

/** A custom field as the API presents it. */
export interface CustomField {
  /** Its name for people. */
  label: string;
  type: 'text' | 'boolean';
  /** Lists filter by it. */
  filter: boolean;
  accessor: FieldAccessor;
}

export type CustomFields = ReadonlyMap<string, CustomField>;

/** `door_time` -> `Door time`. */
const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The field by which codecs know a custom field. */
export const customFieldType = (name: string, spec: string | CustomFieldSpec): Field & { type: 'text' | 'boolean' } => {
  const type = (typeof spec === 'object' && spec.type) || 'text';
  return { key: name, type, empty: type === 'boolean' ? false : '' };
};

/** @throws MappingFieldError */
export function compileCustomField(name: string, spec: string | CustomFieldSpec): CustomField {
  const field = customFieldType(name, spec);
  const { label = labelOf(name), filter = false } = typeof spec === 'object' ? spec : {};
  return { label, type: field.type, filter, accessor: compileField(locationOf(spec), field) };
}

/** Where a custom field is, as a mapping says it of the fields of the API. */
export function locationOf(spec: string | CustomFieldSpec): string | FieldSpec {
  if (typeof spec === 'string') return spec;
  const { label: _label, filter: _filter, type: _type, ...location } = spec;
  return location;
}
