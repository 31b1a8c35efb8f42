// The filter of an event list, and the SQL of every condition that compares a column.

import type { WallTime } from '../model/records.ts';
import type { DateBound, PageWindow, SearchWord, Visibility } from './filters.ts';
import { LISTED, TARGET_KIND } from './schema.ts';
import { hasCustomValues, inJson, raw, type Sql, sql } from './sql.ts';
import { wallNumber } from './wall-number.ts';

/**
 * Conditions on columns of the scanned row `e`, which is of `event` or of `event_link`. A new filter on a
 * column that both tables have is one row here and its parameter in src/interface/parameters.ts, with the same
 * name: the row defines the field of `EventFilter` and its SQL.
 */
const COLUMN_CONDITIONS = {
  featured: (featured: boolean) => sql`e.featured = ${raw(featured ? 1 : 0)}`,
  /** Changed after this UTC time. */
  modifiedAfter: (utc: WallTime) => sql`e.modified > ${wallNumber(utc)}`,
  parent: (id: number) => sql`e.id IN (SELECT id FROM event WHERE parent = ${id} AND parent <> 0)`,
  customFields: (values: Readonly<Record<string, string>>) => hasCustomValues('event', values, 'e'),
  /** Events that link to none of these venues. */
  notVenues: (ids: number[]) => sql`e.id NOT IN (
    SELECT l.id FROM event_link l
    WHERE l.target_kind = ${raw(TARGET_KIND.venue)} AND l.target_id IN ${inJson(ids)} AND l.hidden = ${raw(LISTED)})`,
} satisfies Record<string, (value: never) => Sql>;

type ColumnConditions = typeof COLUMN_CONDITIONS;
type ColumnFilter = { [Name in keyof ColumnConditions]?: Parameters<ColumnConditions[Name]>[0] | undefined };

/**
 * All conditions must hold. A list of ids means any of them; an absent condition holds for every event.
 * Hidden events never match. A protected event matches no condition on a value that its password hides: its
 * links, `featured: true`, its parent, its text but the title.
 */
export interface EventFilter extends PageWindow, ColumnFilter {
  visibility: Visibility;
  bounds?: DateBound[] | undefined;
  words?: SearchWord[] | undefined;
  /** Including their descendants. */
  categories?: number[] | undefined;
  tags?: number[] | undefined;
  venues?: number[] | undefined;
  organizers?: number[] | undefined;
  include?: number[] | undefined;
  order: EventOrder;
  /** Reverses the order; ties too. */
  descending?: boolean | undefined;
}

/** The columns of `event` that each order compares, ascending. */
export const EVENT_ORDER_COLUMNS = {
  start: ['starts', 'published', 'id'],
  date: ['published', 'id'],
  modified: ['modified', 'id'],
  title: ['title', 'id'],
} as const;

export type EventOrder = keyof typeof EVENT_ORDER_COLUMNS;

/** The fields of `EventFilter` that restrict the list. */
export type EventCondition = Exclude<keyof EventFilter, keyof PageWindow | 'order' | 'descending'>;

/** event-plan.ts builds the SQL of these conditions, because it depends on the index that is scanned. */
const PLANNED = undefined;

/** How each condition becomes SQL. A condition without a row is a compile error. */
const CONDITIONS: { [Name in EventCondition]: typeof PLANNED | ((value: NonNullable<EventFilter[Name]>) => Sql) } = {
  ...COLUMN_CONDITIONS,
  visibility: PLANNED,
  bounds: PLANNED,
  words: PLANNED,
  categories: PLANNED,
  tags: PLANNED,
  venues: PLANNED,
  organizers: PLANNED,
  include: PLANNED,
};

const COLUMN_NAMES = Object.keys(COLUMN_CONDITIONS) as (keyof ColumnFilter)[];
const CONDITION_NAMES = Object.keys(CONDITIONS) as EventCondition[];

/** Column conditions that the use case sets: no parameter of the API has their name. */
const SET_BY_USE_CASE: readonly (keyof ColumnFilter)[] = ['parent', 'notVenues', 'modifiedAfter', 'customFields'];

const COLUMN_PARAMETERS = COLUMN_NAMES.filter((name) => !SET_BY_USE_CASE.includes(name));

/**
 * The column conditions among the parameters of a request, which have the same names. The API has checked the
 * types of their values.
 */
export const columnFilter = (values: Readonly<Record<string, unknown>>): ColumnFilter =>
  Object.fromEntries(COLUMN_PARAMETERS.map((name) => [name, values[name]]));

/** The filter's conditions on columns of the scanned row `e`. */
export function columnConditions(filter: EventFilter): Sql[] {
  return CONDITION_NAMES.flatMap((name) => {
    const [toSql, value] = [CONDITIONS[name], filter[name]];
    // The types of the row's parameter and of the filter's field are the same, which the compiler cannot know
    // of a union of names.
    return toSql === PLANNED || value === undefined ? [] : [toSql(value as never)];
  });
}

/** True if the filter restricts nothing but these fields. */
export const restrictsOnly = (filter: EventFilter, names: readonly EventCondition[]): boolean =>
  CONDITION_NAMES.every((name) => names.includes(name) || filter[name] === undefined);
