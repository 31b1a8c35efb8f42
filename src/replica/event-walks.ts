// Which index or table to walk for an event list, and the conditions on the rows met there.

import type { Database } from './database.ts';
import type { DateBound, EventCondition, EventFilter, SearchWord } from './filters.ts';
import { fold, reference, referenceBit, secondsBefore, wallNumber } from './fold.ts';
import { ROLE, type Role } from './schema.ts';
import { containsWords, every, type Fragment, join, listed, piece, type Sight, sights, visible } from './sql.ts';

/** More walks than this are one walk over all their targets, sorted afterwards. */
const MAX_WALKS = 48;

/** One way along a table or index: rows `b` with id, starts and posted. */
export interface Walk {
  from: string;
  where: Fragment;
  /** What the events met are those of, when the filter has several such. */
  target?: number;
}

export interface Walks {
  walks: Walk[];
  /** The relation by which an event can be met twice, its largest target first. */
  repeats?: Relation;
}

export interface Relation {
  role: Role;
  targets: number[];
}

/** Inclusive bounds on the start and end of an event. */
export interface Range {
  startsFrom: number;
  startsTo: number;
  endsFrom: number;
  endsTo: number;
}

const MAX_WALL = 99_991_231_235_959;

/** All bounds as one range: the narrowest of each side. */
export function rangeOf(bounds: readonly DateBound[] = []): Range {
  const range: Range = { startsFrom: 0, startsTo: MAX_WALL, endsFrom: 0, endsTo: MAX_WALL };
  for (const { field, op, wall } of bounds) {
    // Wall numbers are whole: after 10:00:00 is from 10:00:01 on, before it until 9:99:99, also where that is no time on a clock.
    const value = wallNumber(wall) + (op === '>' ? 1 : op === '<' ? -1 : 0);
    const name = `${field}s${op.startsWith('>') ? 'From' : 'To'}` as keyof Range;
    range[name] = name.endsWith('From') ? Math.max(range[name], value) : Math.min(range[name], value);
  }
  return range;
}

function within({ startsFrom, startsTo, endsFrom, endsTo }: Range): Fragment[] {
  const pieces: Fragment[] = [];
  if (startsFrom > 0) pieces.push(piece('b.starts >= ?', startsFrom));
  if (startsTo < MAX_WALL) pieces.push(piece('b.starts <= ?', startsTo));
  if (endsFrom > 0) pieces.push(piece('b.ends >= ?', endsFrom));
  if (endsTo < MAX_WALL) pieces.push(piece('b.ends <= ?', endsTo));
  return pieces;
}

/** What every walk needs to know of all events; the same until something changes. */
export interface Facts {
  /** The longest duration that is not odd. */
  longestSeconds: number;
  /** Between which starts the odd events lie; undefined when there are none. */
  odd: [number, number] | undefined;
  /** The last start of those that end before they start; 0 when there are none. */
  lastBackward: number;
}

/** Reads them; they hold until something changes. */
export function factsOf(db: Database): Facts {
  const sql = `SELECT value, first, last, lastBackward FROM meta, (SELECT min(starts) AS first, max(starts) AS last,
    ifnull(max(starts) FILTER (WHERE ends < starts), 0) AS lastBackward
    FROM event INDEXED BY event_odd WHERE odd = 1) WHERE key = 'longest_s'`;
  const row = db.get<{ value: string; first: number | null; last: number | null; lastBackward: number }>(sql);
  const odd: Facts['odd'] = row?.first == null || row.last === null ? undefined : [row.first, row.last];
  return { longestSeconds: Number(row?.value), odd, lastBackward: row?.lastBackward ?? 0 };
}

/** Whether odd events can start within the range and yet outside the span that bounds on the end leave of it. */
function oddOutside(
  { odd, lastBackward }: Facts,
  { startsFrom, startsTo }: Range,
  [from, to]: [number, number],
): boolean {
  if (!odd) return false;
  const [first, last] = odd;
  const before = startsFrom < from && first < from && last >= startsFrom;
  // Who starts after the last end that is asked for, and yet ends by then, ends before it starts.
  return before || (startsTo > to && lastBackward > to && first <= startsTo);
}

/** What the bounds on the end say about the start, for an event that is not odd. */
export function narrowed(range: Range, longestSeconds: number): Range {
  return {
    ...range,
    startsFrom: Math.max(range.startsFrom, range.endsFrom > 0 ? secondsBefore(range.endsFrom, longestSeconds) : 0),
    startsTo: Math.min(range.startsTo, range.endsTo),
  };
}

