// From a mapping file to functions that read and write records.

import { GatewayError } from '../errors.ts';
import { type EventRecord, KINDS, type Kind, type RecordOf, type Site } from '../records.ts';
import { parseWall } from '../time/wall.ts';
import { parseZone, utcToWall, utcZone, wallToUtc } from '../time/zones.ts';
import type { Native } from '../upstream/port.ts';
import { type Access, BadLine } from './access.ts';
import { Unholdable, type Zones } from './codecs.ts';
import { FIELDS, type FieldInfo, REFERS_TO } from './fields.ts';
import { TERM_IDS_FROM } from './fitting.ts';
import { type InlineReader, inlineAccess } from './inline.ts';
import { type Join, type JoinTables, joinedIds, joinOf, storedIds } from './joins.ts';
import { accessOf, coreAccess } from './lines.ts';
import type { KindMapping, Kinds, Mapping } from './mapping.ts';
import { completeEvent, completePost, type PostDefaults, searchTextOf } from './record.ts';
import { checkedSource, type KindSource, type MappingSource, refusal } from './source.ts';

/** A field of a kind, under the interface's name. */
interface Field {
  name: string;
  info: FieldInfo;
  access: Access;
}

/** What only events have. */
interface Extras {
  inline: Record<string, InlineReader>;
  joins: Join[];
}

/**
 * Compiles a mapping. `file` names it in messages. Throws `ConfigError` with the JSON path and the reason: a file that is
 * against the schema, a field that the interface lacks, a required field that is missing, a codec that does not fit.
 */
export function compileMapping(json: unknown, file: string): Mapping {
  const source = checkedSource(json, file);
  const kinds: Partial<Record<Kind, KindMapping<Kind>>> = {};
  for (const kind of KINDS) if (source[kind]) kinds[kind] = compileKind(kind, source, file);
  return {
    name: source.name,
    upstream: source.upstream,
    requiresHelper: source.requiresHelper ?? false,
    source,
    // Each kind was compiled under its own name; the type system cannot follow the loop.
    kinds: kinds as unknown as Kinds,
  };
}

/** Only the companion PHP file shows some `meta` keys: if it is removed, the site describes them no longer, and still hides events by them. */
const isMetaPath = (path: string): boolean => path.startsWith('meta.');

function compileKind(kind: Kind, mapping: MappingSource, file: string): KindMapping<Kind> {
  const source = mapping[kind] as KindSource;
  const extras: Extras = { inline: {}, joins: [] };
  const { inline, joins } = extras;
  const fields = compileFields(kind, mapping, file, extras);
  const writable = fields.filter((field) => field.access.write && !field.info.derived && !source.readOnly);
  const as = source.terms === undefined ? 'posts' : 'terms';
  const type = mapping.wordpress?.posts?.[source.posts ?? ''];
  const draftDates = mapping.requiresHelper === true && type !== undefined && !type.existing;
  const defaults = { excerpt: source.fields?.excerpt === undefined, draftDates };
  const read = readerOf(kind, as, fields, defaults, joins);
  return {
    kind,
    base: source.posts ?? source.terms ?? '',
    as,
    readOnly: source.readOnly ?? false,
    ...(source.context ? { context: source.context } : {}),
    listParams: source.listParams ?? {},
    statuses: source.statuses ?? [],
    dedupe: source.dedupe ?? false,
    select: selectOf(kind, as, fields, mapping),
    needs: fields.flatMap(({ info, access }) =>
      info.required ? access.select : info.key === 'hidden' ? access.select.filter(isMetaPath) : [],
    ),
    touchAfterCreate: source.touchAfterCreate ?? [],
    writable: new Set(writable.map((field) => field.info.key)) as KindMapping<Kind>['writable'],
    places: new Map(writable.map((field) => [field.info.key, field.access.place])) as KindMapping<Kind>['places'],
    ...(Object.keys(inline).length > 0 ? { inline } : {}),
    ...(joins.length > 0 ? { joins } : {}),
    read,
    ...writerOf(fields, writable, read, joins),
  } as KindMapping<Kind>;
}

