// The event list in SQL: the exact total of a filter, and the ids of one page.

import type { Database } from './database.ts';
import {
  alsoRefersTo,
  dayWalks,
  type Facts,
  isLong,
  MAX_LOOKS,
  orderedWalks,
  type Relation,
  relationsOf,
  type Walk,
  type Walks,
  wordWalk,
} from './event-walks.ts';
import type { EventFilter, IdPage } from './filters.ts';
import { every, type Fragment, join, pageOf, piece, sights } from './sql.ts';

/** Up to this many candidates their text is read; above, the word index is asked. */
const READ_TEXTS = 3000;

const select =
  (columns: string) =>
  ({ from, where }: Walk): Fragment =>
    piece(`SELECT ${columns} FROM ${from} WHERE ${where.sql}`, ...where.values);

const number = (fragment: Fragment): Fragment => piece(`(${fragment.sql})`, ...fragment.values);

function sum(db: Database, parts: Fragment[]): number {
  const { sql, values } = join(parts.map(number), ' + ');
  return Number(db.get(`SELECT ${sql} AS total`, ...values)?.total);
}

/** The events of a walk that refer to none of these. */
function without({ from, where }: Walk, others: Relation): Walk {
  const there = alsoRefersTo(others);
  return { from, where: every([where, piece(`NOT ${there.sql}`, ...there.values)]) };
}

/**
 * Events of several targets count once: those of the largest target as they are, those of the next without the ones of the largest, and so on.
 * Where that are too many looks, the others are put together: on a site with one category for everything and many small ones most of the
 * work is saved as well.
 */
function distinctParts(walks: Walk[], { role, targets }: Relation): Fragment[] {
  if (walks.every(({ target }) => target === undefined)) {
    const [all, ...odd] = walks;
    return [select('count(DISTINCT b.id)')(all!), ...odd.map(select('count(*)'))];
  }
  const few = targets.length <= MAX_LOOKS;
  const once: Walk[] = [];
  const others: Walk[] = [];
  for (const walk of walks) {
    const place = walk.target === undefined ? 0 : targets.indexOf(walk.target);
    if (place === 0) once.push(walk);
    else (few ? once : others).push(without(walk, { role, targets: targets.slice(0, few ? place : 1) }));
  }
  const parts = once.map(select('count(*)'));
  if (few) return parts;
  const union = join(others.map(select('b.id')), ' UNION ');
  return [...parts, piece(`SELECT count(*) FROM (${union.sql})`, ...union.values)];
}

function countOf(db: Database, { walks, repeats }: Walks): number {
  return sum(db, repeats ? distinctParts(walks, repeats) : walks.map(select('count(*)')));
}

/** Whether the walks meet more rows than `READ_TEXTS`. */
function isLarge(db: Database, { walks }: Walks): boolean {
  const { sql, values } = join(walks.map(select('1')), ' UNION ALL ');
  const limit = READ_TEXTS + 1;
  return Number(db.get(`SELECT count(*) AS rows FROM (${sql} LIMIT ${limit})`, ...values)?.rows) === limit;
}

function pageOfWalks(db: Database, filter: EventFilter, { walks, repeats }: Walks): number[] {
  const order = filter.order === 'start' ? 'starts, posted, id' : 'posted, id';
  const distinct = repeats && walks.length === 1 ? 'DISTINCT ' : '';
  // Several walks are merged by what they are sorted by; of one alone the ids are enough.
  const columns = walks.length === 1 && !repeats ? 'b.id AS id' : 'b.id AS id, b.starts AS starts, b.posted AS posted';
  const rows = walks.map(select(`${distinct}${columns}`));
  const { sql, values } = join(
    [join(rows, repeats ? ' UNION ' : ' UNION ALL '), piece(`ORDER BY ${order}`), pageOf(filter)],
    ' ',
  );
  return db.numbers(sql, ...values);
}

interface Plan {
  ordered: Walks;
  /** Where candidates are many and words are looked for. */
  byWords: Walks | undefined;
}

function planOf(db: Database, facts: Facts, filter: EventFilter): Plan {
  const { words = [], include, parent } = filter;
  const ordered = orderedWalks(db, facts, filter, words);
  const picked = include !== undefined || parent !== undefined;
  const large = words.length > 0 && !picked && isLarge(db, orderedWalks(db, facts, filter, []));
  return { ordered, byWords: large ? wordWalk(filter, words) : undefined };
}

/**
 * Ids and exact total of an event list. `facts` are those of the current contents. `knownTotal` spares the count where an earlier page of the same list and version has it.
 *
 * Words are looked for in the text of the candidates where those are few. Where they are many, the trigram index counts; the page then comes
 * from whichever walk meets it first: in list order reading texts for a word that is everywhere, from the word index for a rare one.
 */
export function findEvents(db: Database, facts: Facts, filter: EventFilter, knownTotal?: number): IdPage {
  if (sights(filter.visibility).length === 0) return { ids: [], total: 0 };
  if (relationsOf(filter).some(({ targets }) => targets.length === 0)) return { ids: [], total: 0 };
  const { limit, offset } = filter;
  const plan = planOf(db, facts, filter);
  const { ordered, byWords } = plan;
  const total = knownTotal ?? totalOf(db, facts, filter, plan);
  if (limit === 0 || offset >= total) return { ids: [], total };
  if (byWords === undefined || filter.order !== 'start')
    return { ids: pageOfWalks(db, filter, byWords ?? ordered), total };
  const events = Number(db.get('SELECT count(*) AS events FROM event')?.events);
  const readOnTheWay = ((offset + limit) * events) / total;
  return { ids: pageOfWalks(db, filter, readOnTheWay > READ_TEXTS ? byWords : ordered), total };
}

function totalOf(db: Database, facts: Facts, filter: EventFilter, plan = planOf(db, facts, filter)): number {
  const byDays = dayWalks(facts, filter);
  if (byDays !== undefined) return sum(db, [byDays.days, ...byDays.rest.walks.map(select('count(*)'))]);
  const rest = counterpart(facts, filter, plan);
  if (rest !== undefined) return totalOf(db, facts, rest.all) - totalOf(db, facts, rest.others);
  return countOf(db, plan.byWords ?? plan.ordered);
}

/** A list that is most of another one, and what the other has beyond it: both are counted faster, by days and by the word index. */
function counterpart(
  facts: Facts,
  filter: EventFilter,
  { byWords }: Plan,
): { all: EventFilter; others: EventFilter } | undefined {
  const { featured, words = [], ...rest } = filter;
  if (featured === false && words.length === 0 && dayWalks(facts, rest) !== undefined)
    return { all: rest, others: { ...rest, featured: true } };
  const [word, ...more] = words;
  if (byWords === undefined || !word?.not || more.length > 0 || !isLong(word)) return undefined;
  const all = featured === undefined ? rest : { ...rest, featured };
  return { all, others: { ...all, words: [{ ...word, not: false }] } };
}