/** The event of row `b` of `event` refers to one of the targets: a look at the primary key of `event_link`, of which `b` knows every part. */
function refersTo({ role, targets }: Relation): Fragment {
  const list = listed(targets);
  return piece(
    `EXISTS (SELECT 1 FROM event_link m WHERE m.role = ${ROLE[role]} AND m.target IN ${list.sql} AND m.hidden = b.hidden
      AND m.status = b.status AND m.starts = b.starts AND m.posted = b.posted AND m.id = b.id)`,
    ...list.values,
  );
}

/** The same of a row of `event_link`, which says itself what its event refers to. */
export function alsoRefersTo({ role, targets }: Relation): Fragment {
  const looks = targets.map((target) => {
    const names = [referenceBit(ROLE[role], target), reference(ROLE[role], target)];
    return piece('b.bits & ? AND instr(b.refs, ?) > 0', ...names);
  });
  return enclosed(join(looks, ' OR '));
}

const enclosed = ({ sql, values }: Fragment): Fragment => piece(`(${sql})`, ...values);

const TARGETS = {
  category: ({ categories }) => categories,
  tag: ({ tags }) => tags,
  venue: ({ venues }) => venues,
  organizer: ({ organizers }) => organizers,
} satisfies Record<Role, (filter: EventFilter) => number[] | undefined>;

/** What a filter wants events to refer to, each target once: one of each relation. */
export function relationsOf(filter: EventFilter): Relation[] {
  return (Object.keys(TARGETS) as Role[]).flatMap((role) => {
    const targets = TARGETS[role](filter);
    return targets ? [{ role, targets: [...new Set(targets)] }] : [];
  });
}

interface SizedRelation extends Relation {
  /** Events of each target, and of all of them. */
  sizes: ReadonlyMap<number, number>;
  events: number;
}

/** The relation with the fewest events first, it is the one to walk; of its targets the one with the most first. */
function smallestFirst(db: Database, relations: Relation[]): SizedRelation[] {
  const sized = relations.map(({ role, targets }) => {
    const sql = `SELECT target, sum(events) AS events FROM tally
      WHERE role = ${ROLE[role]} AND target IN (SELECT value FROM json_each(?)) GROUP BY target`;
    const rows = db.all<{ target: number; events: number }>(sql, JSON.stringify(targets));
    const sizes = new Map(rows.map(({ target, events }) => [target, events]));
    const sorted = targets.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
    return { role, targets: sorted, sizes, events: rows.reduce((sum, { events }) => sum + events, 0) };
  });
  return sized.sort((a, b) => a.events - b.events);
}

/** Targets of which a walk meets that many times more events are gathered once, which is cheaper than looking for each in each event. */
const GATHERED = 32;

/** More targets than this are never looked for one by one. */
export const MAX_LOOKS = 16;

/** The same as `alsoRefersTo`, for a walk that meets up to `walked` events: many small targets are gathered, the largest are looked for. */
function alsoRefersToSome({ role, targets, sizes }: SizedRelation, walked: number): Fragment {
  const gathered: number[] = [];
  let events = 0;
  for (const target of targets.toReversed()) {
    events += sizes.get(target) ?? 0;
    if (events * GATHERED > walked && targets.length - gathered.length <= MAX_LOOKS) break;
    gathered.push(target);
  }
  if (gathered.length < 2) return alsoRefersTo({ role, targets });
  const list = listed(gathered);
  const ids = piece(
    `b.id IN (SELECT m.id FROM event_link m WHERE m.role = ${ROLE[role]} AND m.target IN ${list.sql})`,
    ...list.values,
  );
  const large = targets.slice(0, targets.length - gathered.length);
  // The largest first: most rows need no more than that.
  return large.length === 0 ? ids : enclosed(join([alsoRefersTo({ role, targets: large }), ids], ' OR '));
}

const withText = (from: string, words: readonly SearchWord[]) =>
  words.length === 0 ? from : `${from} CROSS JOIN event_text x ON x.id = b.id`;

/** A condition that each walk adds itself: the date range, the relations, the words, the visibility, the requested ids. */
const byTheWalk = (): Fragment[] => [];

/** How each condition becomes SQL on rows `b`. */
const PLAIN = {
  visibility: byTheWalk,
  bounds: byTheWalk,
  words: byTheWalk,
  categories: byTheWalk,
  tags: byTheWalk,
  venues: byTheWalk,
  organizers: byTheWalk,
  include: byTheWalk,
  featured: ({ featured }) => (featured === undefined ? [] : [piece(`b.featured = ${featured ? 1 : 0}`)]),
  parent: ({ parent }) =>
    parent === undefined ? [] : [piece('b.id IN (SELECT id FROM event WHERE parent = ? AND parent <> 0)', parent)],
} satisfies Record<EventCondition, (filter: EventFilter) => Fragment[]>;

