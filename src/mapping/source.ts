// A mapping file as its author wrote it, checked against the schema.

import { Ajv, type ErrorObject } from 'ajv';
import { ConfigError } from '../errors.ts';
import type { Kind } from '../records.ts';
import schema from './mapping.schema.json' with { type: 'json' };

export type CodecSource =
  | string
  | {
      boolean?: [unknown, unknown];
      ids?: string | { objects: string };
      'local-datetime'?: string;
      'site-datetime'?: string;
      'utc-datetime'?: string;
      unix?: { wallClockAsUtc?: boolean; asText?: boolean };
      zone?: { site?: string; strict?: boolean };
      currency?: { symbol: string; position: string; positions?: [string, string] };
    };

export interface PartSource {
  at: string;
  format: string;
  number?: boolean;
}

export interface SpotSource {
  at?: string;
  json?: string;
  as?: CodecSource;
  clearWith?: unknown;
  parts?: PartSource[];
  clock?: 'event' | 'site' | 'utc';
}

export interface ViaSource {
  terms?: string;
  slug?: string;
  key?: string;
}

export interface FieldSource extends SpotSource {
  readOnly?: boolean;
  read?: string | SpotSource;
  write?: string | SpotSource | (string | SpotSource)[];
  value?: string | number | boolean;
  inline?: Record<string, string>;
  via?: ViaSource;
}

export interface KindSource {
  posts?: string;
  terms?: string;
  readOnly?: boolean;
  context?: 'view' | 'edit';
  listParams?: Record<string, string | number | boolean>;
  statuses?: string[];
  dedupe?: boolean;
  touchAfterCreate?: string[];
  fields?: Record<string, string | FieldSource>;
}

export interface PostTypeSource {
  type: string;
  singular: string;
  plural: string;
  rewrite?: string;
  icon?: string;
  existing?: boolean;
}

export interface TaxonomySource {
  taxonomy: string;
  singular?: string;
  plural?: string;
  rewrite?: string;
  hierarchical?: boolean;
  existing?: boolean;
}

export type MappingSource = {
  name: string;
  description?: string;
  upstream: 'wordpress';
  requiresHelper?: boolean;
  wordpress?: { posts?: Record<string, PostTypeSource>; terms?: Record<string, TaxonomySource> };
} & { event: KindSource } & { [K in Kind]?: KindSource };

const validate = new Ajv({ allErrors: true, strict: false }).compile<MappingSource>(schema);

/** Checks a mapping against the schema. Throws `ConfigError` naming the file, the JSON path and the reason. */
export function checkedSource(json: unknown, file: string): MappingSource {
  if (validate(json)) return json;
  const error = mostTelling(validate.errors ?? []);
  throw refusal(file, error?.instancePath ?? '', reasonOf(error));
}

/** The error for a place in a mapping file; `pointer` is a JSON path such as `/event/fields/cost`. */
export function refusal(file: string, pointer: string, reason: string, advice = ''): ConfigError {
  return new ConfigError(`mapping ${file}, at ${pointer === '' ? '/' : pointer}`, reason, advice);
}

/** Alternatives fail together with their parts: the deepest complaint says what is meant, and an unknown key more than all. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const rank = (error: ErrorObject): number =>
    error.instancePath.split('/').length * 10 +
    (error.keyword === 'additionalProperties' ? 5 : error.keyword === 'oneOf' || error.keyword === 'if' ? 0 : 2);
  return [...errors].sort((one, other) => rank(other) - rank(one))[0];
}

function reasonOf(error: ErrorObject | undefined): string {
  if (!error) return 'is not a mapping';
  const { keyword, params, message, parentSchema } = error;
  if (keyword === 'additionalProperties') {
    const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
    return `has the unknown key "${params.additionalProperty}"${known.length > 0 ? `; known are ${known.join(', ')}` : ''}`;
  }
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  return message ?? keyword;
}
