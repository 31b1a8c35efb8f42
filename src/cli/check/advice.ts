// The rows of advice that the checks of every CMS give. Each CMS has a table of its own in
// `wordpress/advice.ts` and `payload/advice.ts`: these rows, in the CMS's words where those differ, and
// further rows for its own checks.

import type { CmsRejected } from '../../errors.ts';
import { listKeys } from './key-list.ts';

declare const isAdvice: unique symbol;
/** The text of a row: a check can give no other. */
export type Advice = string & { readonly [isAdvice]: true };

/** Rows in the same words for every CMS. */
export const COMMON_ROWS = {
  variables: () => 'Correct their names, or remove them: docs/configuration.md lists every variable.',
  https: () => 'Give the address of the site with https:// (CALENDAR_UPSTREAM_URL, upstream.url).',
  clock: () =>
    "Set both machines' clocks by NTP. The poller compares times of the site's clock, and the signature of a webhook holds a time.",
  'date-header': () =>
    "Let the site's web server, or the proxy in front of it, send the header Date: the poller compares times of the site's clock.",
  'public-address': () => 'Set CALENDAR_PUBLIC_URL to the address that callers use.',
  dedupe: (kind: string) => `Add "dedupe": true to "${kind}" in the mapping.`,
  'series-window': () => 'Choose fewer "pastDays" and "futureDays" in a copy of the mapping (docs/mapping.md, Series).',
  path: (collection: string, keys: readonly string[], path?: string) =>
    `Compare the path with what the site sends for ${collection}: ${listKeys(keys, path)}.`,
  codec: (field: string, hasParts: boolean) =>
    hasParts
      ? `Compare the "format" of each of the "parts" with the values of the site (docs/mapping.md, Dates): ${field}.`
      : `Give the format in the mapping ("as", see the codecs in docs/mapping.md): ${field}.`,
  'value-changed': () =>
    "The site stored another value than was sent: compare the field's type on the site (number, phone, choice) with the codec in the mapping (docs/mapping.md), or leave the field out of the mapping.",
  'field-refused': () =>
    'Compare the codec of the field with what the site accepts (docs/mapping.md), and the capabilities of the account.',
  'clear-with': () =>
    'Give the empty value that the site accepts in the mapping: "clearWith": null, [] or, of a website, "-" (docs/mapping.md).',
  'number-field': () =>
    'If the field of the site holds numbers only, give it the codec "number" in the mapping, and { "number": { "decimal": "," } } if the site expects a comma (docs/mapping.md).',
  'failed-list': () => 'Follow the advice on its list (lists, above), and run check --write again.',
  'link-target': () =>
    'Publish one of each in the CMS, and run check --write again. If the calendar is to have none, ignore this.',
  'port-in-use': () => 'Stop the gateway while check --write runs, or look at its log while you change an event.',
} as const;

/** Rows that every CMS has in words of its own. `pluginOptions`: those of the `plugin` command for this gateway. */
export interface OwnRows {
  'time-zone'(): string;
  'service-account'(): string;
  'account-rejected'(error: CmsRejected): string;
  capabilities(missing: readonly string[]): string;
  webhooks(pluginOptions: string, adminPort: number): string;
  'collection-name'(pluginOptions: string, needsPlugin: boolean): string;
  'collection-absent'(kind: string, pluginOptions: string): string;
  'list-refused'(): string;
  'list-hidden'(): string;
  'list-short'(): string;
  'no-record'(kind: string): string;
  'series-missing'(pluginOptions: string): string;
  'closed-to-visitors'(): string;
  'hidden-from-visitors'(): string;
  /** `nowhere`: no record has a value. */
  'fill-in'(nowhere: boolean): string;
  'create-refused'(): string;
  'remove-draft'(title: string): string;
  'webhook-signature'(): string;
  'webhook-kind'(pluginOptions: string): string;
  'webhook-untried'(): string;
  'webhook-missing'(adminPort: number): string;
}

export type SharedRows = typeof COMMON_ROWS & OwnRows;

// biome-ignore lint/suspicious/noExplicitAny: the facts differ from row to row
type AnyRows = Readonly<Record<string, (...facts: any[]) => string>>;
/** A table with at least the rows of `R`. */
export type Rows<R> = R & AnyRows;

/** Returns the function that gives the text of a row; `facts`: what that row names. */
export type Advise<R> = <Id extends keyof R>(
  id: Id,
  ...facts: R[Id] extends (...all: infer Facts) => string ? Facts : never
) => Advice;

export const adviseFrom =
  <R extends AnyRows>(rows: R): Advise<R> =>
  (id, ...facts) =>
    rows[id]!(...facts) as Advice;
