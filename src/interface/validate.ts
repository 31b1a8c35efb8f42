// Validates a request against the parameters of its endpoint: the lengths of its values (`checkLengths`), then the
// values in the two stages of The Events Calendar (`validate`); and parses them.

import { isObject } from '../model/json.ts';
import type { LinkedKind } from '../model/records.ts';
import { invalidParams, missingParams, type ParamError, wrongType } from './errors.ts';
import { BODY_PARAMETERS } from './fields.ts';
import type { Input, JsonType, Parameter, ParamType, ReferenceChecks } from './parameter.ts';
import type { Endpoint } from './routes.ts';
import { GLOBAL_LIMITS, type Limit, MAX_NAMES, UNDECLARED_LIMIT } from './value-lengths.ts';
import { parseBoolean, parseLinkedItems, parseNumber } from './value-types.ts';

type Values = Readonly<Record<string, unknown>>;
/** What `resolve` found, by parameter: the ids of terms that were sent as slugs. */
type Resolved = ReadonlyMap<string, unknown>;

const JSON_TYPE_CHECKS: Record<JsonType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => parseBoolean(value) !== undefined,
  integer: (value) => Number.isInteger(parseNumber(value)),
};

/**
 * Call `checkLengths` before. As in The Events Calendar, each step reports all its errors at once, and the next one
 * runs only without errors:
 *
 * 1. required parameters that are missing;
 * 2. the first stage: the form of each value and what it refers to, in the order in which the endpoint declares them;
 * 3. the second stage: JSON types, in the order in which the client sent the values, those of the body first.
 */
export async function validate(
  { parameters, operation }: Endpoint,
  { path, query, body }: Readonly<Record<'path' | 'query' | 'body', Values>>,
  checks: ReferenceChecks,
): Promise<Input> {
  // Of a name that is in both, the value in the body counts.
  const sent = { ...query, ...body };
  rejectMissing(parameters, sent);
  const resolved = await checkValues(parameters, path, sent, checks);
  checkJsonTypes(parameters, sent, new Set([...Object.keys(body), ...Object.keys(query)]));
  // Only in a write does null have a meaning: it clears the field.
  const isWrite = operation === 'create' || operation === 'update';
  return parseInput(parameters, path, isWrite ? sent : withoutNull(sent), resolved);
}

function rejectMissing(parameters: readonly Parameter[], sent: Values): void {
  const isMissing = ({ name, required, inPath }: Parameter) => required && !inPath && (sent[name] ?? null) === null;
  const missing = parameters.filter(isMissing);
  if (missing.length > 0) throw missingParams(missing.map(({ name }) => name));
}

async function checkValues(
  parameters: readonly Parameter[],
  path: Values,
  sent: Values,
  checks: ReferenceChecks,
): Promise<Resolved> {
  const errors: ParamError[] = [];
  const resolved = new Map<string, unknown>();
  for (const parameter of parameters) {
    const { name, type, inPath } = parameter;
    const value = (inPath ? path : sent)[name] ?? undefined;
    // Null passes this stage as if it were not sent. `checkJsonTypes` refuses it of a type with a `jsonType`.
    if (value === undefined) continue;
    let isValid = type.accepts?.(value) ?? true;
    if (isValid && type.verify) isValid = await type.verify(value, checks);
    if (isValid && type.resolve) {
      resolved.set(name, await type.resolve(value, checks));
      isValid = resolved.get(name) !== undefined;
    }
    if (!isValid) errors.push(paramError(parameter, value));
  }
  if (errors.length > 0) throw invalidParams(errors);
  return resolved;
}

function checkJsonTypes(parameters: readonly Parameter[], sent: Values, names: ReadonlySet<string>): void {
  const errors = [...names].flatMap((name) => {
    const type = parameters.find((one) => one.name === name && !one.inPath)?.type.jsonType;
    return type && !JSON_TYPE_CHECKS[type](sent[name]) ? [wrongType(name, type)] : [];
  });
  if (errors.length > 0) throw invalidParams(errors);
}

function paramError({ name, type }: Parameter, value: unknown): ParamError {
  const { error } = type;
  if (!error) return { name, hint: hintOf(type, value) };
  return { name, message: error.message, detail: { ...error, data: { status: 400 } } };
}

