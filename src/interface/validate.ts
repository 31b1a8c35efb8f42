// Validates a request against the parameters of its endpoint: the lengths of its values (`checkLengths`), then the
// values in the two stages of The Events Calendar (`validate`); and parses them.

import { isObject } from '../model/json.ts';
import type { LinkedKind } from '../model/records.ts';
import { invalidParams, missingParams, type ParamError, wrongType } from './errors.ts';
import { BODY_PARAMETERS } from './fields.ts';
import type { Input, JsonType, Parameter, ParamType, ReferenceChecks, Verdict } from './parameter.ts';
import type { Endpoint } from './routes.ts';
import { GLOBAL_LIMITS, type Limit, MAX_NAMES, UNDECLARED_LIMIT } from './value-lengths.ts';
import { parseBoolean, parseNumber } from './value-types.ts';

type RequestValues = Readonly<Record<'path' | 'query' | 'body', Record<string, unknown>>>;

const JSON_TYPE_CHECKS: Record<JsonType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => parseBoolean(value) !== undefined,
  integer: (value) => Number.isInteger(parseNumber(value)),
};

/**
 * Call `checkLengths` before. The first stage validates the form of each value and what it refers to, and
 * reports errors in declared order. The second stage follows if the first found no error. It checks JSON
 * types, and reports errors in the order sent.
 * @throws ApiError `rest_missing_callback_param`, `rest_invalid_param`
 */
export async function validate(endpoint: Endpoint, request: RequestValues, checks: ReferenceChecks): Promise<Input> {
  const { parameters } = endpoint;
  // The body wins over the query. It is there twice so that its parameters come first in errors of the second stage.
  const sent = { ...request.body, ...request.query, ...request.body };
  const missing = parameters.filter(
    ({ name, required, inPath }) => required && !inPath && (sent[name] ?? null) === null,
  );
  if (missing.length > 0) throw missingParams(missing.map(({ name }) => name));

  const errors: ParamError[] = [];
  const resolved = new Map<string, unknown>();
  for (const parameter of parameters) {
    const value = parameter.inPath ? request.path[parameter.name] : sent[parameter.name];
    if (value === undefined || value === null) continue;
    const { accepts, verify } = parameter.type;
    const result = (accepts?.(value) ?? true) && (verify?.(value, checks) ?? true);
    // Most checks are synchronous.
    const verdict = result instanceof Promise ? await result : result;
    const error = paramError(parameter, value, verdict);
    if (error) errors.push(error);
    if (typeof verdict === 'object' && 'parsed' in verdict) resolved.set(parameter.name, verdict.parsed);
  }
  if (errors.length > 0) throw invalidParams(errors);

  const types = new Map(parameters.filter(({ inPath }) => !inPath).map(({ name, type }) => [name, type.jsonType]));
  const mistyped = Object.entries(sent).flatMap(([name, value]) => {
    const type = types.get(name);
    return type && !JSON_TYPE_CHECKS[type](value) ? [wrongType(name, type)] : [];
  });
  if (mistyped.length > 0) throw invalidParams(mistyped);
  // Only in a write does null have a meaning: it clears the field.
  const isWrite = endpoint.operation === 'create' || endpoint.operation === 'update';
  return parseInput(parameters, request.path, isWrite ? sent : withoutNull(sent), resolved);
}

function paramError({ name, type }: Parameter, value: unknown, verdict: Verdict): ParamError | undefined {
  if (typeof verdict === 'boolean') return verdict ? undefined : { name, hint: hintOf(type, value) };
  if ('parsed' in verdict) return undefined;
  return { name, message: verdict.message, detail: { ...verdict, data: { status: 400 } } };
}

export const hintOf = ({ hint, schema }: ParamType, value?: unknown): string | undefined =>
  typeof hint === 'function' ? hint(value) : (hint ?? (schema.enum && `Write one of: ${schema.enum.join(', ')}.`));

/** Parameters that some use case reads of every request, though no route declares them. */
const UNDECLARED: ReadonlySet<string> = new Set([...Object.keys(GLOBAL_LIMITS), 'context', '_embed']);

