// Where WordPress itself stores fields of every post or term, so that a mapping need not name them.

export interface CoreLocation {
  read: string;
  /** Absent: WordPress does not let clients write it, or the gateway does not. */
  write?: string;
}

const same = (path: string): CoreLocation => ({ read: path, write: path });
const rendered = (path: string): CoreLocation => ({ read: `${path}.rendered`, write: path });

/** By the record's property (`key` in the field table). */
export const CORE_LOCATIONS: Readonly<Record<'posts' | 'terms', Readonly<Record<string, CoreLocation>>>> = {
  posts: {
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
  },
  terms: {
    /** The name of a venue or organizer that is a term. */
    title: same('name'),
    name: same('name'),
    slug: same('slug'),
    description: same('description'),
    url: { read: 'link' },
    parent: same('parent'),
  },
};

/** True for a field that every post, or every term, has. */
export const isCoreField = (key: string): boolean => key in CORE_LOCATIONS.posts || key in CORE_LOCATIONS.terms;
