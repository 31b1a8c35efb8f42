// Custom fields in requests and responses: which ones the mapping has, and which values they accept.

import { invalidParam } from '../interface/errors.ts';
import { parseBoolean } from '../interface/value-types.ts';
import type { CustomField, CustomFields } from '../mapping/custom-fields.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { PostKind, PostRecord } from '../model/records.ts';

const NAME = 'custom_fields';

const customFieldsOf = ({ kinds }: Mapping, kind: PostKind): CustomFields => kinds[kind]?.customFields ?? new Map();

/**
 * The values that a body sets, by name; an empty text and null remove one. A value may have the form of a response,
 * `{ label, value }`. Undefined if it sets none, or if the mapping has no custom fields: the original ignores them.
 */
export function writtenCustomFields(mapping: Mapping, kind: PostKind, sent: unknown): PostRecord['customFields'] {
  const fields = customFieldsOf(mapping, kind);
  // Responses show an empty list for none.
  if (fields.size === 0 || sent === undefined || sent === null || sent === '') return undefined;
  if (Array.isArray(sent) && sent.length === 0) return undefined;
  if (!isObject(sent)) throw invalidParam(NAME, 'It must be an object of values by name.');
  const values = Object.entries(sent).map(([name, item]) => {
    const field = fields.get(name);
    if (!field) throw invalidParam(NAME, `There is no custom field "${name}".`);
    if (!field.accessor.write) throw invalidParam(NAME, `The custom field "${name}" cannot be written.`);
    return [name, parseValue(name, field, isObject(item) ? item.value : item)] as const;
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

function parseValue(name: string, { type }: CustomField, value: unknown): string | boolean {
  if (type === 'boolean') {
    const flag = value === null || value === '' ? false : parseBoolean(value);
    if (flag === undefined) throw invalidParam(NAME, `"${name}" must be true or false.`);
    return flag;
  }
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number') throw invalidParam(NAME, `"${name}" must be a text.`);
  return String(value);
}

/** The condition of `custom_fields[name]=value` in a list; undefined if it was not sent. */
export function customFieldCondition(mapping: Mapping, kind: PostKind, sent: unknown) {
  if (sent === undefined) return undefined;
  const condition: Record<string, string> = {};
  for (const [name, text] of Object.entries(sent as Record<string, string>)) {
    const field = customFieldsOf(mapping, kind).get(name);
    if (!field?.filter) throw invalidParam(NAME, `No list filters by the custom field "${name}".`);
    condition[name] = String(parseValue(name, field, text));
  }
  return condition;
}

/** The custom fields as responses show them, in the order of the mapping. Undefined without any. */
export function shownCustomFields(mapping: Mapping, { kind, customFields = {} }: PostRecord): JsonObject | undefined {
  const shown = [...customFieldsOf(mapping, kind)].flatMap(([name, { label }]) =>
    name in customFields ? [[name, { label, value: customFields[name] }] as const] : [],
  );
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}
