// The values that `check --write` writes into each field, and how it compares them with what it reads back.

import { FIELDS, type Field } from '../../interface/fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { type CalendarRecord, type Kind, NO_WEBSITE } from '../../model/records.ts';
import type { SampledRecords } from '../sample-records.ts';

/** By the keys of a record. */
export type Values = Record<string, unknown>;

/** Not tried: they identify the draft, or change which other fields WordPress accepts. */
const SKIPPED_KEYS = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

/** Written in one call: plugins compare start and end, and one coordinate alone is none. */
export const DRAFT_TIMES: Values = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
const TOGETHER: Readonly<Partial<Record<Kind, Values>>> = {
  event: DRAFT_TIMES,
  venue: { latitude: 52.5, longitude: 13.4 },
};

/** What to write in one call: the fields of `TOGETHER`, then every other field alone. */
export function trialSteps(records: SampledRecords, timezone: string, kind: KindMapping<Kind>): Values[] {
  const writable = kind.writable as ReadonlySet<string>;
  const together = TOGETHER[kind.kind] ?? {};
  const steps: Values[] = [Object.fromEntries(Object.entries(together).filter(([key]) => writable.has(key)))];
  for (const [name, field] of Object.entries(FIELDS[kind.kind])) {
    if (!writable.has(field.key) || SKIPPED_KEYS.has(field.key) || Object.hasOwn(together, field.key)) continue;
    const value = trialValue(kind, records, timezone, name, field);
    if (value !== undefined) steps.push({ [field.key]: value });
  }
  return steps.filter((step) => Object.keys(step).length > 0);
}

function trialValue(
  kind: KindMapping<Kind>,
  records: SampledRecords,
  timezone: string,
  name: string,
  field: Field,
): unknown {
  switch (field.type) {
    case 'boolean':
      return field.empty !== true;
    case 'zone':
      return timezone === 'Europe/Paris' ? 'Europe/Rome' : 'Europe/Paris';
    case 'ids': {
      const target = linkTarget(records, name);
      return target && [target.id];
    }
    case 'text':
      if (name === 'website') return 'https://check.example/?a=1';
      if (name === 'email') return 'check@example.org';
      if (name === 'phone') return '555-010-0112';
      if (name === 'zip') return '12345';
      // A field that holds numbers only stores another text than this range.
      if (name === 'cost') return kind.numeric.has(field.key) ? '12.5' : '12 - 15';
      return 'Check 12';
    case 'html':
      return 'Written by check.';
    default:
      return undefined;
  }
}

/** A published record that a field may link to. */
function linkTarget(records: SampledRecords, field: string): CalendarRecord | undefined {
  const kind = FIELDS.event[field]?.references;
  return kind && records[kind]?.find(({ record }) => !('status' in record) || record.status === 'publish')?.record;
}

/** Fields of an event that have no record to link to. */
export function unlinkableFields(records: SampledRecords, kind: KindMapping<Kind>): string[] {
  if (kind.kind !== 'event') return [];
  const writable = kind.writable as ReadonlySet<string>;
  return Object.entries(FIELDS.event).flatMap(([name, { key, references }]) =>
    references && writable.has(key) && !linkTarget(records, name) ? [name] : [],
  );
}

/** Empty values for the texts and lists of a step that were written. */
export function clearedValues(step: Values, kind: KindMapping<Kind>, writtenFields: readonly string[]): Values {
  const clearable = Object.entries(FIELDS[kind.kind]).filter(
    ([name, { key, type }]) => key in step && writtenFields.includes(name) && (type === 'text' || type === 'ids'),
  );
  return Object.fromEntries(clearable.map(([, { key, empty }]) => [key, empty]));
}

/** The API's name of a record's key. */
export function fieldNameOf(kind: Kind, key: string): string {
  return Object.entries(FIELDS[kind]).find(([, field]) => field.key === key)?.[0] ?? key;
}

/** @param name of the field in the API */
export function isSameValue(name: string, read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  if (written === '') return read === '' || read === NO_WEBSITE || read === undefined;
  // Fields for phone numbers store them in the format of the country.
  if (name === 'phone') return digitsOf(read) === digitsOf(written);
  // WordPress adds HTML tags around a text.
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}

const digitsOf = (value: unknown): string => String(value).replace(/\D/g, '');
