// JSON Schema in the dialect of OpenAPI 3.0, and builders for the schemas of response properties.

export interface Schema {
  /** A list in parameters only: OpenAPI 3.0 has none. */
  type?: string | string[];
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

const plainSchema =
  (type: string) =>
  (description?: string): Schema =>
    description === undefined ? { type } : { type, description };

export const textSchema = plainSchema('string');
export const integerSchema = plainSchema('integer');
export const urlSchema = (description: string): Schema => ({ type: 'string', format: 'uri', description });
export const dateTimeSchema = (description: string): Schema => ({
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
  description: `${description}, as YYYY-MM-DD HH:MM:SS`,
});
/** A date of an event. */
export const eventDateSchema = (description: string): Schema => ({
  type: 'string',
  pattern: '^(\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2})?$',
  description: `${description}, as YYYY-MM-DD HH:MM:SS; blank if the event has no date`,
});
/** `null` only in a protected event, venue or organizer. */
export const flagSchema = (description: string): Schema => ({ type: 'boolean', nullable: true, description });
export const listSchema = (items: Schema, description: string): Schema => ({ type: 'array', items, description });
export const emptyListSchema: Schema = { type: 'array', maxItems: 0, items: {} };

/** All properties are required, except those in `optional`. */
export function objectSchema(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return required.length > 0 ? { type: 'object', properties, required } : { type: 'object', properties };
}
