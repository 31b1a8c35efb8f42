// Pagination of lists: the requested page, and the links to this page, the next and the previous one.

import { LIST_PARAMETERS } from '../interface/parameters.ts';
import { isObject } from '../model/json.ts';
import type { Kind } from '../model/records.ts';
import type { PageWindow } from '../store/filters.ts';
import type { ListSettings } from './services.ts';

export interface Page extends PageWindow {
  page: number;
  perPage: number;
}

/** The requested page, which may be after the last one. The page size is at most `maxPerPage`. */
export function pageOf(values: Record<string, unknown>, { perPage, maxPerPage }: ListSettings): Page {
  const page = Number(values.page ?? 1);
  const size = Math.min(Number(values.per_page ?? perPage), maxPerPage);
  // SQLite requires an integer. All pages this far after the last one are equally empty.
  const offset = Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);
  return { page, perPage: size, limit: size, offset };
}

/** The number of pages, 0 for an empty list. */
export const totalPages = (total: number, perPage: number): number => Math.ceil(total / perPage);

/** A parameter in a link. `csv`: the value is not encoded, because of its commas. */
export interface LinkParam {
  name: string;
  value: string;
  csv?: boolean;
}

/** The parameters of a list in the order of its links. Those that `order` does not name follow. */
export function linkOrder(kind: Kind, order: readonly string[]): string[] {
  const others = LIST_PARAMETERS[kind].map(({ name }) => name).filter((name) => !order.includes(name));
  return [...order, ...others];
}

/** Encoding does not change such a text. */
const UNRESERVED = /^[\w.~-]*$/;
const encode = (text: string): string =>
  UNRESERVED.test(text)
    ? text
    : encodeURIComponent(text)
        .replaceAll('%20', '+')
        .replace(/[!'()*]/g, percent);
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** A parameter as sent: an object becomes a parameter for each of its entries. */
export const linkParams = (name: string, value: unknown): LinkParam[] =>
  isObject(value)
    ? Object.entries(value).map(([key, item]) => ({ name: `${name}[${key}]`, value: String(item) }))
    : [{ name, value: String(value) }];

const queryString = (params: LinkParam[]): string =>
  params.map(({ name, value, csv }) => `${encode(name)}=${csv ? value : encode(value)}`).join('&');

/**
 * The three links of a page, encoded alike. The links to other pages end with `page`, which the link to the
 * first page lacks.
 */
export function pageLinks(
  address: string,
  params: LinkParam[],
  { page, total, perPage }: { page: number; total: number; perPage: number },
): Record<string, string> {
  const self = queryString(params);
  const withoutPage = queryString(params.filter(({ name }) => name !== 'page'));
  const linkTo = (number: number): string => {
    const parts = [withoutPage, number === 1 ? '' : `page=${number}`].filter((part) => part !== '');
    return parts.length > 0 ? `${address}?${parts.join('&')}` : address;
  };
  return {
    rest_url: self === '' ? address : `${address}?${self}`,
    ...(page < totalPages(total, perPage) ? { next_rest_url: linkTo(page + 1) } : {}),
    ...(page > 1 ? { previous_rest_url: linkTo(page - 1) } : {}),
  };
}