const plainConditions = (filter: EventFilter): Fragment[] => Object.values(PLAIN).flatMap((of) => of(filter));

/** All conditions of a filter on rows `b` of `event`; words are for the caller. */
function everyCondition(filter: EventFilter, range: Range): Fragment[] {
  return [
    piece('b.hidden = 0'),
    visible(filter.visibility, 'b'),
    ...within(range),
    ...plainConditions(filter),
    ...relationsOf(filter).map(refersTo),
  ];
}

/** The odd events that start outside all these spans, which other walks cover. */
function oddWalk(filter: EventFilter, range: Range, spans: [number, number][], words: readonly SearchWord[]): Walk {
  const outside = spans.map(([from, to]) => piece('b.starts NOT BETWEEN ? AND ?', from, to));
  return {
    from: withText('event b INDEXED BY event_odd', words),
    where: every([
      piece('b.odd = 1'),
      ...everyCondition(filter, range),
      ...outside,
      ...containsWords(words, 'x.folded'),
    ]),
  };
}

const ofSight = ({ status, author }: Sight): Fragment[] => [
  piece('b.hidden = 0 AND b.status = ?', status),
  ...(author === undefined ? [] : [piece('b.author = ?', author)]),
];

/** The walks in list order along the index of starts, or of the smallest relation. */
export function orderedWalks(db: Database, facts: Facts, filter: EventFilter, words: readonly SearchWord[]): Walks {
  const range = rangeOf(filter.bounds);
  const text = containsWords(words, 'x.folded');
  if (filter.include || filter.parent !== undefined) {
    const conditions = every([...everyCondition(filter, range), ...text]);
    if (!filter.include) return { walks: [{ from: withText('event b', words), where: conditions }] };
    const ids = piece(
      'json_each(?) j CROSS JOIN event b ON b.id = j.value',
      JSON.stringify([...new Set(filter.include)]),
    );
    const where = piece(conditions.sql, ...ids.values, ...conditions.values);
    return { walks: [{ from: withText(ids.sql, words), where }] };
  }

  const narrow = narrowed(range, facts.longestSeconds);
  const [base, ...others] = smallestFirst(db, relationsOf(filter));
  const rest = [
    ...within(narrow),
    ...plainConditions(filter),
    ...others.map((other) => alsoRefersToSome(other, base?.events ?? 0)),
    ...text,
  ];
  const seen = sights(filter.visibility);
  const walks: Walk[] = [];
  if (base === undefined) {
    const from = withText(`event b INDEXED BY ${filter.featured === true ? 'event_featured' : 'event_start'}`, words);
    for (const sight of seen) walks.push({ from, where: every([...ofSight(sight), ...rest]) });
  } else {
    const from = withText('event_link b', words);
    const role = piece(`b.role = ${ROLE[base.role]}`);
    if (base.targets.length * seen.length > MAX_WALKS) {
      const list = listed(base.targets);
      const target = piece(`b.target IN ${list.sql} AND b.hidden = 0`, ...list.values);
      walks.push({ from, where: every([role, target, visible(filter.visibility, 'b'), ...rest]) });
    } else {
      for (const target of base.targets) {
        const key = [role, piece('b.target = ?', target)];
        for (const sight of seen) walks.push({ from, where: every([...key, ...ofSight(sight), ...rest]), target });
      }
    }
  }
  const span: [number, number] = [narrow.startsFrom, narrow.startsTo];
  if (oddOutside(facts, range, span)) walks.push(oddWalk(filter, range, [span], words));
  return base && base.targets.length > 1 ? { walks, repeats: base } : { walks };
}

const quoted = (word: string) => `"${word.replaceAll('"', '""')}"`;

/** Letters of a word that the index is asked for: a phrase of trigrams takes time by the square of its length. */
const MAX_INDEXED = 24;

/** The part of a word that the index looks for, and whether that is all of it: of the rest the text is read. */
function indexed({ text }: SearchWord): { part: string; isWhole: boolean } {
  const letters = [...fold(text)];
  return { part: letters.slice(0, MAX_INDEXED).join(''), isWhole: letters.length <= MAX_INDEXED };
}

/** Trigrams need three letters. */
export const isLong = ({ text }: SearchWord) => [...fold(text)].length >= 3;

