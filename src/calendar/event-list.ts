// The list of events: its parameters as a question to the copy, and as its links repeat them (interface-behaviour 2.1, 3).

import type { PostKind, TermKind } from '../records.ts';
import type { EventFilter, Visibilities } from '../replica/filters.ts';
import type { Input } from './asked.ts';
import { findTerm } from './attach.ts';
import type { Backing } from './backing.ts';
import type { DateWindow } from './dates.ts';
import { type Echo, links, type Page } from './paging.ts';
import { searchWords } from './search.ts';
import { shows } from './visibility.ts';

/**
 * The filter without its page and dates. A venue, organizer or parent that the caller may not see finds nothing: what an event is
 * linked to is left out of its record too.
 */
export function eventFilter(
  backing: Backing,
  values: Record<string, unknown>,
  visibility: Visibilities,
): Omit<EventFilter, 'visibility' | 'limit' | 'offset'> {
  const { replica } = backing;
  const seen = (kind: PostKind, ids: number[]) => {
    const found = replica.getMany(kind, ids);
    return ids.filter((id) => shows(visibility[kind], found.get(id)));
  };
  const terms = (kind: TermKind, texts: string[]) => texts.flatMap((text) => termId(backing, kind, text) ?? []);
  return {
    order: values.include === undefined ? 'start' : 'date',
    ...(values.search === undefined ? {} : { words: searchWords(String(values.search)) }),
    ...(values.categories === undefined
      ? {}
      : { categories: replica.descendants(terms('category', values.categories as string[])) }),
    ...(values.tags === undefined ? {} : { tags: terms('tag', values.tags as string[]) }),
    ...(values.venue === undefined ? {} : { venues: seen('venue', values.venue as number[]) }),
    ...(values.organizer === undefined ? {} : { organizers: seen('organizer', values.organizer as number[]) }),
    ...(values.featured === undefined ? {} : { featured: values.featured === true }),
    ...(values.include === undefined ? {} : { include: values.include as number[] }),
    // No event has the parent 0 for one that is asked for.
    ...(values.post_parent === undefined ? {} : { parent: seen('event', [Number(values.post_parent)])[0] ?? 0 }),
  };
}

/** A value that is a slug of some term wins over the id, and an id over a name (3.2). */
export function termId(backing: Backing, kind: TermKind, text: string): number | undefined {
  const { replica } = backing;
  const id = /^\d+$/.test(text) ? Number(text) : undefined;
  return (
    replica.termBySlug(kind, text) ?? (id !== undefined && replica.get(kind, id) ? id : findTerm(backing, kind, text))
  );
}

/** Order of the original: first what it always repeats or took over, then what makes it encode the rest, then what it forgets. */
const PLAIN = ['search', 'geoloc', 'geoloc_lat', 'geoloc_lng'] as const;
const EDGES = ['starts_before', 'starts_after', 'ends_before', 'ends_after'] as const;
const FORGOTTEN = ['categories', 'tags', 'strict_dates', 'ticketed'] as const;

/**
 * Addresses of this page, the next and the one before (interface-behaviour 2.1). `status`: as `viewing` names it; `shown`: the
 * date parameters as the list was made with them; `base`: address of the namespace as called, without a final slash.
 */
export function eventLinks(
  { sent, values }: Input,
  {
    status,
    shown,
    page,
    total,
    base,
  }: { status: string; shown: DateWindow['shown']; page: Page; total: number; base: string },
): Record<string, string> {
  const text = (value: unknown): string =>
    Array.isArray(value) ? value.join(',') : value === true ? '1' : String(value);
  const asSent = (names: readonly string[]): Echo[] =>
    names
      .filter((name) => sent[name] !== undefined)
      .map((name) => ({ name, value: text(name === 'geoloc' ? values[name] : sent[name]) }));
  const dates = (names: readonly (keyof DateWindow['shown'])[]): Echo[] =>
    names.flatMap((name) => (shown[name] === undefined ? [] : [{ name, value: shown[name] }]));
  const csv = ['venue', 'organizer']
    .filter((name) => sent[name] !== undefined)
    .map((name) => ({ name, value: text(values[name]), csv: true }));
  const featured = sent.featured === undefined ? [] : [{ name: 'featured', value: values.featured ? '1' : '0' }];
  const echoes: Echo[] = [
    { name: 'page', value: String(page.page) },
    { name: 'per_page', value: String(page.perPage) },
    ...dates(['start_date', 'end_date']),
    ...asSent(PLAIN),
    { name: 'status', value: status },
    ...asSent(['post_parent']),
    ...(values.include === undefined ? [] : [{ name: 'include', value: text(values.include) }]),
    ...dates(EDGES),
    ...csv,
    ...featured,
    ...asSent(FORGOTTEN),
  ];
  return links(
    `${base}/events/`,
    echoes,
    { page: page.page, perPage: page.perPage, total },
    { encoded: csv.length + featured.length > 0 },
  );
}
