// The shapes of a parameter of the API (in a path, a query or a body), of its type, and of the validated values; and
// JSON Schema in the dialect of OpenAPI 3.0.

import type { Kind, PostKind, TermKind } from '../model/records.ts';
import type { Limit } from './value-lengths.ts';

export interface Parameter {
  name: string;
  type: ParamType;
  /** Shown in the namespace index and in `/doc`. */
  description: string;
  limit: Limit;
  required?: boolean;
  /**
   * Only for the namespace index and the OpenAPI document: each use case has its own default. `computed`: they show
   * another one for each request or site (the namespace as called, the page size, the default date range).
   */
  shownDefault?: string | number | boolean | null | 'computed';
  /** Property of the record that the parameter sets: `start` of `start_date`. */
  property?: string;
  /** The value is a segment of the path. A query or body parameter of the same name is a different parameter. */
  inPath?: boolean;
  /**
   * The original lacks the parameter (docs/extensions.md). Only `/doc?complete=1` shows it: the namespace index and
   * `/doc` have the parameters that clients of the original know.
   */
  addition?: true;
}

export type ParameterOptions = Partial<Omit<Parameter, 'name' | 'type' | 'description' | 'limit'>>;

export const parameter = (
  name: string,
  type: ParamType,
  limit: Limit,
  description: string,
  options: ParameterOptions = {},
): Parameter => ({ name, type, description, limit, ...options });

/** What validation needs to know about records, the actor and uploads. The checks may call the CMS. */
export interface ReferenceChecks {
  /** The actor may edit own records, and so sees more than the public. */
  isStaff: boolean;
  exists(kind: Kind, id: number): Promise<boolean>;
  slugExists(kind: PostKind, slug: string): Promise<boolean>;
  /** Id of the term with this slug, id or name; a slug takes precedence over an id, and an id over a name. */
  findTerm(kind: TermKind, text: string): Promise<number | undefined>;
  userExists(id: number): Promise<boolean>;
  /** Whether the actor may use the image. Downloads a foreign URL, and keeps it for the write (`RequestImages`). */
  fetchImageIfUsable(value: string | number): Promise<boolean>;
}

/** The type that WordPress checks in the second stage of validation. */
export type JsonType = 'string' | 'boolean' | 'integer';

/**
 * Validation has two stages, as in The Events Calendar: first `accepts`, then `verify` or `resolve`; second `jsonType`.
 * Then comes `parse`; but what `resolve` has found is the value as it is.
 */
export interface ParamType {
  schema: Schema;
  /** Valid values for the documentation, where the schema alone does not show what is accepted. */
  examples?: readonly string[];
  /** What to write instead of a refused value, for the error. Default: one of the words of `schema.enum`. */
  hint?: string | ((value: unknown) => string);
  /** `tags[]=1&tags[]=2` and `tags=1,2` are lists. In a query `tags=1&tags=2` is one too: else the last would count. */
  isList?: true;
  /** The parameters of the records that the value can hold, such as a venue in the body of an event. */
  inline?: readonly Parameter[];
  /** The form of the value. Not called for null. */
  accepts?: (value: unknown) => boolean;
  /** What the value refers to. Called only if `accepts` returned true, as `resolve` is. */
  verify?: (value: unknown, checks: ReferenceChecks) => boolean | Promise<boolean>;
  /** Finds what the value refers to: slugs -> ids. Undefined: the value is refused. */
  resolve?: (value: unknown, checks: ReferenceChecks) => Promise<unknown>;
  /** Of a refused value, instead of "Invalid parameter." */
  error?: { code: string; message: string };
  jsonType?: JsonType;
  /** Converts a valid value for the use case. Absent: the value is used as sent. */
  parse?: (value: unknown) => unknown;
}

/** The result of validating a request: its values, by parameter and by property of the record. */
export interface Input {
  path: { id?: number; slug?: string };
  /** Parsed values, by parameter name. */
  values: Record<string, unknown>;
  /** Values as the client sent them, by parameter name; undeclared parameters too. */
  raw: Record<string, unknown>;
  /** The parsed values, by the property of the record that the parameter sets. */
  byProperty: Record<string, unknown>;
  /** Property of the record -> parameter name. */
  parameterOf: Record<string, string>;
}

export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  oneOf?: Schema[];
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  default?: unknown;
  nullable?: boolean;
  maxItems?: number;
  maxLength?: number;
  $ref?: string;
}