/** The walk along the word index for a word of three letters and more, along all texts without one; the other conditions are looked up. */
export function wordWalk(filter: EventFilter, words: readonly SearchWord[]): Walks {
  const conditions = everyCondition(filter, rangeOf(filter.bounds));
  const long = words.filter(isLong);
  const wanted = long.filter(({ not }) => !not).map((word) => quoted(indexed(word).part));
  if (wanted.length === 0) {
    const where = every([...containsWords(words, 'x.folded'), ...conditions]);
    return { walks: [{ from: 'event_text x CROSS JOIN event b ON b.id = x.id', where }] };
  }
  // What has the beginning of an unwanted word may lack the rest: such a word is looked for in the texts alone.
  const unwanted = long.filter((word) => word.not && indexed(word).isWhole).map((word) => quoted(indexed(word).part));
  const match = `(${wanted.join(' AND ')})${unwanted.length > 0 ? ` NOT (${unwanted.join(' OR ')})` : ''}`;
  const inTexts = words.filter((word) => !isLong(word) || !indexed(word).isWhole);
  const where = every([piece('event_words MATCH ?', match), ...conditions, ...containsWords(inTexts, 'x.folded')]);
  return { walks: [{ from: withText('event_words w CROSS JOIN event b ON b.id = w.rowid', inTexts), where }] };
}

/**
 * The days of which every event that is not odd fulfils all bounds: none where `toDay` is before `fromDay`. `endsTo` may be no time on a
 * clock (10:00:00 less one is 9:99:99) where seconds cannot be counted from; one more always is, or is the second after one.
 */
export function wholeDays(range: Range, longestSeconds: number): { fromDay: number; toDay: number } {
  const allTo =
    range.endsTo < MAX_WALL
      ? Math.min(range.startsTo, secondsBefore(range.endsTo + 1, longestSeconds + 1))
      : range.startsTo;
  const fromDay = Math.ceil(Math.max(range.startsFrom, range.endsFrom) / 1_000_000);
  return { fromDay, toDay: Math.floor((allTo + 1) / 1_000_000) - 1 };
}

const isAbsent = (value: unknown): boolean => value === undefined;

/** Whether each condition leaves a list one of dates alone, that days can count. */
const LEAVES_DATES_ALONE = {
  bounds: () => true,
  visibility: ({ visibility }) => sights(visibility).every(({ author }) => author === undefined),
  words: ({ words = [] }) => words.length === 0,
  categories: ({ categories }) => isAbsent(categories),
  tags: ({ tags }) => isAbsent(tags),
  venues: ({ venues }) => isAbsent(venues),
  organizers: ({ organizers }) => isAbsent(organizers),
  featured: ({ featured }) => isAbsent(featured),
  include: ({ include }) => isAbsent(include),
  parent: ({ parent }) => isAbsent(parent),
} satisfies Record<EventCondition, (filter: EventFilter) => boolean>;

/** Whether a filter asks for dates and nothing else, of records that are seen whoever wrote them. */
export const datesAlone = (filter: EventFilter): boolean =>
  Object.values(LEAVES_DATES_ALONE).every((leaves) => leaves(filter));

/** A count that is a sum over days and what those leave to walk; undefined where the filter is not one of dates alone. */
export function dayWalks(facts: Facts, filter: EventFilter): { days: Fragment; rest: Walks } | undefined {
  if (!datesAlone(filter)) return undefined;
  const seen = sights(filter.visibility);
  const range = rangeOf(filter.bounds);
  const narrow = narrowed(range, facts.longestSeconds);
  const { fromDay, toDay } = wholeDays(range, facts.longestSeconds);
  if (toDay < fromDay) return undefined;

  const statuses = listed(seen.map(({ status }) => status));
  const days = piece(
    `SELECT total(events) FROM event_day WHERE status IN ${statuses.sql} AND day BETWEEN ? AND ?`,
    ...[...statuses.values, fromDay, toDay],
  );
  const edges: [number, number][] = [
    [narrow.startsFrom, fromDay * 1_000_000 - 1],
    [(toDay + 1) * 1_000_000, narrow.startsTo],
  ];
  const walks = edges.flatMap(([startsFrom, startsTo]) =>
    startsFrom > startsTo
      ? []
      : seen.map((sight) => ({
          from: 'event b INDEXED BY event_start',
          where: every([...ofSight(sight), piece('b.starts BETWEEN ? AND ?', startsFrom, startsTo), ...within(range)]),
        })),
  );
  // No day counts odd events.
  const { odd } = facts;
  const someOdd = odd && odd[0] <= range.startsTo && odd[1] >= range.startsFrom;
  return { days, rest: { walks: someOdd ? [...walks, oddWalk(filter, range, edges, [])] : walks } };
}
