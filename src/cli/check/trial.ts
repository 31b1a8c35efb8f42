// The values that `check --write` writes into each field, and how it compares them with what it reads back.

import { objectOrEmpty } from '../../cms/wordpress/rest-api.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { type CalendarRecord, type EventRecord, type Kind, NO_WEBSITE } from '../../model/records.ts';
import type { SampledRecords } from '../samples.ts';

/** By the keys of a record; of a custom field `customFields.NAME`, as in the locations of a mapping. */
export type Values = Record<string, unknown>;

const CUSTOM = 'customFields.';

/** Not tried: they identify the draft, or change which other fields WordPress accepts. */
const SKIPPED_KEYS = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

/**
 * Where WordPress stores the status: a custom field there could publish the draft. The compiler refuses such a
 * field of Payload.
 */
const STATUS = 'status';

/** Written in one call: plugins compare start and end, and one coordinate alone does not name a place. */
export const DRAFT_TIMES: Values = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
const TOGETHER: Readonly<Partial<Record<Kind, Values>>> = {
  event: DRAFT_TIMES,
  venue: { latitude: 52.5, longitude: 13.4 },
};

/** A fraction, an integer for a field that refuses fractions, and one for a field that refuses large numbers. */
const NUMBERS = ['12.5', '12', '1'];
const TEXT = 'Check 12';
/** The currency of the first must survive. A field that holds numbers only stores another text than the second. */
const COSTS = ['12.50 €', '12 - 15'];

export const isNumber = (written: unknown): boolean => NUMBERS.includes(written as string);

/**
 * What to write in one call: the fields of `TOGETHER`, then every other field alone. Of the alternatives of a
 * step, the first that the site does not refuse counts.
 */
export function trialSteps(records: SampledRecords, timezone: string, kindMapping: KindMapping<Kind>): Values[][] {
  const writable = kindMapping.writable as ReadonlySet<string>;
  const together = Object.entries(TOGETHER[kindMapping.kind] ?? {}).filter(([key]) => writable.has(key));
  const steps = together.length > 0 ? [[Object.fromEntries(together)]] : [];
  const addStep = (key: string, values: readonly unknown[]) => steps.push(values.map((value) => ({ [key]: value })));
  for (const [name, field] of Object.entries(FIELDS[kindMapping.kind])) {
    if (!writable.has(field.key) || SKIPPED_KEYS.has(field.key) || together.some(([key]) => key === field.key))
      continue;
    const value = trialValue(records, timezone, name, field);
    if (kindMapping.numeric.has(field.key as never)) addStep(field.key, NUMBERS);
    else if (field.words) addStep(field.key, field.words);
    else if (value !== undefined) addStep(field.key, name === 'cost' ? COSTS : [value]);
  }
  for (const [name, { type, accessor }] of kindMapping.customFields) {
    if (!accessor.write || accessor.location === STATUS) continue;
    // A field may take only some words, such as those of a list of choices.
    const known = records[kindMapping.kind]
      ?.map(({ record }) => recordValue(record, CUSTOM + name))
      .find((value) => value);
    const texts = known === undefined ? [TEXT] : [TEXT, known];
    addStep(CUSTOM + name, type === 'boolean' ? [true] : accessor.isNumeric ? NUMBERS : texts);
  }
  return steps;
}

/** What a mapping writes for the values. */
export function changesOf(values: Values): object {
  const isCustom = ([key]: [string, unknown]) => key.startsWith(CUSTOM);
  const entries = Object.entries(values);
  const custom = entries.filter(isCustom).map(([key, value]) => [key.slice(CUSTOM.length), value]);
  const own = Object.fromEntries(entries.filter((entry) => !isCustom(entry)));
  return custom.length > 0 ? { ...own, customFields: Object.fromEntries(custom) } : own;
}

export const recordValue = (record: CalendarRecord, key: string): unknown =>
  key.startsWith(CUSTOM)
    ? (record as Partial<EventRecord>).customFields?.[key.slice(CUSTOM.length)]
    : Reflect.get(record, key);

function trialValue(records: SampledRecords, timezone: string, name: string, field: Field): unknown {
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
      if (name === 'website' || name === 'online_url') return 'https://check.example/?a=1';
      if (name === 'email') return 'check@example.org';
      if (name === 'phone') return '555-010-0112';
      if (name === 'zip') return '12345';
      return TEXT;
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
export function unlinkableFields(records: SampledRecords, kindMapping: KindMapping<Kind>): string[] {
  if (kindMapping.kind !== 'event') return [];
  const writable = kindMapping.writable as ReadonlySet<string>;
  return Object.entries(FIELDS.event).flatMap(([name, { key, references }]) =>
    references && writable.has(key) && !linkTarget(records, name) ? [name] : [],
  );
}

/** Empty values for the texts and lists of a step that were written. */
export function clearedValues(step: Values, kindMapping: KindMapping<Kind>, writtenFields: readonly string[]): Values {
  const clearable = Object.entries(FIELDS[kindMapping.kind]).filter(
    ([name, { key, type }]) =>
      key in step && writtenFields.includes(name) && (type === 'text' || type === 'word' || type === 'ids'),
  );
  const custom = [...kindMapping.customFields].filter(
    ([name, { type }]) => CUSTOM + name in step && writtenFields.includes(customName(name)) && type === 'text',
  );
  return Object.fromEntries([
    ...clearable.map(([, { key, empty }]) => [key, empty]),
    ...custom.map(([name]) => [CUSTOM + name, '']),
  ]);
}

const customName = (name: string): string => `custom_fields.${name}`;

/** The API's name of a record's key. */
export function fieldNameOf(kind: Kind, key: string): string {
  if (key.startsWith(CUSTOM)) return customName(key.slice(CUSTOM.length));
  return Object.entries(FIELDS[kind]).find(([, field]) => field.key === key)?.[0] ?? key;
}

/** @param name of the field in the API */
export function isSameValue(name: string, read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  if (written === '') return read === '' || read === NO_WEBSITE || read === undefined;
  if (isNumber(written)) return read !== '' && Number(read) === Number(written);
  // Fields for phone numbers store them in the format of the country.
  if (name === 'phone') return digitsOf(read) === digitsOf(written);
  if (name === 'cost' && typeof read === 'string' && typeof written === 'string') return hasMoney(read, written);
  // WordPress adds HTML tags around a text.
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}

/** A value in an API of the plugin as the mapping reads it: of linked records, one or several, the ids. */
export const shownByPlugin = (value: unknown, written: unknown): unknown =>
  Array.isArray(written) ? [value].flat().map((record) => objectOrEmpty(record).id) : value;

/** Amounts and currencies, in their order: `12.50` and `€`, however the site writes the blank between them. */
const moneyIn = (text: string): string[] => text.match(/[\d.,]+|[^\d.,\s–-]+/gu) ?? [];

function hasMoney(read: string, written: string): boolean {
  const found = moneyIn(read);
  return moneyIn(written).every((part) => found.splice(0, found.indexOf(part) + 1).length > 0);
}

const digitsOf = (value: unknown): string => String(value).replace(/\D/g, '');
