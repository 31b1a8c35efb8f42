// Compares two answers of the original API and the gateway on one site. Each known difference names the row of
// docs/differences.md that tells clients of it.

import type { Json } from '../live/json-client.ts';
import type { PluginRequest } from './plugin-test.ts';

/** A value that differs. `path` has `[]` for every index of a list. */
export interface Difference {
  path: string;
  original: unknown;
  here: unknown;
}

/** The first that fits counts. */
interface KnownDifference {
  reason: string;
  /** Words of its row in docs/differences.md, or of an addition in docs/extensions.md. */
  docs: string;
  fits(difference: Difference, query: string, as: PluginRequest['as']): boolean;
}

export const KNOWN: readonly KnownDifference[] = [
  {
    reason: 'the taxonomy has its neutral name',
    docs: '`taxonomy` of a category',
    fits: ({ path, original, here }) =>
      /(^|\.)taxonomy$/.test(path) && original === 'tribe_events_cat' && here === 'calendar_events_cat',
  },
  {
    reason: 'the state of an event is an addition',
    docs: 'the state of an event: `event_status`',
    fits: ({ path, original }) => /\bevent_status(_reason)?$/.test(path) && original === undefined,
  },
  {
    reason: 'a 400 says what to write instead',
    docs: '`data.hints` of a 400',
    fits: ({ path, original }) => path === 'body.data.hints' && original === undefined,
  },
  {
    reason: 'links are encoded, and keep every parameter',
    docs: '`next_rest_url`',
    fits: ({ path, original, here }, query) => /(^|_|\.)rest_url$/.test(path) && keepsParameters(original, here, query),
  },
  {
    reason: 'e-mail addresses are in the same entities each time',
    docs: '`json_ld` of an organizer',
    fits: ({ path, original, here }) => /json_ld(\.\w+)*\.email$/.test(path) && decoded(original) === decoded(here),
  },
  {
    reason: 'strict_dates reads a bound without an offset in the zone of the site',
    docs: '`strict_dates` with a bound without offset',
    fits: ({ path }, query) =>
      (query.includes('strict_dates') && path === 'body.rest_url') ||
      (query.includes('strict_dates=true') && LIST_PATHS.test(path)),
  },
  {
    reason: 'include switches every date filter off',
    docs: '`include` with dates',
    fits: (_difference, query) => query.startsWith('events?include='),
  },
  {
    reason: 'has_events counts the events that the caller may see',
    docs: '| `has_events` |',
    fits: ({ path }, query) => query.includes('has_events=') && LIST_PATHS.test(path),
  },
  {
    reason: 'a term counts its public events without a password, and no posts',
    docs: '`count` of a term',
    fits: ({ path, original, here }) => /(^|\.)count$/.test(path) && Number(here) < Number(original),
  },
  {
    reason: 'a list of terms leaves out those without events that count',
    docs: '`count` of a term, `hide_empty`',
    fits: ({ path, original, here }, query) => {
      if (!/^(categories|tags)\?/.test(query) || /hide_empty=(0|false)/.test(query)) return false;
      if (/^body\.total(_pages)?$/.test(path)) return Number(here) < Number(original);
      if (path === 'body.next_rest_url') return here === undefined;
      // On one of several pages, others take the places of those that are left out.
      const isPage = /[?&](per_)?page=/.test(query);
      return (
        /^body\.(categories|tags) \(which\)$/.test(path) &&
        (isPage || [here].flat().every((id) => [original].flat().includes(id)))
      );
    },
  },
  {
    reason: 'a list of categories counts the parents that it shows',
    docs: '`/categories`',
    fits: ({ path, original, here }, query) =>
      query.startsWith('categories?') &&
      (path === 'body.next_rest_url'
        ? original === undefined
        : /^body\.total(_pages)?$/.test(path) && Number(here) > Number(original)),
  },
  {
    reason: 'websites are as they were sent',
    docs: '`website` with `&`',
    fits: ({ path, original, here }) =>
      path.endsWith('website') && String(original).replaceAll('&amp;', '&') === String(here),
  },
  {
    reason: 'a list shows no more than a single read',
    docs: 'lists for editors',
    fits: ({ path }, query, as) =>
      as === 'contributor' && /^(events|venues|organizers)\?/.test(query) && LIST_PATHS.test(path),
  },
  {
    reason: 'a slug is unknown to those who may not see its record',
    docs: 'by slug, a record that the caller may not see',
    fits: ({ path, original }, query) =>
      /^\w+\/by-slug\//.test(query) &&
      (original === 403 ||
        /not.accessible$/.test(String(original)) ||
        (/^body\.data\.(params|details)$/.test(path) && original === undefined)),
  },
  {
    reason: 'a linked draft is left out for those who may not read it',
    docs: 'a draft venue of a public event',
    fits: ({ path, original, here }) =>
      /(^|\.)(venue|organizer)( \(which\))?$/.test(path) &&
      linkedIds(here).every((id) => linkedIds(original).includes(id)),
  },
  {
    reason: 'the json_ld leaves out a venue or an organizer that the reader may not see',
    docs: '`json_ld` of an event with a password-protected venue or organizer',
    fits: ({ path, original }) => /json_ld\.(location|organizer)$/.test(path) && original === false,
  },
  {
    reason: 'what a password hides has no keys either',
    docs: 'a venue or an organizer that needs a password',
    fits: ({ path, original, here }) =>
      /\.\w+$/.test(path) && ((original === '' && here === undefined) || (path.endsWith('.state') && !here)),
  },
  {
    reason: 'two bounds at one end of a list both count',
    docs: '`start_date` with `starts_after`',
    fits: ({ path }, query) =>
      (/start_date=.*starts_after=/.test(query) || /end_date=.*ends_before=/.test(query)) && LIST_PATHS.test(path),
  },
  {
    reason: 'a tag is found by a slug that is a number',
    docs: '`tags=50`',
    fits: ({ path }, query) => /[?&]tags=50(&|$)/.test(query) && LIST_PATHS.test(path),
  },
  {
    reason: 'only_with_upcoming looks at all upcoming events',
    docs: '`only_with_upcoming`',
    fits: ({ path }, query) => query.includes('only_with_upcoming=') && LIST_PATHS.test(path),
  },
  {
    reason: 'a search without matches has total 0',
    docs: '`/venues?search=nothing`',
    fits: ({ path, here }, query) =>
      /^(venues|organizers)\?/.test(query) && query.includes('search=') && LIST_PATHS.test(path) && !here,
  },
  {
    reason: 'a search finds no text that a password hides',
    docs: '`search` with an account, or of venues and organizers',
    fits: ({ path, original, here }, query) => {
      if (!query.includes('search=') || !LIST_PATHS.test(path)) return false;
      const isPage = /[?&]page=/.test(query);
      // On a later page another event has the place of one that is left out. A last page of such alone is 404 here.
      if (isPage && (path.endsWith(' (which)') || here === 404 || [original, here].includes(undefined))) return true;
      return path.endsWith(' (which)')
        ? [here].flat().every((id) => [original].flat().includes(id))
        : /^body\.total(_pages)?$/.test(path) && Number(here) < Number(original);
    },
  },
  {
    reason: 'a cost is in the currency that was typed',
    docs: 'cost `8,50 €`',
    fits: ({ path, original, here }) =>
      /(^|\.)cost$/.test(path)
        ? amountsIn(original) === amountsIn(here)
        : /cost_details\.currency_(symbol|position)$/.test(path) && original === '',
  },
  {
    reason: 'an offer is in the currency that was typed',
    docs: '`json_ld.offers.priceCurrency`',
    fits: ({ path }) => path.endsWith('json_ld.offers.priceCurrency'),
  },
  {
    reason: 'words in cells and blocks are apart',
    docs: '`json_ld` of a text with a table',
    fits: ({ path, original, here }) =>
      /json_ld\.((organizer|location)\.)?description$/.test(path) && withoutBlanks(original) === withoutBlanks(here),
  },
  {
    reason: 'the duration is that of the dates',
    docs: '`_EventDuration`',
    fits: ({ path, original }, query) =>
      /_EventDuration|\.duration$/.test(path) && (original === undefined || /^PUT .*"all_day":true/s.test(query)),
  },
  {
    reason: 'rows that nothing reads are not written',
    docs: '`_tribe_modified_fields`',
    fits: ({ path, original, here }) =>
      /^body\.meta\.(_tribe_modified_fields|_(Organizer|Venue)(Description|post_\w+))/.test(path) ||
      (/^body\.meta\._EventCurrency/.test(path) && String(original) === '' && here === undefined),
  },
  {
    reason: 'a record keeps the key of its create',
    docs: '`_calendar_gateway_key`',
    fits: ({ path, original }) => path === 'body.meta._calendar_gateway_key' && original === undefined,
  },
  {
    reason: 'the json_ld of an unpublished event has its plain address',
    docs: '`json_ld` of an unpublished event',
    fits: ({ path, original, here }) => /json_ld(\.offers)?\.url$/.test(path) && original === `${here}%2F/`,
  },
  {
    reason: 'a draft has a time of modification in UTC',
    docs: '`modified_utc` of a draft',
    fits: ({ path, original }) => path.endsWith('modified_utc') && original === '0000-00-00 00:00:00',
  },
  {
    reason: 'a term has links to itself and its parent only, with the methods of the public',
    docs: '`_links` of a term',
    fits: ({ path }) => /^body\._links\.(about|wp:post_type|self\[\]\.targetHints\.allow)( \(which\))?$/.test(path),
  },
];

