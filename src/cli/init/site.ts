// What `init` has seen of a site, in one form for every CMS: its collections, their fields, and values of these.

import type { CmsRecord } from '../../cms/port.ts';
import type { CmsName } from '../../mapping/mapping-file.ts';

/** A field that the CMS itself does not have. */
export interface SourceField {
  /** As in a mapping: `meta.start`, `acf.address.city`, `start_date`. */
  path: string;
  /** In the schema: `string`, `array` ... */
  type: string | undefined;
  /** The address in a link field of ACF, which takes address, title and target only together. */
  readOnly?: true;
  /** The values of the records that have one. */
  values: unknown[];
}

/** A post type of WordPress, or a collection of Payload. */
export interface ProbedType {
  /** Its own name; of Payload the same as `base`. */
  type: string;
  /** The name of its collection (`rest_base`). */
  base: string;
  label: string;
  /** Names of its taxonomies, and the collections of these. */
  taxonomies: string[];
  termBases: string[];
  total: number;
  /** The newest records. */
  samples: CmsRecord[];
  fields: SourceField[];
}

export interface ProbedTaxonomy {
  taxonomy: string;
  base: string;
  label: string;
  hierarchical: boolean;
}

export interface ProbedSite {
  cms: CmsName;
  url: string;
  name: string;
  timezone: string;
  /** Folders of the active plugins; undefined if the account may not see them. */
  plugins: string[] | undefined;
  /** Of the REST API: most plugins with routes of their own have one. */
  namespaces: string[];
  account: { name: string; roles: string[] } | undefined;
  types: ProbedType[];
  taxonomies: ProbedTaxonomy[];
  /** The post type of each id that a record holds. */
  typeById: Record<number, string>;
  payload?: PayloadFacts;
}

export interface PayloadFacts {
  /** Slugs of the collections of accounts, if the caller has one, and of images. */
  users: string | undefined;
  media: string | undefined;
}

export const typeAt = ({ types }: ProbedSite, base: string | undefined): ProbedType | undefined =>
  types.find((each) => each.base === base);

export const fieldAt = (path: string, fields: readonly SourceField[]): SourceField =>
  fields.find((each) => each.path === path) ?? { path, type: undefined, values: [] };

export const isBlank = (value: unknown): boolean =>
  value === '' || value === null || value === undefined || (Array.isArray(value) && value.length === 0);

export function addValue(field: SourceField, value: unknown): void {
  if (!isBlank(value)) field.values.push(value);
}
