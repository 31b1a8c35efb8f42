// Where a CMS itself stores fields of every record, so that a mapping need not name them.

import type { CmsName, FieldSpec } from './mapping-file.ts';

/** By the record's property (`key` in the field table). */
type CoreLocations = Readonly<Record<string, FieldSpec>>;

const same = (path: string): FieldSpec => ({ at: path });
const rendered = (path: string): FieldSpec => ({ read: `${path}.rendered`, write: path });
const readOnly = (path: string): FieldSpec => ({ at: path, readOnly: true });
const instant = (path: string): FieldSpec => ({ at: path, as: 'instant' });

const WORDPRESS_POSTS: CoreLocations = {
  title: rendered('title'),
  slug: same('slug'),
  description: rendered('content'),
  excerpt: rendered('excerpt'),
  status: same('status'),
  author: same('author'),
  date: same('date'),
  dateUtc: same('date_gmt'),
  modified: readOnly('modified'),
  modifiedUtc: readOnly('modified_gmt'),
  url: readOnly('link'),
  protected: readOnly('content.protected'),
  image: same('featured_media'),
  parent: readOnly('parent'),
};

const WORDPRESS_TERMS: CoreLocations = {
  /** The name of a venue or organizer that is a term. */
  title: same('name'),
  name: same('name'),
  slug: same('slug'),
  description: same('description'),
  url: readOnly('link'),
  parent: same('parent'),
};

/** Payload adds these to every record. The adapter translates the status. */
const PAYLOAD_POSTS: CoreLocations = {
  status: same('status'),
  date: instant('createdAt'),
  dateUtc: instant('createdAt'),
  modified: { ...instant('updatedAt'), readOnly: true },
  modifiedUtc: { ...instant('updatedAt'), readOnly: true },
};

export const CORE_LOCATIONS: Readonly<Record<CmsName, Readonly<Record<'posts' | 'terms', CoreLocations>>>> = {
  wordpress: { posts: WORDPRESS_POSTS, terms: WORDPRESS_TERMS },
  payload: { posts: PAYLOAD_POSTS, terms: {} },
};

/** True for a field that every post, or every term, of WordPress has. */
export const isCoreField = (key: string): boolean => key in WORDPRESS_POSTS || key in WORDPRESS_TERMS;