/** What follows from other records in a list. */
const LIST_PATHS =
  /^body\.(\w+ \(which\)|events|venues|organizers|total|total_pages|(\w+_)?rest_url|code|message|data(\.\w+)?)$|^status$/;

/** Of one linked record, of several, or of ids. */
const linkedIds = (value: unknown): unknown[] =>
  (Array.isArray(value) ? value : [value]).map((each) => (isObject(each) ? each.id : each));

/** Whether `here` is the link of the original with those parameters of the query that it lacks. */
function keepsParameters(original: unknown, here: unknown, query: string): boolean {
  const urlOf = (text: unknown) => new URL(String(text), 'http://site/');
  const [theirs, ours, sent] = [urlOf(original), urlOf(here), urlOf(query)];
  const names = (url: URL) => [...url.searchParams.keys()].map((name) => name.replace(/\[\d*\]$/, ''));
  return (
    theirs.pathname === ours.pathname &&
    [...theirs.searchParams].every(([name, value]) => ours.searchParams.get(name) === value) &&
    names(ours).every((name) => names(theirs).includes(name) || names(sent).includes(name))
  );
}

/** Also without the point of `kr.` */
const amountsIn = (cost: unknown): string => String(cost).replace(/[^\d.,–]|(?<!\d)\.|\.(?!\d)/g, '');

