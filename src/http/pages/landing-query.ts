// The query of the landing page: what a deep link may name, and links that change part of it.

import { parseWallTime } from '../../time/wall-time.ts';

/** Named as the API's parameters, which they become. */
const FILTERS = ['search', 'venue', 'organizer', 'categories', 'tags'] as const;
export type Filter = (typeof FILTERS)[number];

/**
 * The views, in the order of their links, which `texts.month` and `texts.list` name. For a third view the compiler asks
 * for its texts, its link and what it shows (`landing-template.ts`). The compiler does not see `landing.css`, which
 * hides each view while it is not chosen, and `view.js`, which has the default for each width of the screen.
 */
export const VIEWS = ['month', 'list'] as const;
export type View = (typeof VIEWS)[number];

/** Every part is valid. Absent parts have defaults. */
export interface LandingQuery {
  /** Default: the list on narrow screens, the month on others; the list for a search or a day. */
  view?: View | undefined;
  /** `YYYY-MM`. Default: the current month; the list begins today. */
  month?: string | undefined;
  /** `YYYY-MM-DD`: the list of this day alone. */
  day?: string | undefined;
  /** Of the list, from 1. */
  page?: number | undefined;
  /** A search of past events, the latest first. */
  past?: true | undefined;
  event?: number | undefined;
  filters: Partial<Record<Filter, string>>;
}

const ID = /^[1-9]\d{0,15}$/;
// The years before and after these have neighbours that dates of four digits cannot name.
const MONTH = /^(?!0000|9999)\d{4}-(0[1-9]|1[0-2])$/;
const DAY = /^(?!0000|9999)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const MAX_SEARCH_CHARACTERS = 100;

/** Ignores everything that is not valid: links get old, and people edit them. */
export function parseLandingQuery(querystring: string): LandingQuery {
  const params = new URLSearchParams(querystring);
  const matching = (name: string, pattern: RegExp) => {
    const value = params.get(name) ?? '';
    return pattern.test(value) ? value : undefined;
  };
  const number = (name: string) => {
    const id = Number(matching(name, ID));
    return Number.isSafeInteger(id) ? id : undefined;
  };
  const filters: LandingQuery['filters'] = {};
  for (const name of FILTERS) {
    const search = (params.get(name) ?? '').slice(0, MAX_SEARCH_CHARACTERS).trim();
    const value = name === 'search' ? search : matching(name, ID);
    if (value) filters[name] = value;
  }
  const day = matching('day', DAY);
  const query: LandingQuery = {
    view: VIEWS.find((view) => view === params.get('view')),
    month: matching('month', MONTH),
    // Not `2027-02-30`.
    day: day !== undefined && parseWallTime(`${day} 00:00:00`) !== undefined ? day : undefined,
    page: number('page') ?? 1,
    past: params.get('past') === '1' || undefined,
    event: number('event'),
    filters,
  };
  return { ...query, past: isPast(query) || undefined };
}

/** Only a search has past events: a month or a day has its own. */
const isPast = ({ past, month, day, filters }: LandingQuery): boolean =>
  past === true && filters.search !== undefined && month === undefined && day === undefined;

/** The view that the query asks for; undefined if the width of the screen decides. */
export const viewOf = ({ view, day, filters }: LandingQuery): View | undefined =>
  day === undefined ? (view ?? (filters.search === undefined ? undefined : 'list')) : 'list';

/** The query as text, the same for equal queries: empty, or beginning with `?`. */
export function queryText(query: LandingQuery): string {
  const { view, month, day, page, event, filters } = query;
  const params = new URLSearchParams();
  const later = page === 1 ? undefined : page;
  const values = { view, month, day, page: later, ...filters, past: isPast(query) ? 1 : undefined, event };
  for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  return params.size > 0 ? `?${params}` : '';
}

/** A link, relative to the page, that changes part of its query. */
export const hrefOf = (query: LandingQuery, changes: Partial<LandingQuery>): string =>
  `./${queryText({ ...query, ...changes })}`;
