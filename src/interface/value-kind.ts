// What a kind of value is: what it accepts, how it is documented, how it is read, and what its checks may ask.

import type { Kind, PostKind, TermKind } from '../records.ts';

/** What a check may ask about the world: the records, the caller and the uploads. Answers may come from the CMS. */
export interface Lookups {
  /** Whether the caller may edit own records, that is, sees more than the public does. */
  staff: boolean;
  exists(kind: Kind, id: number): Promise<boolean>;
  slug(kind: PostKind, slug: string): Promise<boolean>;
  /** Id of the term with this slug, id or name, in that order. */
  term(kind: TermKind, text: string): Promise<number | undefined>;
  user(id: number): Promise<boolean>;
  /** Whether the caller may use this as an image: the id of an uploaded image, or the URL of an image. */
  image(value: string | number): Promise<boolean>;
}

/** A refusal that says more than "Invalid parameter." */
export interface NamedRefusal {
  code: string;
  message: string;
}

export interface ValueKind {
  /** JSON Schema of the value as the documentation shows it. */
  schema: { type?: string | string[]; items?: object; format?: string; enum?: readonly string[]; oneOf?: object[] };
  /** First stage: a value that fails is an "Invalid parameter." `null` is left to the second stage. */
  accepts?: (value: unknown) => boolean;
  /** Still the first stage, asked once `accepts` agreed. */
  found?: (value: unknown, lookups: Lookups) => boolean | NamedRefusal | Promise<boolean>;
  /** Second stage: the JSON type, as WordPress checks it. */
  typed?: 'string' | 'boolean' | 'integer';
  /** Accepted value -> what the operation gets. Absent: the value itself. */
  read?: (value: unknown) => unknown;
}

/** Whether it holds for all, asked one after another: a check may ask the CMS. */
export async function every<T>(values: T[], holds: (value: T) => boolean | Promise<boolean>): Promise<boolean> {
  for (const value of values) if (!(await holds(value))) return false;
  return true;
}
