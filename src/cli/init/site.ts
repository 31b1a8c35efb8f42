// What `init` has seen of a WordPress site: its collections, their fields, and values of these.

import type { CmsRecord } from '../../cms/port.ts';

/** A field that the CMS itself does not have. */
export interface SourceField {
  /** As in a mapping: `meta.start`, `acf.address.city`. */
  path: string;
  /** In the schema: `string`, `array` ... */
  type: string | undefined;
  /** The address in a link field of ACF, which takes address, title and target only together. */
  readOnly?: true;
  /** The values of the records that have one. */
  values: unknown[];
}

/** A post type. */
export interface ProbedType {
  /** Its own name. */
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
