// What is asked of each of the CMS's collections to keep a copy of it, and the little of a row that comparisons need.

import type { JoinTables } from '../mapping/joins.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { type CalendarRecord, type Kind, type Site, WITHHELD } from '../records.ts';
import type { Credentials, Native, Query } from '../upstream/port.ts';

/** One record kind as the copy asks for it. */
export interface Collection {
  kind: Kind;
  /** The collection's own name in the CMS. */
  base: string;
  posts: boolean;
  /** Ids repeat and totals are not trusted. */
  dedupe: boolean;
  /** Sent with every request for the copy: the mapping's own parameters, context and statuses. */
  scope: Query;
  /** The mapping's own parameters and context alone, for other callers. */
  params: Query;
  /** The mapping's own parameters for an anonymous reader. */
  open: Query;
  /** The mapping reads what the CMS shows to editors alone. */
  editing: boolean;
  /** Statuses that the copy holds; a plugin's own were made `publish` (mapping/fitting.ts). */
  statuses: readonly string[];
  /** Statuses of this collection that only staff see. */
  hidden: readonly string[];
  /** `_fields` of a whole record. */
  select: string;
  /** Paths of `select` without which a record cannot be read. */
  needs: readonly string[];
  /** Fields of a record that hold ids of terms. */
  lists: readonly string[];
  /** Readers of venues and organizers that are text inside an event. */
  inline: readonly ((native: Native, site: Site) => CalendarRecord | undefined)[];
  read(native: Native, site: Site, joins?: JoinTables): CalendarRecord;
}

/** A row without its contents. `modifiedUtc` is `''` for terms. */
export interface Row {
  id: number;
  modifiedUtc: string;
  status: string;
}

/** Terms first, so that what an event names is there before it; events last. */
const KIND_ORDER: readonly Kind[] = ['category', 'tag', 'venue', 'organizer', 'event'];

const HIDDEN_STATUSES = ['draft', 'pending', 'private', 'future', 'trash'];

export const ROW_FIELDS = 'id,modified_gmt,status';

/** Rows a request: the most that WordPress gives. */
export const PAGE_SIZE = 100;

/** The collections of a mapping. With a service account records of every status are held, without one only what everybody sees. */
export function collectionsOf(mapping: Mapping, service: Credentials): Collection[] {
  return KIND_ORDER.flatMap((kind) => {
    const map = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    if (!map) return [];
    const posts = map.as === 'posts';
    const hidden = posts ? [...HIDDEN_STATUSES, WITHHELD] : [];
    const held = ['publish', ...hidden];
    const asked = held.filter((status) => status !== WITHHELD);
    const scope: Query = { ...map.listParams };
    // An account that was refused is nobody to WordPress and gets what is public; only `edit` makes it say so. Terms are public anyway.
    if (service !== undefined && posts)
      Object.assign(scope, { context: 'edit', status: [...new Set([...asked, ...map.statuses])].join(',') });
    if (service !== undefined && map.context) scope.context = map.context;
    return [
      {
        kind,
        base: map.base,
        posts,
        dedupe: map.dedupe,
        scope,
        open: { ...map.listParams },
        editing: map.context === 'edit',
        params: { ...map.listParams, ...(map.context ? { context: map.context } : {}) },
        statuses: service === undefined ? ['publish'] : held,
        hidden,
        select: map.select,
        needs: map.needs,
        lists: Object.values(mapping.kinds).flatMap((one) =>
          one.as === 'terms' ? (one.base.split('/').at(-1) ?? []) : [],
        ),
        inline: Object.values(map.inline ?? {}),
        read: (native: Native, site: Site, joins?: JoinTables) => map.read(native, site, joins),
      },
    ];
  });
}

/** The id of a native row; 0 for what is no row. */
export function idOf(native: Native): number {
  const id = Number(native.id);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** What comparisons need of a native row. */
export function rowOf(native: Native): Row {
  const modified = typeof native.modified_gmt === 'string' ? native.modified_gmt.slice(0, 19).replace('T', ' ') : '';
  return { id: idOf(native), modifiedUtc: modified, status: typeof native.status === 'string' ? native.status : '' };
}

/** Milliseconds -> `YYYY-MM-DD HH:MM:SS` in UTC, in which `modified` is compared. */
export function utcText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
