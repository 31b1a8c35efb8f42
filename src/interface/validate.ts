// Checks a request against its endpoint's parameters in the original's two stages, and reads the values (interface-behaviour, "Conventions" and 0).

import { Ajv, type ValidateFunction } from 'ajv';
import type { Input } from '../calendar/asked.ts';
import { invalidParams, missingParams, type ParamRefusal, wrongType } from '../calendar/refusals.ts';
import type { Parameter } from './parameters.ts';
import type { Endpoint } from './routes.ts';
import type { Lookups, NamedRefusal, ValueKind } from './value-kind.ts';
import { boolean, numeric } from './values.ts';

export interface Request {
  /** Values out of the path. */
  path: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

const OF_TYPE: Record<NonNullable<ValueKind['typed']>, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => boolean(value) !== undefined,
  integer: (value) => Number.isInteger(numeric(value)),
};

const ajv = new Ajv({ allErrors: true });
ajv.addKeyword({
  keyword: 'accepted',
  compile: (accepts: (value: unknown) => boolean) => (value: unknown) => value === null || accepts(value),
});
ajv.addKeyword({ keyword: 'typed', compile: (type: NonNullable<ValueKind['typed']>) => OF_TYPE[type] });

interface Stages {
  accepted: ValidateFunction;
  typed: ValidateFunction;
}

const compiled = new WeakMap<Endpoint, Stages>();

function stagesOf(endpoint: Endpoint): Stages {
  let stages = compiled.get(endpoint);
  if (!stages) {
    const schema = (keyword: 'accepts' | 'typed', word: string) => ({
      type: 'object',
      properties: Object.fromEntries(
        endpoint.parameters
          .filter(({ kind, inPath }) => !inPath && kind[keyword])
          .map(({ name, kind }) => [name, { [word]: kind[keyword] }]),
      ),
    });
    stages = { accepted: ajv.compile(schema('accepts', 'accepted')), typed: ajv.compile(schema('typed', 'typed')) };
    compiled.set(endpoint, stages);
  }
  return stages;
}

function refusedBy(validate: ValidateFunction, values: Record<string, unknown>): Set<string> {
  if (validate(values)) return new Set();
  return new Set(validate.errors?.map((error) => error.instancePath.slice(1)));
}

/**
 * First stage: what each value must look like and refer to, reported in declared order. Second stage, reached only when the first
 * found nothing: JSON types, in the order sent.
 * @throws GatewayError `rest_missing_callback_param`, `rest_invalid_param`
 */
export async function validate(endpoint: Endpoint, request: Request, lookups: Lookups): Promise<Input> {
  const { parameters } = endpoint;
  const sent = { ...request.body, ...withoutKeys(request.query, request.body) };
  const missing = parameters.filter((one) => one.required && !one.inPath && (sent[one.name] ?? null) === null);
  if (missing.length > 0) throw missingParams(missing.map(({ name }) => name));

  const stages = stagesOf(endpoint);
  const unaccepted = refusedBy(stages.accepted, sent);
  const refused: ParamRefusal[] = [];
  for (const one of parameters) {
    const value = one.inPath ? request.path[one.name] : sent[one.name];
    if (value === undefined || value === null) continue;
    const refusal = refusalOf(one, value, unaccepted, lookups);
    // Most checks ask nobody: their answers are not waited for.
    const told = refusal instanceof Promise ? await refusal : refusal;
    if (told) refused.push(told);
  }
  if (refused.length > 0) throw invalidParams(refused);

  const mistyped = refusedBy(stages.typed, sent);
  const typeOf = (name: string) => parameters.find((one) => one.name === name && !one.inPath)!.kind.typed!;
  const wrong = Object.keys(sent).filter((name) => mistyped.has(name));
  if (wrong.length > 0) throw invalidParams(wrong.map((name) => wrongType(name, typeOf(name))));
  // null has a meaning only in writes: it clears a field.
  const writes = endpoint.operation === 'create' || endpoint.operation === 'update';
  return read(parameters, request, writes ? sent : withoutNull(sent));
}

function refusalOf(
  { name, kind, inPath }: Parameter,
  value: unknown,
  unaccepted: Set<string>,
  lookups: Lookups,
): ParamRefusal | undefined | Promise<ParamRefusal | undefined> {
  const accepted = inPath ? !kind.accepts || kind.accepts(value) : !unaccepted.has(name);
  if (!accepted) return { name };
  const found = kind.found ? kind.found(value, lookups) : true;
  return found instanceof Promise ? found.then((one) => refusalFor(name, one)) : refusalFor(name, found);
}

function refusalFor(name: string, found: boolean | NamedRefusal): ParamRefusal | undefined {
  if (typeof found === 'boolean') return found ? undefined : { name };
  return { name, message: found.message, detail: { ...found, data: { status: 400 } } };
}

function read(parameters: Parameter[], request: Request, sent: Record<string, unknown>): Input {
  const input: Input = { path: {}, values: {}, sent, fields: {}, parameterOf: {} };
  for (const { name, kind, inPath, field = name } of parameters) {
    const value = inPath ? request.path[name] : sent[name];
    if (value === undefined) continue;
    const found = value === null || !kind.read ? value : kind.read(value);
    if (inPath) {
      Object.assign(input.path, { [name]: found });
      continue;
    }
    input.values[name] = found;
    input.fields[field] = found;
    input.parameterOf[field] = name;
  }
  return input;
}

function withoutKeys(values: Record<string, unknown>, keys: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(keys).length === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => !Object.hasOwn(keys, key)));
}

/** Reads data that stands inside another record's body (a venue in an event) with the parameters of its own create route. */
export function readData(parameters: Parameter[], data: Record<string, unknown>): Input {
  return read(parameters, { path: {}, query: {}, body: data }, withoutNull(data));
}

const withoutNull = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
