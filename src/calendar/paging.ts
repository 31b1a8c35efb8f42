// Pages of a list: which part is asked for, and the addresses of this page, the next and the one before (interface-behaviour 2).

import type { PageWindow } from '../replica/filters.ts';
import type { ListSettings } from './backing.ts';

export interface Page extends PageWindow {
  page: number;
  perPage: number;
}

/** The page that checked values ask for; a size above `maxPerPage` is cut down to that. The page may lie behind the last one. */
export function pageOf(values: Record<string, unknown>, { perPage, maxPerPage }: ListSettings): Page {
  const page = Number(values.page ?? 1);
  const size = Math.min(Number(values.per_page ?? perPage), maxPerPage);
  // SQLite counts in whole numbers; far behind any last page all pages are the same.
  const offset = Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);
  return { page, perPage: size, limit: size, offset };
}

/** Pages of a list, 0 of an empty one. */
export const totalPages = (total: number, perPage: number): number => Math.ceil(total / perPage);

/** A parameter as a link repeats it; `csv`: commas stay as they are. */
export interface Echo {
  name: string;
  value: string;
  csv?: boolean;
}

/** What would be read differently if it stood unencoded. */
const NEEDS_ENCODING = /[&#+%?]/;
/** Stays as it is when encoded. */
const UNRESERVED = /^[\w.~-]*$/;
const encode = (text: string): string =>
  UNRESERVED.test(text)
    ? text
    : encodeURIComponent(text)
        .replaceAll('%20', '+')
        .replace(/[!'()*]/g, percent);
const percent = (sign: string): string => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;

const query = (echoes: Echo[]): string =>
  echoes.map(({ name, value, csv }) => `${name}=${csv ? value : encode(value)}`).join('&');

/**
 * The three addresses of a page. `rest_url` stands unencoded, as in the original, unless a value would be read differently so or
 * `encoded` says otherwise; the neighbours are always encoded, with `page` at the end and none for the first page.
 */
export function links(
  address: string,
  echoes: Echo[],
  { page, total, perPage }: { page: number; total: number; perPage: number },
  { encoded = false } = {},
): Record<string, string> {
  const plain = !encoded && !echoes.some(({ value }) => NEEDS_ENCODING.test(value));
  const self = plain ? echoes.map(({ name, value }) => `${name}=${value}`).join('&') : query(echoes);
  const others = query(echoes.filter(({ name }) => name !== 'page'));
  const neighbour = (to: number): string => {
    const parts = [others, ...(to === 1 ? [] : [`page=${to}`])].filter((part) => part !== '');
    return parts.length > 0 ? `${address}?${parts.join('&')}` : address;
  };
  return {
    rest_url: self === '' ? address : `${address}?${self}`,
    ...(page < totalPages(total, perPage) ? { next_rest_url: neighbour(page + 1) } : {}),
    ...(page > 1 ? { previous_rest_url: neighbour(page - 1) } : {}),
  };
}
