// The shape of a parameter of the API, in a path, a query or a body.

import type { Limit, Limits } from './limits.ts';
import type { ParamType } from './param-type.ts';

export interface Parameter {
  name: string;
  type: ParamType;
  /** Shown in the namespace index and in `/doc`. */
  description: string;
  limit: Limit;
  required?: boolean;
  /**
   * As the namespace index shows it. `computed`: determined per request (the page size, the default date
   * range).
   */
  default?: string | number | boolean | null | 'computed';
  /** Property of the record that the parameter sets, if its name differs. */
  recordKey?: string;
  /**
   * The value is a segment of the path. A query or body parameter of the same name is a different parameter.
   */
  inPath?: boolean;
  /**
   * The original lacks the parameter (docs/extensions.md). Only the complete OpenAPI document shows it: the
   * namespace index and `/doc` stay as clients of the original know them.
   */
  addition?: true;
  /** The parameters of the records that can be embedded in the value. */
  embedded?: () => Parameter[];
}

export type ParameterOptions = Partial<Omit<Parameter, 'name' | 'type' | 'description' | 'limit'>>;

export const parameter = (
  name: string,
  type: ParamType,
  limit: Limit,
  description: string,
  options: ParameterOptions = {},
): Parameter => ({ name, type, description, limit, ...options });

/**
 * The limits of these parameters, by name. A path parameter and another one of the same name have the same
 * limit.
 */
export const limitsOf = (parameters: readonly Parameter[]): Limits =>
  new Map(
    parameters.map(({ name, limit, embedded }) => [name, { limit, fields: embedded && limitsOf(embedded()) }] as const),
  );