function compileFields(kind: Kind, mapping: MappingSource, file: string, extras: Extras): Field[] {
  const source = mapping[kind] as KindSource;
  const table = FIELDS[kind];
  for (const name of Object.keys(source.fields ?? {}))
    if (!Object.hasOwn(table, name))
      throw refusal(
        file,
        `/${kind}/fields/${name}`,
        `the interface has no such field of ${article(kind)} ${kind}`,
        `Its fields are: ${Object.keys(table).join(', ')}.`,
      );
  const fields: Field[] = [];
  for (const [name, info] of Object.entries(table)) {
    const place = `/${kind}/fields/${name}`;
    const line = source.fields?.[name];
    try {
      const refersTo = kind === 'event' ? REFERS_TO[name] : undefined;
      if (typeof line === 'object' && line.inline) {
        if (refersTo !== 'venue' && refersTo !== 'organizer')
          throw new BadLine('/inline', 'only a venue or an organizer can lie inside an event');
        const made = inlineAccess(refersTo, line.inline);
        extras.inline[refersTo] = made.reader;
        fields.push({ name, info, access: made.access });
        continue;
      }
      const linked = refersTo && mapping[refersTo];
      if (line !== undefined && refersTo && !linked)
        throw new BadLine('', `the mapping does not say where ${article(refersTo)} ${refersTo} is: add "${refersTo}"`);
      if (typeof line === 'object' && line.via) {
        if (refersTo !== 'venue' && refersTo !== 'organizer')
          throw new BadLine('/via', 'only a venue or an organizer is found by another key');
        extras.joins.push(joinOf(refersTo, line.via));
      }
      const core = source.terms === undefined ? info.post : info.term;
      const moves = linked?.terms !== undefined && (refersTo === 'venue' || refersTo === 'organizer');
      const isJoined = typeof line === 'object' && line.via !== undefined;
      if (line !== undefined) {
        const access = accessOf(line, info);
        fields.push({ name, info, access: moves && !isJoined ? movedIds(access) : access });
      } else if (linked?.terms !== undefined) {
        const access = accessOf(lastPart(linked.terms), info);
        fields.push({ name, info, access: moves ? movedIds(access) : access });
      } else if (core) fields.push({ name, info, access: coreAccess(info, core) });
      else if (info.required) throw new BadLine('', 'is required: say where it is');
    } catch (error) {
      if (error instanceof BadLine) throw refusal(file, place + error.below, error.message);
      throw error;
    }
  }
  return fields;
}

/** Ids of terms that stand for venues or organizers, which have ids of their own in the interface (fitting.ts). */
function movedIds(access: Access): Access {
  const { read, write } = access;
  const moved = (ids: unknown, by: number) => (ids as readonly number[]).map((id) => id + by);
  return {
    ...access,
    read: (native, zones) => moved(read(native, zones) ?? [], TERM_IDS_FROM),
    ...(write ? { write: (ids, target) => write(moved(ids, -TERM_IDS_FROM), target) } : {}),
  };
}

function article(kind: Kind): string {
  return /^[aeo]/.test(kind) ? 'an' : 'a';
}

/** A collection may lie under a namespace of its own; posts name their terms by the last part. */
function lastPart(base: string): string {
  return base.split('/').at(-1) ?? base;
}

function readerOf(kind: Kind, as: 'posts' | 'terms', fields: Field[], defaults: PostDefaults, joins: Join[]) {
  const zoneField = fields.find((field) => field.name === 'timezone');
  return (native: Native, site: Site, tables: JoinTables = {}): RecordOf[Kind] => {
    const record: Record<string, unknown> = {
      kind,
      id: typeof native.id === 'number' ? native.id : Number(native.id) || 0,
    };
    for (const info of Object.values(FIELDS[kind])) record[info.key] = Array.isArray(info.empty) ? [] : info.empty;
    // What no mapping says of a tag, but a record of it has.
    if (kind === 'tag') record.parent = 0;
    const zones = zonesOf(zoneField, native, site);
    for (const { info, access } of fields) {
      const value = access.read(native, zones);
      if (value !== undefined) record[info.key] = value;
    }
    for (const { field } of joins) record[field] = joinedIds(record[field] as number[], tables[field]);
    if (as === 'posts') completePost(record, native, defaults);
    const whole = record as unknown as RecordOf[Kind];
    if (whole.kind === 'event') completeEvent(whole as EventRecord, site);
    if (kind !== 'category' && kind !== 'tag') record.searchText = searchTextOf(kind, whole, native);
    return whole;
  };
}

function zonesOf(zoneField: Field | undefined, native: Native | undefined, site: Site): Zones {
  const zones = { event: site.timezone, site: site.timezone };
  const stored = native && zoneField?.access.read(native, zones);
  return typeof stored === 'string' && stored !== '' ? { event: stored, site: site.timezone } : zones;
}

