// A compiled mapping: for each record kind, the collection it lives in and the functions that read and write it.

import { createHash } from 'node:crypto';
import type { FieldsOf, Kind, RecordOf, Site } from '../records.ts';
import type { Native, Query } from '../upstream/port.ts';
import type { InlineReader } from './inline.ts';
import type { Join, JoinTables } from './joins.ts';
import type { MappingSource } from './source.ts';

export interface KindMapping<K extends Kind> {
  kind: K;
  /** The collection's own name in the CMS (`rest_base`). */
  base: string;
  /** Whether the CMS holds the kind as posts or as terms (a venue may be either). */
  as: 'posts' | 'terms';
  readOnly: boolean;
  /** Sent with every list request. */
  listParams: Query;
  /** Statuses of the CMS that are asked for in lists, beside the usual ones. */
  statuses: string[];
  /** `edit`: the fields are only shown where the CMS is asked for editing. */
  context?: 'view' | 'edit';
  /** The list repeats rows or inflates totals: ids count once and totals are not trusted. */
  dedupe: boolean;
  /** What `_fields` asks for: no more than the mapping reads. */
  select: string;
  /**
   * Paths of `select` without which no record of this kind can be read; and, if every record had it, the key by which the site hides
   * events from its lists: without it the gateway would list them.
   */
  needs: string[];
  /** Body paths sent once more after a create, for plugins that only look at updates. */
  touchAfterCreate: string[];
  /** Interface fields that can be written. */
  writable: ReadonlySet<keyof FieldsOf[K]>;
  /** Where a field is written, in the CMS's own words (`meta.cost`), for messages and checks. */
  places: ReadonlyMap<keyof FieldsOf[K], string>;
  /**
   * Events only: linked records that are text inside the event, read-only. `read` gives the event their ids (made of the text, at
   * least 2^52); whoever keeps records keeps these beside it.
   */
  inline?: { venue?: InlineReader; organizer?: InlineReader };
  /** Events only: fields whose stored ids are not those of the linked records; their tables go into `read` and `write`. */
  joins?: Join[];
  /** Native record -> record. Never throws on odd content: what cannot be read is the field's empty value. */
  read(native: Native, site: Site, joins?: JoinTables): RecordOf[K];
  /** Fields that change -> native body. `before` is the native record, needed where `mergesInto` says so. Throws `GatewayError` for a value the CMS's format cannot hold. */
  write(fields: Partial<FieldsOf[K]>, context: { site: Site; before?: Native; joins?: JoinTables }): Native;
  /** Whether writing these fields needs the native record (JSON in a string that is merged). */
  mergesInto(fields: Partial<FieldsOf[K]>): boolean;
}

/** A kind that the CMS does not have is absent: its lists are empty and it cannot be written. */
export type Kinds = { [K in Kind]?: KindMapping<K> } & { event: KindMapping<'event'> };

export interface Mapping {
  name: string;
  upstream: 'wordpress';
  /** The site needs the generated PHP file. */
  requiresHelper: boolean;
  /** The mapping as the operator wrote it (validated), for `snippet` and `check`. */
  source: MappingSource;
  kinds: Kinds;
}

/** Short, and another for every mapping that says something else: copies made by one are nothing to another. */
export const fingerprintOf = ({ source }: Mapping): string =>
  createHash('sha256').update(JSON.stringify(source)).digest('hex').slice(0, 16);
