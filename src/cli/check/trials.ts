// What `check --write` writes into each field, and whether what comes back is the same value.

import { FIELDS, type Field } from '../../interface/fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { objectOrEmpty, valueIn } from '../../model/json.ts';
import { type CalendarRecord, type Kind, NO_WEBSITE } from '../../model/records.ts';
import type { RecordsByKind } from '../open-site.ts';

export interface TrialField {
  /** In the API: `all_day`, `custom_fields.seats`. */
  name: string;
  /** In the record: `allDay`, `customFields.seats`. */
  property: string;
  /** Tried in turn until the site accepts one. A field with fewer values than another then gets its first again. */
  values: readonly unknown[];
  /** Written after the value; for a flag the other value. Undefined for a field that is not cleared, such as a date. */
  empty: unknown;
}

/** Fields that identify the draft, change what else WordPress accepts (`status`), or need an upload or a `parent`. */
const SKIPPED = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

/** Written in one call: plugins compare start and end, and one coordinate alone does not name a place. */
export const DRAFT_TIMES = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
const TOGETHER: Readonly<Record<string, unknown>> = { ...DRAFT_TIMES, latitude: 52.5, longitude: 13.4 };

/** A fraction; an integer for a field that refuses fractions; `1` for a field that refuses large numbers. */
const NUMBERS = ['12.5', '12', '1'];
const TEXT = 'Check 12';
/** The site must keep the currency of the first. A field that can hold only numbers changes the second. */
const COSTS = ['12.50 €', '12 - 15'];

/** The fields of each call: those of `TOGETHER`, then every other field alone. */
export function trialSteps(
  records: RecordsByKind,
  timezone: string,
  kindMapping: KindMapping<Kind>,
): readonly TrialField[][] {
  const fields = [...apiFields(records, timezone, kindMapping), ...customFieldsOf(records, kindMapping)];
  const together = fields.filter(({ property }) => property in TOGETHER);
  const alone = fields.filter(({ property }) => !(property in TOGETHER));
  return [...(together.length > 0 ? [together] : []), ...alone.map((field) => [field])];
}

function apiFields(
  records: RecordsByKind,
  timezone: string,
  { kind, writable, storedAsNumber }: KindMapping<Kind>,
): TrialField[] {
  return Object.entries(FIELDS[kind]).flatMap(([name, field]) => {
    const { property } = field;
    if (!(writable as ReadonlySet<string>).has(property) || SKIPPED.has(property)) return [];
    const numbers = [...NUMBERS, ...knownValue(records, kind, property)];
    const values = storedAsNumber.has(property) ? numbers : trialValues(records, timezone, name, field);
    return values.length === 0 ? [] : [{ name, property, values, empty: emptyOf(field, values[0]) }];
  });
}

function emptyOf({ type, empty }: Field, value: unknown): unknown {
  if (type === 'boolean') return !value;
  return type === 'text' || type === 'word' || type === 'ids' ? empty : undefined;
}

function customFieldsOf(records: RecordsByKind, { kind, customFields }: KindMapping<Kind>): TrialField[] {
  return [...customFields].flatMap(([key, { type, accessor }]): TrialField[] => {
    // In WordPress's `status` a custom field could publish the draft. The compiler refuses such a field of Payload.
    if (!accessor.write || accessor.storedPaths.includes('status')) return [];
    const [name, property] = [`custom_fields.${key}`, `customFields.${key}`];
    if (type === 'boolean') return [{ name, property, values: [true], empty: undefined }];
    const first = accessor.isStoredAsNumber ? NUMBERS : [TEXT];
    return [{ name, property, values: [...first, ...knownValue(records, kind, property)], empty: '' }];
  });
}

/** A value of a record: a field may take only some words, or numbers from 100 on. '', 0 and false prove nothing. */
const knownValue = (records: RecordsByKind, kind: Kind, property: string): unknown[] =>
  (records[kind] ?? []).flatMap(({ record }) => valueIn(record, property.split('.')) || []).slice(0, 1);

/** The values to try; none for a field of links without a record to link to. */
function trialValues(records: RecordsByKind, timezone: string, name: string, field: Field): readonly unknown[] {
  const { property, type, empty, words } = field;
  if (property in TOGETHER) return [TOGETHER[property]];
  if (words) return words;
  if (name === 'cost') return COSTS;
  if (type === 'boolean') return [empty !== true];
  if (type === 'zone') return [timezone === 'Europe/Paris' ? 'Europe/Rome' : 'Europe/Paris'];
  if (type === 'text') return [TEXTS[name] ?? TEXT];
  if (type === 'html') return ['Written by check.'];
  const target = type === 'ids' ? linkTarget(records, name) : undefined;
  return target ? [[target.id]] : [];
}

const TEXTS: Readonly<Record<string, string>> = {
  website: 'https://check.example/?a=1',
  online_url: 'https://check.example/?a=1',
  email: 'check@example.org',
  phone: '555-010-0112',
  zip: '12345',
};

/** A published record that a field may link to. */
function linkTarget(records: RecordsByKind, field: string): CalendarRecord | undefined {
  const kind = FIELDS.event[field]?.targetKind;
  return kind && records[kind]?.find(({ record }) => !('status' in record) || record.status === 'publish')?.record;
}

/**
 * Whether the site shows what was written. `name`: of the field in the API. True for
 *
 *   field    written            read
 *   any      [12]               [12]
 *   any      ''                 '', undefined, or the sign for "no website"
 *   any      '12.5'             12.5 or '12.50'
 *   phone    '555-010-0112'     '(555) 010-0112', the format of the country
 *   cost     '12 - 15'          '€12 – €15'
 *   any      'Check 12'         '<p>Check 12</p>': WordPress adds tags
 */
export function isSameValue(name: string, read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  if (written === '') return read === '' || read === NO_WEBSITE || read === undefined;
  if (NUMBERS.includes(written as string)) return read !== '' && Number(read) === Number(written);
  if (name === 'phone') return digitsOf(read) === digitsOf(written);
  if (name === 'cost' && typeof read === 'string' && typeof written === 'string') return hasMoney(read, written);
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}

/** What the plugin's API shows, in the form that was written: `{ id: 12 }` or `[{ id: 12 }]` for venues is `[12]`. */
export const shownByPlugin = (value: unknown, written: unknown): unknown =>
  Array.isArray(written) ? [value].flat().map((record) => objectOrEmpty(record).id) : value;

/** Amounts and currencies: `12.50` and `€`, however the site writes the blank between them. */
const moneyIn = (text: string): string[] => text.match(/[\d.,]+|[^\d.,\s–-]+/gu) ?? [];

/** Whether all that was written is there: of `12 - 15`, `€12 – €15` has both amounts. */
function hasMoney(read: string, written: string): boolean {
  const found = moneyIn(read);
  return moneyIn(written).every((part) => found.includes(part));
}

const digitsOf = (value: unknown): string => String(value).replace(/\D/g, '');
