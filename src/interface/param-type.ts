// The shape of a parameter type: validation, parsing and JSON Schema of one kind of parameter value.

import type { Kind, PostKind, TermKind } from '../model/records.ts';

/** What validation needs to know about records, the actor and uploads. The checks may call the CMS. */
export interface ReferenceChecks {
  /** The actor may edit own records, and so sees more than the public. */
  isStaff: boolean;
  exists(kind: Kind, id: number): Promise<boolean>;
  slugExists(kind: PostKind, slug: string): Promise<boolean>;
  /** Id of the term with this slug, id or name; a slug takes precedence over an id, and an id over a name. */
  findTerm(kind: TermKind, text: string): Promise<number | undefined>;
  userExists(id: number): Promise<boolean>;
  /** True if the actor may use this as an image: the id of an uploaded image, or the URL of an image. */
  isUsableImage(value: string | number): Promise<boolean>;
}

/** An error of its own, instead of "Invalid parameter." */
export interface ParamErrorDetail {
  code: string;
  message: string;
}

/** The value is valid, and `parsed` is used instead of what `parse` would return. */
export interface ResolvedValue {
  parsed: unknown;
}

export type Verdict = boolean | ParamErrorDetail | ResolvedValue;

/** The type that WordPress checks in the second stage of validation. */
export type JsonType = 'string' | 'boolean' | 'integer';

/**
 * Validation has two stages, as in The Events Calendar: `accepts` and `verify` come first, `jsonType` second.
 */
export interface ParamType {
  /** JSON Schema for the documentation. */
  schema: {
    type?: string | string[];
    items?: object;
    format?: string;
    enum?: readonly string[];
    oneOf?: object[];
    additionalProperties?: object;
  };
  /** Valid values for the documentation, where the schema alone does not show what is accepted. */
  examples?: readonly string[];
  /** First stage: the form of the value. Not called for null. */
  accepts?: (value: unknown) => boolean;
  /** First stage: what the value refers to. Called only if `accepts` returned true. */
  verify?: (value: unknown, checks: ReferenceChecks) => Verdict | Promise<Verdict>;
  /** Second stage: the JSON type. */
  jsonType?: JsonType;
  /** Converts a valid value for the use case. Absent: the value is used as sent. */
  parse?: (value: unknown) => unknown;
}

/** Calls `test` for one value after the other, because it may call the CMS. Stops at the first false. */
export async function everyAsync<T>(values: T[], test: (value: T) => boolean | Promise<boolean>): Promise<boolean> {
  for (const value of values) if (!(await test(value))) return false;
  return true;
}
