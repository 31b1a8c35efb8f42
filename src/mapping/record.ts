// Whole records: what the single fields of a native record amount to, and the text that searches look into.

import { type CalendarRecord, type EventRecord, type Kind, NO_TIME, type Site, type WallTime } from '../records.ts';
import { endOfDay, parseWall, startOfDay } from '../time/wall.ts';
import { parseZone, utcZone, wallToUtc } from '../time/zones.ts';
import type { Native } from '../upstream/port.ts';
import { FIELDS } from './fields.ts';
import { valueAt } from './paths.ts';

const NEVER_PUBLISHED = new Set(['draft', 'pending', 'auto-draft']);

export interface PostDefaults {
  /** Whether the excerpt is the CMS's own. */
  excerpt: boolean;
  /** Whether the UTC date of a draft can be believed: WordPress makes one up where there is none, unless the snippet sees to it. */
  draftDates: boolean;
}

/** What the fields of a post alone do not say (interface-behaviour 1.1): changed in place. */
export function completePost(record: Record<string, unknown>, native: Native, defaults: PostDefaults): void {
  if (!defaults.draftDates && NEVER_PUBLISHED.has(String(record.status))) record.dateUtc = NO_TIME;
  // Where the source of the excerpt is shown and blank, the rendered one was generated from the content.
  const raw = valueAt(native, ['excerpt', 'raw']);
  if (defaults.excerpt && typeof raw === 'string' && raw.trim() === '') record.excerpt = '';
}

/** Whole days, a missing end, the zone that is meant when none is stored, and the times in UTC: changed in place. */
export function completeEvent(event: EventRecord, site: Site): void {
  if (event.timezone === '') event.timezone = site.timezone;
  if (event.end === '') event.end = event.start;
  if (event.allDay && event.start !== '') {
    event.start = startOfDay(event.start);
    event.end = endOfDay(event.end);
  }
  event.startUtc = inUtc(event.start, event.timezone, site);
  event.endUtc = inUtc(event.end, event.timezone, site);
}

function inUtc(wall: WallTime, zone: string, site: Site): WallTime {
  if (parseWall(wall) === undefined) return '';
  return wallToUtc(wall, parseZone(zone) ?? parseZone(site.timezone) ?? utcZone);
}

/**
 * The text of a post that is searched: its sources where they are shown, else as rendered, and the fields that count as text. Of a
 * protected post only what everybody is shown of it, or a search would tell the rest word by word: an event's title; of a venue or
 * organizer, whose name is blanked too, the slug.
 */
export function searchTextOf(kind: Kind, record: CalendarRecord, native: Native): string {
  const fields = record as unknown as Record<string, unknown>;
  if (fields.protected === true) {
    return kind === 'event' ? titleOf(String(fields.title ?? ''), native) : slugText(String(fields.slug ?? ''));
  }
  const names = ['title', 'content', 'excerpt'];
  const raw = names.map((name) => valueAt(native, [name, 'raw']));
  const texts = raw.every((text) => typeof text === 'string')
    ? names.flatMap((name, n) => sourceTexts(String(raw[n]), valueAt(native, [name, 'rendered'])))
    : ['title', 'description', 'excerpt'].map((key) => plainText(String(fields[key] ?? '')));
  for (const info of Object.values(FIELDS[kind])) if (info.searched) texts.push(String(fields[info.key] ?? ''));
  return texts.filter((text) => text !== '').join('\n');
}

function titleOf(rendered: string, native: Native): string {
  const raw = valueAt(native, ['title', 'raw']);
  return typeof raw === 'string' ? raw : plainText(rendered);
}

/** A slug as it reads: letters beyond ASCII are percent-encoded in it. */
function slugText(slug: string): string {
  try {
    return decodeURIComponent(slug);
  } catch {
    return slug;
  }
}

/** A source is searched as it was typed. What is equal to its rendering may be a rendering (public-view.ts), which has entities. */
const sourceTexts = (raw: string, rendered: unknown): string[] =>
  raw === rendered ? [...new Set([raw, plainText(raw)])] : [raw];

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
};

const TYPOGRAPHY: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '′': "'",
  '″': '"',
  '–': '--',
  '—': '--',
  '…': '...',
  '×': 'x',
};

/** Rendered HTML without entities; where WordPress' typography changed what was typed, the typed form follows. */
export function plainText(html: string): string {
  const decoded = html.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  const typed = decoded.replace(/[‘’“”′″–—…×]/g, (sign) => TYPOGRAPHY[sign] ?? sign);
  return typed === decoded ? decoded : `${decoded}\n${typed}`;
}
