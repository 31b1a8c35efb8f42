// What a check is, what it works with, and the findings that it returns: a state, a message, and what to do about it.

import type { Config } from '../../config-schema.ts';
import type { Field } from '../../interface/fields.ts';
import type { KindMapping, Mapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Kind, Site } from '../../model/records.ts';
import type { SampledRecord, Samples, SiteConnection } from '../open-site.ts';

export type RowState = 'ok' | 'warn' | 'fail';

export interface Finding {
  name?: string;
  state: RowState;
  message: string;
  /** What the operator can do about it. */
  advice?: string;
}

export interface CheckRow extends Finding {
  area: string;
  name: string;
}

export const ok = (message: string): Finding => ({ state: 'ok', message });
/** A warning and a failure always come with advice. */
export const warn = (message: string, advice: string): Finding => ({ state: 'warn', message, advice });
export const fail = (message: string, advice: string): Finding => ({ state: 'fail', message, advice });

export interface Check {
  area: string;
  /** Of its row. Absent if each finding has a name of its own. */
  name?: string;
  onlyWithWrite?: true;
  run(context: CheckContext): Promise<Finding | Finding[]>;
}

export interface WebhookListener {
  /** A record of the kind was written, which must send a webhook that names its collection. */
  wrote(kind: Kind, collection: string): void;
  /** Waits a little for webhooks that are still on their way. */
  finding(): Promise<Finding | Finding[]>;
  close(): void;
}

export interface CheckContext {
  config: Config;
  mapping: Mapping;
  /** Of the `plugin` command that makes this gateway's companion plugin. */
  pluginOptions: string;
  kinds: readonly KindMapping<Kind>[];
  cms: CmsChecks;
  connection: SiteConnection;
  site: Site;
  webhooks: WebhookListener | undefined;
  /** Kinds whose list failed or is missing: other checks of them would fail for the same reason. */
  unlisted: Set<Kind>;
  /** Some records of each kind, read once. */
  samples(): Promise<Samples>;
}

/** A field of the mapping, and what the site shows of it. */
export interface MappedField {
  kindMapping: KindMapping<Kind>;
  name: string;
  spec: string | FieldSpec;
  definition: Field;
  /** According to the site's schema; undefined if the site shows none. */
  writableFields: string[] | undefined;
  records: readonly SampledRecord[];
  /** There are records, and none has it. */
  isMissing: boolean;
}

/** How the operator does in this CMS what several checks advise. */
export interface CmsWords {
  /** Where records are edited. */
  admin: string;
  account: string;
  timeZone: string;
  /** Why the collection is not there, and how to show it. `options`: those of the `plugin` command. */
  collection(options: string): string;
  hiddenRecords: string;
  createRefused: string;
  /** Why the site keeps its value of a field, though it accepted another. */
  lost: string;
  /** Make the plugin of the site, and put it where it belongs. */
  plugin(options: string): string;
}

/** What is particular to one CMS: everything else is the same for all. */
export interface CmsChecks {
  connection: SiteConnection;
  words: CmsWords;
  /** Its own checks, which run after the lists. */
  listChecks?: readonly Check[];
  /** What the site tells of a field apart from the records' values; undefined for nothing. */
  judgeField(field: MappedField, context: CheckContext): Promise<Finding | undefined>;
  /** The finding of a kind whose records `check` does not write. */
  whyNotWritten?(kindMapping: KindMapping<Kind>): Promise<Finding | undefined>;
  /**
   * The record in an API of the event plugin itself, with the properties of this gateway's; undefined if there is none.
   * `record` is undefined if the API refuses it.
   */
  readByPlugin?(
    kindMapping: KindMapping<Kind>,
    id: number,
    mapping: Mapping,
  ): Promise<{ api: string; record: JsonObject | undefined } | undefined>;
}
