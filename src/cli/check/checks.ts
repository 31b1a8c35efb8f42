// What a check works with, and what it returns: findings, each with a state, a message, and what to do about it.

import type { Config } from '../../config-schema.ts';
import type { Field } from '../../interface/fields.ts';
import type { KindMapping, Mapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Kind, Site } from '../../model/records.ts';
import type { SampledRecord, SiteConnection, SiteSamples } from '../open-site.ts';

export type FindingState = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** What was looked at: a collection, a field, the clock. */
  name: string;
  state: FindingState;
  message: string;
  advice?: string;
}

/** A finding as `check --json` prints it. */
export interface CheckRow extends Finding {
  area: string;
}

const finding =
  (state: 'warn' | 'fail') =>
  (name: string, message: string, advice: string): Finding => ({ name, state, message, advice });

export const ok = (name: string, message: string): Finding => ({ name, state: 'ok', message });
export const warn = finding('warn');
export const fail = finding('fail');

export type Check = (context: CheckContext) => Promise<Finding[]>;

export interface CheckContext extends CmsChecks {
  config: Config;
  mapping: Mapping;
  kindMappings: readonly KindMapping<Kind>[];
  site: Site;
  /** Some records of each kind, read once. */
  samples(): Promise<SiteSamples>;
  /** How to make the plugin of the site. `hasWebhooks`: with webhooks; by default if a secret is configured. */
  pluginAdvice(hasWebhooks?: boolean): string;
  write: boolean;
  /** Defined only with `--write`, and if a webhook secret is configured. */
  webhooks: WebhookListener | undefined;
}

export interface WebhookListener {
  /** A record of the kind was written: the site must send a webhook that names its collection. */
  expect(kind: Kind, collection: string): void;
  /** Waits a little for webhooks that are still on their way. */
  findings(): Promise<Finding[]>;
  close(): void;
}

/** What is particular to one CMS: everything else is the same for all. */
export interface CmsChecks {
  connection: SiteConnection;
  advice: CmsAdvice;
  /** The site tells its time zone, or the mapping names it. */
  hasTimeZone: boolean;
  /** The site may refuse a draft of an event that has no start and end. */
  needsTimes: boolean;
  /** What the CMS must have switched on in each collection. */
  checkCollections?(kindMappings: readonly KindMapping<Kind>[]): Promise<Finding[]>;
  /** What the site tells of a field apart from the records' values; undefined for nothing. */
  judgeField(field: MappedField, context: CheckContext): Promise<Finding | undefined>;
  /** Undefined: `check --write` writes a draft of this kind. Else the finding why it does not. */
  whyNotWritten?(kindMapping: KindMapping<Kind>): Promise<Finding | undefined>;
  /** The record in an API of the event plugin itself; undefined if there is no such API. */
  readByPlugin?(kindMapping: KindMapping<Kind>, id: number): Promise<PluginRecord | undefined>;
}

export interface PluginRecord {
  api: string;
  /** With the properties of this gateway's API; undefined if the plugin's API refuses it. */
  record: JsonObject | undefined;
}

/** How the operator does in this CMS what several checks advise. */
export interface CmsAdvice {
  /** Where records are edited: `wp-admin`. */
  admin: string;
  /** As all below, sentences: `Make an application password for an editor (wp-admin > Users > Profile) ...` */
  account: string;
  timeZone: string;
  /** Why the collection is not there, and how to show it. */
  collection(pluginAdvice: string): string;
  hiddenRecords: string;
  createRefused: string;
  /** Why the site keeps its value of a field, though it accepted another. */
  lost: string;
}

/** A field of the mapping, and what the site shows of it. */
export interface MappedField {
  kindMapping: KindMapping<Kind>;
  name: string;
  spec: string | FieldSpec;
  /** Where it is read. */
  paths: readonly string[];
  definition: Field;
  /** According to the site's schema; undefined if the site shows none. */
  writableFields: string[] | undefined;
  records: readonly SampledRecord[];
  /** There are records, and none has it. */
  isMissing: boolean;
}

export function absence({ paths, records, definition: { property, required } }: MappedField): string {
  const absent = `${paths.join(', ')} is in none of ${records.length} records`;
  if (property === 'hidden') return `${absent}: the gateway lists the events that the site hides from its lists`;
  return required ? `${absent}, and the gateway lists no event without it` : absent;
}