export const hintOf = ({ hint, schema }: ParamType, value?: unknown): string | undefined =>
  typeof hint === 'function' ? hint(value) : (hint ?? (schema.enum && `Write one of: ${schema.enum.join(', ')}.`));

/** Parameters that some use case reads of every request, though no route declares them. */
const UNDECLARED: ReadonlySet<string> = new Set([...Object.keys(GLOBAL_LIMITS), 'context', '_embed']);

/** The names that the endpoint does not know: they have no effect. Scripts add `_=123` to get past caches. */
export function unknownNames({ parameters }: Endpoint, sent: Values): string[] {
  const isDeclared = (name: string) => parameters.some((one) => one.name === name && !one.inPath);
  return Object.keys(sent).filter((name) => name !== '_' && !UNDECLARED.has(name) && !isDeclared(name));
}

function parseInput(parameters: readonly Parameter[], path: Values, sent: Values, resolved: Resolved): Input {
  const input: Input = { path: {}, values: {}, raw: sent, byProperty: {}, parameterOf: {} };
  for (const { name, type, inPath, property = name } of parameters) {
    const value = inPath ? path[name] : sent[name];
    if (value === undefined) continue;
    const result = resolved.has(name) ? resolved.get(name) : parseValue(type, value);
    if (inPath) Object.assign(input.path, { [name]: result });
    else {
      input.values[name] = result;
      input.byProperty[property] = result;
      input.parameterOf[property] = name;
    }
  }
  return input;
}

const parseValue = ({ parse }: ParamType, value: unknown): unknown => (value === null || !parse ? value : parse(value));

/** Parses a record inside a body (a venue in an event) with the parameters of its create route. */
export const parseInline = (kind: LinkedKind, data: Values): Input =>
  parseInput(BODY_PARAMETERS[kind], {}, withoutNull(data), new Map());

const withoutNull = (data: Values): Values =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/** @throws ApiError 400 `rest_invalid_param` that names the values over the limits of these parameters */
export function checkLengths(sources: readonly Values[], parameters: readonly Parameter[] = []): void {
  const errors = sources.flatMap((values) => lengthErrors(values, parameters));
  if (errors.length > 0) throw invalidParams(errors);
}

function lengthErrors(values: Values, parameters: readonly Parameter[]): ParamError[] {
  const names = Object.keys(values);
  const firstTooMany = names[MAX_NAMES];
  if (firstTooMany !== undefined)
    return [{ name: firstTooMany, message: `There are more than ${MAX_NAMES} parameters.` }];
  return names.flatMap((name) => {
    const declared = parameters.find((parameter) => parameter.name === name);
    const limit = declared?.limit ?? GLOBAL_LIMITS[name] ?? UNDECLARED_LIMIT;
    const value = values[name];
    if (isTooLong(value, limit)) return [{ name, message: `The value is too long: ${describeLimit(limit)}.` }];
    const inline = declared?.type.inline;
    if (!inline) return [];
    // Of a venue in the body of an event: `city: The value is too long`.
    const [inner] = parseLinkedItems(value).flatMap((item) => (isObject(item) ? lengthErrors(item, inline) : []));
    return inner ? [{ name, message: `${inner.name}: ${inner.message}` }] : [];
  });
}

function describeLimit({ characters, textCharacters, elementCharacters }: Limit): string {
  const asText = textCharacters === undefined ? '' : `, ${textCharacters} as one text`;
  const inElement = elementCharacters === undefined ? '' : `, ${elementCharacters} in one element`;
  return `at most ${characters} characters${asText}${inElement}`;
}

/** The examples are at `Limit`. */
export function isTooLong(value: unknown, limit: Limit): boolean {
  const { characters, textCharacters = characters, elementCharacters = characters } = limit;
  const isLongElement = (item: unknown): boolean => typeof item === 'string' && item.length > elementCharacters;
  if (typeof value === 'string') return value.length > textCharacters || value.split(',').some(isLongElement);
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) && value.some(isLongElement)) || JSON.stringify(value).length > characters;
}
