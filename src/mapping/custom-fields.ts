// Compiles the custom fields of a mapping: values of a site that the API has no field for.

import type { Field } from '../interface/fields.ts';
import { compileField, readOnlyAccessor } from './compile-field.ts';
import type { FieldAccessor } from './field-accessor.ts';
import type { CustomFieldSpec, KindSpec } from './mapping-file.ts';
import { MappingFieldError, parsePath, within } from './paths.ts';

/** As the API presents it: `{ "last_bus": { "label": "Last bus", "value": "19:00" } }` in an event. */
export interface CustomField {
  label: string;
  type: 'text' | 'boolean';
  filter: boolean;
  accessor: FieldAccessor;
}

export type CustomFields = ReadonlyMap<string, CustomField>;

/** `last_bus` -> `Last bus`. */
const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Codecs work on rows of the field table: this one is of a custom field. */
export const customFieldRow = (name: string, spec: string | CustomFieldSpec): Field & { type: 'text' | 'boolean' } => {
  const type = (typeof spec === 'object' && spec.type) || 'text';
  return { property: name, type, empty: type === 'boolean' ? false : '' };
};

/** @throws MappingFieldError */
export function compileCustomFields({ custom_fields = {}, readOnly = false }: KindSpec): CustomFields {
  const fields = Object.entries(custom_fields).map(([name, spec]) =>
    within(`/custom_fields/${name}`, () => {
      // A name has the rules of a path: `constructor`, which every object inherits, breaks them.
      if (!parsePath(name)) throw new MappingFieldError('', 'no request can send this name: choose another');
      const field = customFieldRow(name, spec);
      const { label = labelOf(name), filter = false } = typeof spec === 'object' ? spec : {};
      const compiled = compileField(spec, field);
      const accessor = readOnly ? readOnlyAccessor(compiled) : compiled;
      return [name, { label, type: field.type, filter, accessor }] as const;
    }),
  );
  return new Map(fields);
}
