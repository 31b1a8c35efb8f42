// Where a CMS itself stores fields of every record, so that a mapping need not name them.

import type { CodecSpec } from './codecs/codec.ts';
import type { CmsName } from './mapping-file.ts';

export interface CoreLocation {
  read: string;
  /** Absent: the CMS does not let clients write it, or the gateway does not. */
  write?: string;
  /** Default: the codec of the field's type. */
  as?: CodecSpec;
}

/** By the record's property (`key` in the field table). */
type CoreLocations = Readonly<Record<string, CoreLocation>>;

const same = (path: string): CoreLocation => ({ read: path, write: path });
const rendered = (path: string): CoreLocation => ({ read: `${path}.rendered`, write: path });
const instant = (path: string): CoreLocation => ({ ...same(path), as: 'instant' });

const WORDPRESS_POSTS: CoreLocations = {
  title: rendered('title'),
  slug: same('slug'),
  description: rendered('content'),
  excerpt: rendered('excerpt'),
  status: same('status'),
  author: same('author'),
  date: same('date'),
  dateUtc: same('date_gmt'),
  modified: { read: 'modified' },
  modifiedUtc: { read: 'modified_gmt' },
  url: { read: 'link' },
  protected: { read: 'content.protected' },
  image: same('featured_media'),
  parent: { read: 'parent' },
};

const WORDPRESS_TERMS: CoreLocations = {
  /** The name of a venue or organizer that is a term. */
  title: same('name'),
  name: same('name'),
  slug: same('slug'),
  description: same('description'),
  url: { read: 'link' },
  parent: same('parent'),
};

/** Payload adds these to every record. The adapter translates the status. */
const PAYLOAD_POSTS: CoreLocations = {
  status: same('status'),
  date: instant('createdAt'),
  dateUtc: instant('createdAt'),
  modified: { read: 'updatedAt', as: 'instant' },
  modifiedUtc: { read: 'updatedAt', as: 'instant' },
};

export const CORE_LOCATIONS: Readonly<Record<CmsName, Readonly<Record<'posts' | 'terms', CoreLocations>>>> = {
  wordpress: { posts: WORDPRESS_POSTS, terms: WORDPRESS_TERMS },
  payload: { posts: PAYLOAD_POSTS, terms: {} },
};

/** True for a field that every post, or every term, of WordPress has. */
export const isCoreField = (key: string): boolean => key in WORDPRESS_POSTS || key in WORDPRESS_TERMS;