/** The names that the endpoint does not know: they have no effect. Scripts add `_=123` to get past caches. */
export const unknownNames = ({ parameters }: Endpoint, sent: Record<string, unknown>): string[] =>
  Object.keys(sent).filter(
    (name) => name !== '_' && !UNDECLARED.has(name) && !parameters.some((one) => one.name === name && !one.inPath),
  );

/** @param resolved parsed values by parameter, for those that validation has parsed */
function parseInput(
  parameters: readonly Parameter[],
  path: Record<string, unknown>,
  sent: Record<string, unknown>,
  resolved: ReadonlyMap<string, unknown>,
): Input {
  const input: Input = { path: {}, values: {}, raw: sent, byField: {}, parameterOf: {} };
  for (const { name, type, inPath, recordKey = name } of parameters) {
    const value = inPath ? path[name] : sent[name];
    if (value === undefined) continue;
    const parsed = resolved.has(name) ? resolved.get(name) : parseValue(type, value);
    if (inPath) {
      Object.assign(input.path, { [name]: parsed });
      continue;
    }
    input.values[name] = parsed;
    input.byField[recordKey] = parsed;
    input.parameterOf[recordKey] = name;
  }
  return input;
}

const parseValue = ({ parse }: ParamType, value: unknown): unknown => (value === null || !parse ? value : parse(value));

/** Parses a record inside a body (a venue in an event) with the parameters of its create route. */
export function parseInline(kind: LinkedKind, data: Record<string, unknown>): Input {
  return parseInput(BODY_PARAMETERS[kind], {}, withoutNull(data), new Map());
}

const withoutNull = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/** @throws ApiError 400 `rest_invalid_param` that names the values over the limits of these parameters */
export function checkLengths(sources: readonly Record<string, unknown>[], parameters: readonly Parameter[] = []): void {
  const errors = new Map<string, ParamError>();
  for (const values of sources)
    for (const error of findTooLong(values, parameters)) if (!errors.has(error.name)) errors.set(error.name, error);
  if (errors.size > 0) throw invalidParams([...errors.values()]);
}

function* findTooLong(values: Record<string, unknown>, parameters: readonly Parameter[]): Generator<ParamError> {
  const names = Object.keys(values);
  const [tooMany] = names.slice(MAX_NAMES);
  if (tooMany !== undefined) return yield { name: tooMany, message: `There are more than ${MAX_NAMES} parameters.` };
  for (const name of names) {
    const declared = parameters.find((parameter) => parameter.name === name);
    const value = values[name];
    const limit = declared?.limit ?? GLOBAL_LIMITS[name] ?? UNDECLARED_LIMIT;
    if (isTooLong(value, limit)) yield { name, message: `The value is too long: ${describeLimit(limit)}.` };
    else if (declared?.inline && typeof value === 'object' && value !== null) {
      const [field] = findTooLongFields(value, declared.inline);
      if (field) yield { name, message: `${field.name}: ${field.message}` };
    }
  }
}

function describeLimit({ characters, textCharacters, elementCharacters }: Limit): string {
  const asText = textCharacters === undefined ? '' : `, ${textCharacters} as one text`;
  const inElement = elementCharacters === undefined ? '' : `, ${elementCharacters} in one element`;
  return `at most ${characters} characters${asText}${inElement}`;
}

/** `value` is a record inside a body, or a list of them. */
function* findTooLongFields(value: object, fields: readonly Parameter[]): Generator<ParamError> {
  const records = isObject(value) ? [value, ...Object.values(value)] : Object.values(value);
  for (const record of records) if (isObject(record)) yield* findTooLong(record, fields);
}

export function isTooLong(value: unknown, limit: Limit): boolean {
  const { characters, textCharacters = characters, elementCharacters = characters } = limit;
  const isLong = (element: unknown): boolean => typeof element === 'string' && element.length > elementCharacters;
  if (typeof value === 'string')
    return value.length > textCharacters || (isLong(value) && value.split(',').some(isLong));
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) && value.some(isLong)) || JSON.stringify(value).length > characters;
}
