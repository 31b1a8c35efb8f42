// The event list in SQL: which index to walk for a filter, the exact total, and the ids of one page.

import type { Database } from './database.ts';
import type { DateBound, EventFilter, IdPage, SearchWord } from './filters.ts';
import { fold, secondsBefore, wallNumber } from './fold.ts';
import { ROLE, type Role } from './schema.ts';
import { containsWords, every, type Fragment, join, listed, pageOf, piece, sights, visible } from './sql.ts';

/** Up to this many candidates their text is read; above, the word index is asked. */
const READ_TEXTS = 3000;

/** More walks than this are one walk over all their targets, sorted afterwards. */
const MAX_WALKS = 48;

/** One way along a table or index: rows `b` with id, starts and posted. */
interface Walk {
  from: string;
  where: Fragment;
}

interface Walks {
  walks: Walk[];
  /** Whether an event can be met twice. */
  repeats: boolean;
}

interface Relation {
  role: Role;
  targets: number[];
}

/** Inclusive bounds on the start and end of an event. */
interface Range {
  startsFrom: number;
  startsTo: number;
  endsFrom: number;
  endsTo: number;
}

const MAX_WALL = 99_991_231_235_959;

function rangeOf(bounds: readonly DateBound[]): Range {
  const range: Range = { startsFrom: 0, startsTo: MAX_WALL, endsFrom: 0, endsTo: MAX_WALL };
  for (const { field, op, wall } of bounds) {
    // Wall numbers are whole: after 10:00:00 is from 10:00:01 on, also where that is no time on a clock (10:00:60).
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

/** What the bounds on the end say about the start, for an event that is not odd. */
function narrowed(range: Range, longestSeconds: number): Range {
  return {
    ...range,
    startsFrom: Math.max(range.startsFrom, range.endsFrom > 0 ? secondsBefore(range.endsFrom, longestSeconds) : 0),
    startsTo: Math.min(range.startsTo, range.endsTo),
  };
}

/** The event of row `b` refers to one of the targets: a look at the primary key of `event_link`, of which `b` knows every part. */
function refersTo({ role, targets }: Relation): Fragment {
  const list = listed(targets);
  return piece(
    `EXISTS (SELECT 1 FROM event_link m WHERE m.role = ${ROLE[role]} AND m.target IN ${list.sql} AND m.hidden = b.hidden
      AND m.status = b.status AND m.starts = b.starts AND m.posted = b.posted AND m.id = b.id)`,
    ...list.values,
  );
}

function relationsOf(filter: EventFilter): Relation[] {
  const relations: [Role, number[] | undefined][] = [
    ['category', filter.categories],
    ['tag', filter.tags],
    ['venue', filter.venues],
    ['organizer', filter.organizers],
  ];
  return relations.flatMap(([role, targets]) => (targets ? [{ role, targets: [...new Set(targets)] }] : []));
}

/** The relation with the fewest events first: it is the one to walk. */
function smallestFirst(db: Database, relations: Relation[]): Relation[] {
  if (relations.length < 2) return relations;
  const sizes = new Map<Relation, number>();
  for (const relation of relations) {
    const list = listed(relation.targets);
    const sql = `SELECT total(events) AS events FROM tally WHERE role = ${ROLE[relation.role]} AND target IN ${list.sql}`;
    sizes.set(relation, Number(db.get(sql, ...list.values)?.events));
  }
  return relations.toSorted((a, b) => sizes.get(a)! - sizes.get(b)!);
}

const withText = (from: string, words: readonly SearchWord[]) =>
  words.length === 0 ? from : `${from} CROSS JOIN event_text x ON x.id = b.id`;

/** Everything but the date range, the relations and the words, on a row that has all columns of `event`. */
function plainConditions(filter: EventFilter): Fragment[] {
  const conditions: Fragment[] = [];
  if (filter.featured !== undefined) conditions.push(piece(`b.featured = ${filter.featured ? 1 : 0}`));
  if (filter.parent !== undefined)
    conditions.push(piece('b.id IN (SELECT id FROM event WHERE parent = ?)', filter.parent));
  return conditions;
}

/** All events that are odd and outside the narrowed range, asked with the range as it was. */
function oddWalk(filter: EventFilter, range: Range, narrow: Range, words: readonly SearchWord[]): Walk {
  const { startsFrom, startsTo } = narrow;
  return {
    from: withText('odd_event o CROSS JOIN event b ON b.id = o.id', words),
    where: every([
      piece('b.hidden = 0'),
      visible(filter.visibility, 'b'),
      ...within(range),
      piece('b.starts NOT BETWEEN ? AND ?', startsFrom, startsTo),
      ...plainConditions(filter),
      ...relationsOf(filter).map(refersTo),
      ...containsWords(words, 'x.folded'),
    ]),
  };
}

/** The walks whose rows are the events of a filter, with `words` looked for in their text. */
function walksOf(db: Database, filter: EventFilter, words: readonly SearchWord[]): Walks {
  const range = rangeOf(filter.bounds ?? []);
  const relations = smallestFirst(db, relationsOf(filter));
  const text = containsWords(words, 'x.folded');
  const plain = plainConditions(filter);
  const seen = visible(filter.visibility, 'b');

  if (filter.include || filter.parent !== undefined) {
    const from = filter.include
      ? 'json_each(?) j CROSS JOIN event b ON b.id = j.value'
      : 'event b INDEXED BY event_parent';
    const key = filter.include
      ? piece('b.hidden = 0', JSON.stringify([...new Set(filter.include)]))
      : piece('b.parent = ? AND b.parent <> 0 AND b.hidden = 0', filter.parent!);
    const where = every([key, seen, ...within(range), ...plain, ...relations.map(refersTo), ...text]);
    return { walks: [{ from: withText(from, words), where }], repeats: false };
  }

  const facts = db.get("SELECT value, EXISTS (SELECT 1 FROM odd_event) AS odd FROM meta WHERE key = 'longest_s'");
  const narrow = narrowed(range, Number(facts?.value));
  const rest = [...within(narrow), ...plain];
  const walks: Walk[] = [];
  const [base, ...others] = relations;
  const conditions = (first: Fragment) => every([first, ...rest, ...others.map(refersTo), ...text]);
  if (base) {
    const role = piece(`b.role = ${ROLE[base.role]}`);
    if (base.targets.length * sights(filter.visibility).length > MAX_WALKS) {
      const list = listed(base.targets);
      const target = piece(`b.target IN ${list.sql} AND b.hidden = 0`, ...list.values);
      walks.push({ from: withText('event_link b', words), where: conditions(every([role, target, seen])) });
    } else {
      for (const target of base.targets) {
        for (const sight of sights(filter.visibility)) {
          const key = piece('b.target = ? AND b.hidden = 0 AND b.status = ?', target, sight.status);
          const own = sight.author === undefined ? [] : [piece('b.author = ?', sight.author)];
          walks.push({ from: withText('event_link b', words), where: conditions(every([role, key, ...own])) });
        }
      }
    }
  } else {
    const index = filter.featured === true ? 'event_featured' : 'event_start';
    for (const sight of sights(filter.visibility)) {
      const key = piece('b.hidden = 0 AND b.status = ?', sight.status);
      const own = sight.author === undefined ? [] : [piece('b.author = ?', sight.author)];
      walks.push({ from: withText(`event b INDEXED BY ${index}`, words), where: conditions(every([key, ...own])) });
    }
  }
  const isNarrower = narrow.startsFrom !== range.startsFrom || narrow.startsTo !== range.startsTo;
  if (facts?.odd && isNarrower) walks.push(oddWalk(filter, range, narrow, words));
  return { walks, repeats: (base?.targets.length ?? 0) > 1 };
}

const quoted = (word: string) => `"${word.replaceAll('"', '""')}"`;

/** Trigrams need three letters. */
const isLong = ({ text }: SearchWord) => [...fold(text)].length >= 3;

/** The walk along the word index: every event with the long words, its other conditions looked up. */
function wordWalk(filter: EventFilter, words: readonly SearchWord[]): Walks {
  const long = words.filter(isLong);
  const short = words.filter((word) => !isLong(word));
  const wanted = long.filter(({ not }) => !not).map(({ text }) => quoted(fold(text)));
  const unwanted = long.filter(({ not }) => not).map(({ text }) => quoted(fold(text)));
  const match = `(${wanted.join(' AND ')})${unwanted.length > 0 ? ` NOT (${unwanted.join(' OR ')})` : ''}`;
  const where = every([
    piece('event_words MATCH ? AND b.hidden = 0', match),
    visible(filter.visibility, 'b'),
    ...within(rangeOf(filter.bounds ?? [])),
    ...plainConditions(filter),
    ...relationsOf(filter).map(refersTo),
    ...containsWords(short, 'x.folded'),
  ]);
  return {
    walks: [{ from: withText('event_words w CROSS JOIN event b ON b.id = w.rowid', short), where }],
    repeats: false,
  };
}

const select =
  (columns: string) =>
  ({ from, where }: Walk): Fragment =>
    piece(`SELECT ${columns} FROM ${from} WHERE ${where.sql}`, ...where.values);

function countOf(db: Database, { walks, repeats }: Walks): number {
  const { sql, values } = repeats
    ? walks.length === 1
      ? select('count(DISTINCT b.id) AS total')(walks[0]!)
      : join([piece('SELECT count(*) AS total FROM ('), join(walks.map(select('b.id')), ' UNION '), piece(')')], '')
    : join(
        [
          piece('SELECT'),
          join(
            walks.map((walk) => parenthesised(select('count(*)')(walk))),
            ' + ',
          ),
          piece('AS total'),
        ],
        ' ',
      );
  return Number(db.get(sql, ...values)?.total);
}

const parenthesised = ({ sql, values }: Fragment): Fragment => piece(`(${sql})`, ...values);

/** Whether the walks meet more rows than `READ_TEXTS`. */
function isLarge(db: Database, { walks }: Walks): boolean {
  const rows = join(walks.map(select('1')), ' UNION ALL ');
  return (
    Number(db.get(`SELECT count(*) AS rows FROM (${rows.sql} LIMIT ${READ_TEXTS + 1})`, ...rows.values)?.rows) >
    READ_TEXTS
  );
}

function pageOfWalks(db: Database, filter: EventFilter, { walks, repeats }: Walks): number[] {
  const order = filter.order === 'start' ? 'starts, posted, id' : 'posted, id';
  const single = repeats && walks.length === 1 ? 'DISTINCT ' : '';
  const { sql, values } = join(
    [
      join(
        walks.map(select(`${single}b.starts AS starts, b.posted AS posted, b.id AS id`)),
        repeats ? ' UNION ' : ' UNION ALL ',
      ),
      piece(`ORDER BY ${order}`),
      pageOf(filter),
    ],
    ' ',
  );
  return db.all<{ id: number }>(sql, ...values).map(({ id }) => id);
}

/**
 * Ids and exact total of an event list. `knownTotal` spares the count where an earlier page of the same list and version has it.
 *
 * Words are looked for in the text of the candidates where those are few. Where they are many, the trigram index counts; the page then comes
 * from whichever walk meets it first: in list order reading texts for a word that is everywhere, from the word index for a rare one.
 */
export function findEvents(db: Database, filter: EventFilter, knownTotal?: number): IdPage {
  if (sights(filter.visibility).length === 0) return { ids: [], total: 0 };
  if (relationsOf(filter).some(({ targets }) => targets.length === 0)) return { ids: [], total: 0 };
  const words = filter.words ?? [];
  const reading = walksOf(db, filter, words);
  const indexed =
    words.some((word) => !word.not && isLong(word)) &&
    filter.include === undefined &&
    filter.parent === undefined &&
    isLarge(db, walksOf(db, filter, []));
  const counting = indexed ? wordWalk(filter, words) : reading;
  const total = knownTotal ?? countOf(db, counting);
  if (filter.limit === 0 || filter.offset >= total) return { ids: [], total };
  const events = Number(db.get('SELECT count(*) AS events FROM event')?.events);
  const metOnTheWay = ((filter.offset + filter.limit) * events) / total;
  const readsFew = filter.order === 'start' && metOnTheWay <= READ_TEXTS;
  return { ids: pageOfWalks(db, filter, indexed && !readsFew ? counting : reading), total };
}
