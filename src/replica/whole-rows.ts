// Whether the CMS's rows have what was asked for: an answer whose rows lack it is no data.

import { UpstreamAway } from '../errors.ts';
import type { Kind } from '../records.ts';
import type { CollectionFacts, Native, Query } from '../upstream/port.ts';
import { type Collection, idOf } from './collections.ts';
import type { Commit } from './commit.ts';
import type { Replica } from './store.ts';

type Asked = Pick<Collection, 'kind' | 'base' | 'posts' | 'select' | 'needs' | 'lists'>;

export interface WholeRows {
  /** Resolves when every row has what the query asked for. Throws `UpstreamAway` with the names of what is missing. */
  check(
    collection: Partial<Asked> & Pick<Asked, 'base' | 'posts'>,
    query: Query,
    items: readonly Native[],
  ): Promise<void>;
  /** What a whole record lacks that a caller's request read or wrote: names, or undefined. */
  lackOf(kind: Kind, native: Native): string | undefined;
}

export interface WholeRowsOptions {
  replica: Replica;
  commit: Commit;
  collections: readonly Asked[];
  /** Records of the copy were read with other rights under another scope, and have other fields there. */
  scope: string;
  isComplete(): boolean;
  /** What the CMS says that the collection has. */
  facts(base: string): Promise<CollectionFacts>;
}

/** What WordPress gives of every post and of every term, whatever their type supports. */
const ALWAYS = {
  posts: ['id', 'slug', 'status', 'date', 'modified', 'modified_gmt', 'link'],
  terms: ['id', 'name', 'slug'],
};
/** Objects with fields of their own; PHP writes one that is empty as `[]`. */
const OBJECTS = new Set(['title', 'content', 'excerpt', 'meta']);
const TEXTS = new Set(['slug', 'name']);
const FILLED_TEXTS = new Set(['status', 'modified_gmt']);
const NUMBERS = new Set(['author', 'featured_media', 'parent', 'count']);
/** Shown to editors alone, so callers' answers may leave it out. */
const SOURCE = 'raw';

/** What a look at media asks for. */
export const MEDIA_FIELDS = 'id,modified_gmt';

interface Known {
  /** Places that every row had until now. */
  always: Set<string>;
  /** Places that some rows have and some have not. */
  varies: Set<string>;
}

/** `title.raw,title.rendered,meta.a,acf.b` -> `title.rendered`, `meta.a`, `acf`: the places that are the same in all rows of a type. */
export function placesIn(fields: string): string[] {
  const places = fields.split(',').flatMap((path) => {
    const [root = '', key] = path.split('.');
    if (!OBJECTS.has(root) || key === undefined) return [root];
    return key === SOURCE ? [] : [`${root}.${key}`];
  });
  return [...new Set(places)].filter((place) => place !== '');
}

function isPresent(native: Native, place: string, lists: readonly string[]): boolean {
  const [root = '', key] = place.split('.');
  const value = native[root];
  if (root === 'id') return idOf(native) > 0;
  if (OBJECTS.has(root)) {
    if (typeof value !== 'object' || value === null || (Array.isArray(value) && value.length > 0)) return false;
    const inner = key === undefined ? true : (value as Native)[key];
    return key === 'rendered' ? typeof inner === 'string' : inner !== undefined;
  }
  if (TEXTS.has(root)) return typeof value === 'string';
  if (FILLED_TEXTS.has(root)) return typeof value === 'string' && value !== '';
  if (NUMBERS.has(root)) return typeof value === 'number';
  if (lists.includes(root)) return Array.isArray(value);
  return value !== undefined;
}

/** Which of these places a row lacks. */
export function lackingIn(native: Native, places: readonly string[], lists: readonly string[] = []): string[] {
  return places.filter((place) => !isPresent(native, place, lists));
}

/** The failure that a poll reports, and a caller's request answers with. */
export function incomplete(base: string, lacking: Iterable<string>, id: number, outcomeUnknown = false): UpstreamAway {
  const which = id > 0 ? `record ${id} of ${base}` : `a record of ${base}`;
  const names = [...lacking].join(', ');
  return new UpstreamAway('incomplete', `The CMS's answer is incomplete: ${which} lacks ${names}.`, { outcomeUnknown });
}

/**
 * Knows from three sources which fields rows have: what WordPress gives of every record; what the mapping requires; and what every row
 * of the collection had until now, which the replica keeps. A field of the last kind may really disappear, with a plugin that an operator
 * removes: then the CMS no longer describes it.
 */
export function createWholeRows(options: WholeRowsOptions): WholeRows {
  const { replica, commit, scope, isComplete } = options;
  const stateKey = (kind: Kind) => `sync.fields.${scope}.${kind}`;
  const known = new Map<Kind, Known>();

  function knownOf(kind: Kind): Known {
    let found = known.get(kind);
    if (!found) {
      const kept = JSON.parse(replica.state(stateKey(kind)) ?? '{}') as { always?: string[]; varies?: string[] };
      found = { always: new Set(kept.always), varies: new Set(kept.varies) };
      known.set(kind, found);
    }
    return found;
  }

  async function keep(kind: Kind): Promise<void> {
    const { always, varies } = knownOf(kind);
    const text = JSON.stringify({ always: [...always], varies: [...varies] });
    if (text !== replica.state(stateKey(kind))) await commit(() => ({ state: { [stateKey(kind)]: text } }));
  }

  const certainOf = (collection: Asked): string[] => [
    ...(collection.posts ? ALWAYS.posts : ALWAYS.terms),
    ...placesIn(collection.needs.join(',')).map((place) => place.split('.', 1)[0] ?? ''),
  ];

  /** Whether the CMS itself says that its records do not have this any more. */
  async function isUnknownToCms(collection: Asked, place: string): Promise<boolean> {
    if (collection.needs.some((path) => path === place || path.startsWith(`${place}.`))) return false;
    const { fields } = await options.facts(collection.base);
    const name = place.startsWith('meta.') ? place : (place.split('.', 1)[0] ?? '');
    return fields !== undefined && !fields.includes(name);
  }

  return {
    async check({ kind, base, posts, select = '', needs = [], lists = [] }, query, items) {
      const fields = query._fields;
      if (kind === undefined || typeof fields !== 'string' || items.length === 0) return;
      const collection = { kind, base, posts, select, needs, lists };
      const asked = placesIn(fields);
      const certain = certainOf(collection).filter(
        (place) => place.includes('.') || asked.some((one) => one.split('.', 1)[0] === place),
      );
      for (const item of items) {
        const lacking = lackingIn(item, [...new Set(certain)], lists);
        if (lacking.length > 0) throw incomplete(base, lacking, idOf(item));
      }
      if (fields !== select) return;
      const { always, varies } = knownOf(kind);
      for (const place of asked) {
        const without = items.filter((item) => !isPresent(item, place, lists));
        if (without.length === 0) {
          if (!varies.has(place)) always.add(place);
          continue;
        }
        if (!always.has(place)) {
          if (without.length < items.length) varies.add(place);
          continue;
        }
        const some = without.length < items.length;
        if (some && !isComplete()) varies.add(place);
        else if (some || !(await isUnknownToCms(collection, place))) throw incomplete(base, [place], idOf(without[0]!));
        always.delete(place);
      }
      await keep(kind);
    },
    lackOf(kind, native) {
      const collection = options.collections.find((one) => one.kind === kind);
      if (!collection) return undefined;
      const places = new Set([...certainOf(collection), ...knownOf(kind).always]);
      const lacking = lackingIn(native, [...places], collection.lists);
      return lacking.length > 0 ? lacking.join(', ') : undefined;
    },
  };
}