function writerOf(
  fields: Field[],
  writable: Field[],
  read: (native: Native, site: Site) => RecordOf[Kind],
  joins: Join[],
) {
  const zoneField = fields.find((field) => field.name === 'timezone');
  const ownZone = writable.includes(zoneField as Field);
  const dates = writable.filter((field) => field.info.type === 'wall');
  const instants = dates.filter((field) => field.access.needsZone);

  const write = (
    fields: object,
    { site, before, joins: tables }: { site: Site; before?: Native; joins?: JoinTables },
  ): Native => {
    const values: Record<string, unknown> = { ...fields };
    const stored = zonesOf(zoneField, before, site);
    const asked = typeof values.timezone === 'string' && values.timezone !== '' ? values.timezone : stored.event;
    const zones: Zones = { event: ownZone ? asked : stored.event, site: site.timezone };
    if (ownZone && 'timezone' in values && before) {
      // Another zone keeps the clock time: where an instant is stored, it has to be stored anew.
      const now = read(before, site) as unknown as Record<string, unknown>;
      for (const { info } of instants) if (!(info.key in values)) values[info.key] = now[info.key];
    }
    const wholeDays = values.allDay ?? (before && (read(before, site) as Partial<EventRecord>).allDay);
    if (!ownZone && asked !== zones.event && !wholeDays)
      // The CMS knows one zone only: the instant is kept, on its clock. Days are days in every zone.
      for (const { info } of dates) values[info.key] = onClockOf(zones, values[info.key], asked);
    const body: Native = {};
    for (const { name, info, access } of writable) {
      const value = values[info.key];
      if (value === undefined) continue;
      try {
        access.write?.(joined(info.key, value, tables), { body, before, zones });
      } catch (error) {
        if (error instanceof Unholdable) throw refusedValue(name, error);
        throw error;
      }
    }
    return body;
  };

  const joined = (key: string, value: unknown, tables: JoinTables | undefined): unknown => {
    const join = joins.find(({ field }) => field === key);
    if (!join) return value;
    const stored = storedIds(value as number[], tables?.[join.field]);
    if (!stored) throw new Unholdable(`the CMS cannot link this ${join.kind} (is it published?)`);
    return stored;
  };

  const mergesInto = (fields: object): boolean => {
    const sent = (field: Field): boolean => Object.hasOwn(fields, field.info.key);
    if (writable.some((field) => field.access.merges && sent(field))) return true;
    if (!zoneField || instants.length === 0) return false;
    return sent(zoneField) ? !instants.every(sent) : instants.some(sent);
  };

  return { write, mergesInto };
}

function onClockOf(zones: Zones, wall: unknown, asked: string): unknown {
  const from = parseZone(asked);
  if (typeof wall !== 'string' || parseWall(wall) === undefined || !from) return wall;
  return utcToWall(wallToUtc(wall, from), parseZone(zones.event) ?? parseZone(zones.site) ?? utcZone);
}

function refusedValue(name: string, error: Unholdable): GatewayError {
  return new GatewayError(400, 'rest_invalid_param', `Invalid parameter(s): ${name}`, {
    data: { params: { [name]: `${error.message}.` } },
    cause: error,
  });
}

/** What a search and the rules of excerpts look at, beside the fields. */
const POST_SELECT = ['id', 'type', 'title.raw', 'content.raw', 'excerpt.raw'];

function selectOf(kind: Kind, as: 'posts' | 'terms', fields: Field[], mapping: MappingSource): string {
  const own = as === 'posts' ? POST_SELECT : kind === 'category' || kind === 'tag' ? ['id', 'count'] : ['id'];
  // The key by which events name a record of this kind is read with it.
  const names = Object.keys(REFERS_TO).filter((name) => REFERS_TO[name] === kind);
  const keys = names.flatMap((name) => {
    const line = mapping.event.fields?.[name];
    return typeof line === 'object' && line.via?.key !== undefined ? [line.via.key] : [];
  });
  const all = [...own, ...fields.flatMap((field) => field.access.select), ...keys];
  // WordPress leaves a term's `meta` out when only a key of it is asked for; a post's it cuts down to that key.
  return [...new Set(as === 'posts' ? all : all.map((path) => path.split('.', 1)[0]))].join(',');
}
