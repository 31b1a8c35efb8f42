// What `check --write` writes into each field, and how it tells whether that came back.

import { FIELDS, type FieldInfo, REFERS_TO } from '../mapping/fields.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { type Kind, NO_WEBSITE } from '../records.ts';
import type { Records } from './preview.ts';

/** By the names of records.ts. */
export type Values = Record<string, unknown>;

/** What the values are chosen by. */
export interface Trial {
  timezone: string;
  /** What there is to link to. */
  records: Records;
}

/** Fields that are not tried: they say who and when, or change what else is tried. */
const NOT_TRIED = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

/** Begin and end together, since plugins compare them; then every other field by itself. */
export function stepsFor(bench: Trial, kind: KindMapping<Kind>): Values[] {
  const writable = kind.writable as ReadonlySet<string>;
  const dates = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
  const steps: Values[] = [];
  if (kind.kind === 'event') steps.push(Object.fromEntries(Object.entries(dates).filter(([key]) => writable.has(key))));
  for (const [name, info] of Object.entries(FIELDS[kind.kind])) {
    if (!writable.has(info.key) || NOT_TRIED.has(info.key) || info.type === 'wall') continue;
    const value = valueFor(bench, name, info);
    if (value !== undefined) steps.push({ [info.key]: value });
  }
  return steps.filter((step) => Object.keys(step).length > 0);
}

function valueFor(bench: Trial, name: string, info: FieldInfo): unknown {
  switch (info.type) {
    case 'boolean':
      return info.empty !== true;
    case 'zone':
      return bench.timezone === 'Europe/Paris' ? 'Europe/Rome' : 'Europe/Paris';
    case 'ids': {
      const id = linkable(bench, name)?.id;
      return id === undefined ? undefined : [id];
    }
    case 'text':
      if (name === 'website') return 'https://check.example/?a=1';
      if (name === 'email') return 'check@example.org';
      return name === 'cost' ? '12' : 'Check 12';
    case 'html':
      return 'Written by check.';
    default:
      return undefined;
  }
}

function linkable({ records }: Trial, field: string) {
  const kind = REFERS_TO[field];
  const found = kind && records[kind]?.find(({ record }) => !('status' in record) || record.status === 'publish');
  return found?.record;
}

/** Fields of an event that link to records of which there are none. */
export function untriedLinks(bench: Trial, kind: KindMapping<Kind>): string[] {
  if (kind.kind !== 'event') return [];
  const writable = kind.writable as ReadonlySet<string>;
  return Object.keys(REFERS_TO).filter((name) => writable.has(FIELDS.event[name]?.key ?? '') && !linkable(bench, name));
}

/** Empty values for the texts and lists of a step. */
export function emptied(step: Values, kind: KindMapping<Kind>, sound: readonly string[]): Values {
  const clears = Object.entries(FIELDS[kind.kind]).filter(
    ([name, { key, type }]) => key in step && sound.includes(name) && (type === 'text' || type === 'ids'),
  );
  return Object.fromEntries(clears.map(([, { key, empty }]) => [key, empty]));
}

/** The interface's name of a field. */
export function fieldName(kind: Kind, key: string): string {
  return Object.entries(FIELDS[kind]).find(([, info]) => info.key === key)?.[0] ?? key;
}

/** Whether what was read is what was written, as far as the CMS leaves it alone. */
export function same(read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  if (written === '') return read === '' || read === NO_WEBSITE || read === undefined;
  // What the site renders stands between tags.
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}
