// The result of validating a request: its values, by parameter and by record field.

export interface Input {
  path: { id?: number; slug?: string };
  /** Parsed values, by parameter name. */
  values: Record<string, unknown>;
  /** Values as the client sent them, by parameter name; undeclared parameters too. */
  sent: Record<string, unknown>;
  /** The parsed values, by the name of the record field that the parameter sets. */
  fields: Record<string, unknown>;
  /** Record field -> parameter name. */
  parameterOf: Record<string, string>;
}