const withoutBlanks = (value: unknown): string => String(value).replace(/\s/g, '');

const decoded = (value: unknown): string =>
  String(value).replace(/&#(\d+);/g, (_entity, code: string) => String.fromCodePoint(Number(code)));

/** Of an event. The database decides between categories of one name. */
const sortedCategories = (key: string, value: unknown): unknown =>
  key === 'categories' && Array.isArray(value)
    ? value.toSorted((a: Json, b: Json) => (a.name === b.name ? Number(a.id) - Number(b.id) : 0))
    : value;

/** A list of terms by their counts, with those of one count by id: the database decides between them. */
function sortedTies(body: unknown, query: string): unknown {
  const name = /^(categories|tags)\?.*orderby=count/.exec(query)?.[1];
  if (name === undefined || !isObject(body) || !Array.isArray(body[name])) return body;
  const sign = query.includes('order=desc') ? -1 : 1;
  const terms = body[name] as { id: number; count: number }[];
  return { ...body, [name]: terms.toSorted((a, b) => sign * (a.count - b.count) || a.id - b.id) };
}

/** Both APIs in one form: the addresses of their own routes, also below a site's sub-folder. */
function normalized(body: unknown): unknown {
  const text = JSON.stringify(body, sortedCategories).replace(
    /https?:\/\/[^"\s?]+\/(?:tribe|calendar)\/events\/v1/g,
    'API',
  );
  return JSON.parse(text);
}

export function differencesOf(original: unknown, here: unknown, path = ''): Difference[] {
  if (Array.isArray(original) && Array.isArray(here)) {
    const [theirs, ours] = [idsOf(original), idsOf(here)];
    if (original.length !== here.length || JSON.stringify(theirs) !== JSON.stringify(ours))
      return [{ path: [...original, ...here].some(isObject) ? `${path} (which)` : path, original: theirs, here: ours }];
    return original.flatMap((value, index) => differencesOf(value, here[index], `${path}[]`));
  }
  if (isObject(original) && isObject(here)) {
    const names = new Set([...Object.keys(original), ...Object.keys(here)]);
    return [...names].flatMap((name) =>
      differencesOf(original[name], here[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return original === here ? [] : [{ path, original, here }];
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of other records is one difference, however many fields they have. */
const idsOf = (list: readonly unknown[]): unknown[] => list.map((item) => (isObject(item) ? item.id : item));

interface Answer {
  status: number;
  body: unknown;
}

/** What differs between two answers to one request: by a known reason, and otherwise. */
export function judgeAnswers(
  { query, as }: { query: string; as: PluginRequest['as'] },
  original: Answer,
  here: Answer,
): { reasons: Set<string>; unexplained: Difference[] } {
  const reasons = new Set<string>();
  const all = differencesOf(
    { status: original.status, body: normalized(sortedTies(original.body, query)) },
    { status: here.status, body: normalized(here.body) },
  );
  // `start_date_details` repeats `start_date`: one difference.
  const paths = new Set(all.map(({ path }) => path));
  const unexplained = all.filter((difference) => {
    if (/date_details\.\w+$/.test(difference.path) && paths.has(difference.path.replace(/_details\.\w+$/, '')))
      return false;
    const known = KNOWN.find((one) => one.fits(difference, query, as));
    if (known) reasons.add(known.reason);
    return known === undefined;
  });
  return { reasons, unexplained };
}

export const differenceText = ({ path, original, here }: Difference): string =>
  `${path}: original ${JSON.stringify(original)?.slice(0, 200)}, here ${JSON.stringify(here)?.slice(0, 200)}`;
