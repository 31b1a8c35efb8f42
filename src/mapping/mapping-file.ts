// The types of a mapping file, and its validation against mapping.schema.json, which describes each key.

import { Ajv, type ErrorObject } from 'ajv';
import type { SiteSpec } from '../cms/port.ts';
import { ConfigError } from '../errors.ts';
import type { Kind } from '../model/records.ts';
import type { CodecSpec } from './field-accessor.ts';
import schema from './mapping.schema.json' with { type: 'json' };

export interface DatePartSpec {
  at: string;
  format: string;
}

/** Where a value is stored, and in which form. */
export interface LocationSpec {
  at?: string;
  /** At `meta.when` is a JSON text, and in it the value at this path: `from`. */
  json?: string;
  as?: CodecSpec;
  /** Stored for an empty value, such as `null` for a number of ACF. */
  clearWith?: unknown;
  parts?: DatePartSpec[];
}

/** How an event refers to a linked record, if not by id (references.ts). */
export interface LinkSpec {
  /** The taxonomy whose terms stand for the records, and what a term's slug is: `_place` and `_{slug}`. */
  terms?: string;
  slug?: string;
  /** Where the record has the number that the event holds: `meta._location_id`. */
  key?: string;
}

export interface FieldSpec extends LocationSpec {
  readOnly?: boolean;
  read?: string | LocationSpec;
  write?: string | LocationSpec | (string | LocationSpec)[];
  /** Of every record, without being stored: `true` of `all_day`. */
  value?: string | number | boolean;
  /** A venue that is text in the event: `{ "venue": "meta.where", "city": "meta.town" }`. */
  embedded?: Record<string, string>;
  via?: LinkSpec;
  /** Names of other fields: an update of one of them sends this field too. */
  sentWith?: string[];
}

/** `"meta.cost"` is short for `{ "at": "meta.cost" }`. */
export const fieldSpecOf = (spec: string | FieldSpec): FieldSpec => (typeof spec === 'string' ? { at: spec } : spec);

/** A value of the site that the API has no field for. */
export interface CustomFieldSpec extends LocationSpec {
  readOnly?: boolean;
  label?: string;
  type?: 'text' | 'boolean';
  filter?: boolean;
}

/** The days before and after today whose occurrences are events. */
export interface OccurrenceWindow {
  pastDays?: number;
  futureDays?: number;
}

/** The key of a CMS is for its adapter alone: `wordpress` (src/cms/wordpress/record-form.ts). */
export interface KindSpec extends Partial<Record<CmsName, Readonly<Record<string, unknown>>>> {
  posts?: string;
  terms?: string;
  collection?: string;
  readOnly?: boolean;
  dedupe?: boolean;
  occurrences?: OccurrenceWindow;
  fields?: Record<string, string | FieldSpec>;
  custom_fields?: Record<string, string | CustomFieldSpec>;
}

export const collectionName = ({ posts, terms, collection }: KindSpec): string => posts ?? terms ?? collection ?? '';

/** A post type, whose name is `type`, or a taxonomy. */
export interface RegisteredSpec {
  type?: string;
  taxonomy?: string;
  singular?: string;
  plural?: string;
  rewrite?: string;
  icon?: string;
  hierarchical?: boolean;
  /** Another plugin registers it: the companion plugin only opens it to the REST API. */
  existing?: boolean;
}

/** What a mapping says of a site of each CMS: a key of the file. A further CMS begins with its row here. */
interface SiteSpecs {
  /** The companion plugin. */
  wordpress: {
    requiresCompanionPlugin?: boolean;
    posts?: Record<string, RegisteredSpec>;
    terms?: Record<string, RegisteredSpec>;
    /** The companion plugin's part for an event plugin (src/cli/plugin/hooks/). */
    hooks?: string;
  };
  payload: SiteSpec;
}

export type CmsName = keyof SiteSpecs;

export type MappingFile = {
  name: string;
  description?: string;
  /** `cms` in `Mapping`. */
  upstream: CmsName;
  /** How `init` presents a mapping that comes with the gateway, and recognizes its site. */
  preset?: { title: string; note?: string; wordpress?: { plugins?: string[]; namespaces?: string[] } };
} & Partial<SiteSpecs> & { event: KindSpec } & { [K in Kind]?: KindSpec };

const validate = new Ajv({ allErrors: true, strict: false, verbose: true }).compile<MappingFile>(schema);

/** @throws ConfigError that names the file, the JSON pointer and the reason */
export function validateMappingFile(json: unknown, file: string): MappingFile {
  if (validate(json)) return json;
  const [error] = validate.errors!.toSorted((a, b) => specificity(b) - specificity(a));
  throw mappingError(file, error!.instancePath, reasonOf(error!));
}

/** An error at a location in a mapping file. `pointer` is a JSON pointer such as `/event/fields/cost`. */
export function mappingError(file: string, pointer: string, reason: string): ConfigError {
  return new ConfigError(`mapping ${file}, at ${pointer === '' ? '/' : pointer}`, reason);
}

/** A `oneOf` fails together with its parts. The deepest error tells the operator most, above all an unknown key. */
function specificity({ instancePath, keyword }: ErrorObject): number {
  const depth = instancePath.split('/').length;
  if (keyword === 'oneOf' || keyword === 'if') return depth - 0.5;
  return keyword === 'additionalProperties' ? depth + 0.5 : depth;
}

function reasonOf({ keyword, params, message, parentSchema }: ErrorObject): string {
  if (keyword === 'additionalProperties') {
    const known = Object.keys(parentSchema?.properties ?? {}).join(', ');
    return `has the unknown key "${params.additionalProperty}"${known === '' ? '' : `; known are ${known}`}`;
  }
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
  if (keyword === 'false schema') return 'is not for the CMS that "upstream" names, or not for this kind or field';
  return message ?? keyword;
}
