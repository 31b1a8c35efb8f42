// The configuration: config/default.json, then the operator's file, then the environment; checked as a whole, and frozen.

import { existsSync, readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import schema from './config.schema.json' with { type: 'json' };
import { ConfigError } from './errors.ts';

export interface Config {
  upstream: { url: string; user?: string; password?: string; limits: Record<string, number> };
  mapping: string;
  listen: { host: string; port: number; adminHost: string; adminPort: number; trustProxies: boolean };
  publicUrl?: string;
  mounts: string[];
  dataDir?: string;
  sync: { intervalS: number };
  lists: { perPage: number; maxPerPage: number };
  cache: { maxAgeS: number; staleWhileRevalidateS: number; answerBytes: number; recordBytes: number };
  limits: {
    bodyBytes: number;
    headerBytes: number;
    urlBytes: number;
    jsonDepth: number;
    idsPerParameter: number;
    requestsPerMinute: number;
    failedLoginsPerAddress: number;
    failedLoginsPerUser: number;
    failedLoginWindowS: number;
    headersTimeoutMs: number;
    requestTimeoutMs: number;
    keepAliveTimeoutMs: number;
    sockets: number;
    drainMs: number;
  };
  cost: { symbol: string; position: 'prefix' | 'postfix' };
  pages: { landing: boolean; documentation: boolean };
  notices: { secret?: string };
  redisUrl?: string;
  log: { level: string; requests: boolean; pretty?: boolean };
}

type Json = Record<string, unknown>;

/** Beside the sources, and beside the compiled package. */
const DEFAULTS = [
  new URL('../config/default.json', import.meta.url),
  new URL('../../config/default.json', import.meta.url),
];

const number = (text: string): unknown => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);
const asIs = (text: string): unknown => text;
const added = (text: string, before: unknown): unknown => [
  ...new Set([...(before as string[]), ...text.split(',').map((one) => one.trim())]),
];

/** Variable -> key, and how its text is read. */
const VARIABLES: Record<string, { key: string; read: (text: string, before: unknown) => unknown }> = {
  CALENDAR_UPSTREAM_URL: { key: 'upstream.url', read: asIs },
  CALENDAR_UPSTREAM_USER: { key: 'upstream.user', read: asIs },
  CALENDAR_UPSTREAM_PASSWORD: { key: 'upstream.password', read: asIs },
  CALENDAR_MAPPING: { key: 'mapping', read: asIs },
  CALENDAR_HOST: { key: 'listen.host', read: asIs },
  CALENDAR_PORT: { key: 'listen.port', read: number },
  CALENDAR_ADMIN_HOST: { key: 'listen.adminHost', read: asIs },
  CALENDAR_ADMIN_PORT: { key: 'listen.adminPort', read: number },
  CALENDAR_PUBLIC_URL: { key: 'publicUrl', read: asIs },
  CALENDAR_MOUNTS: { key: 'mounts', read: added },
  CALENDAR_DATA_DIR: { key: 'dataDir', read: asIs },
  CALENDAR_SYNC_INTERVAL: { key: 'sync.intervalS', read: number },
  CALENDAR_NOTICE_SECRET: { key: 'notices.secret', read: asIs },
  CALENDAR_REDIS_URL: { key: 'redisUrl', read: asIs },
};

const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);

/**
 * Reads and checks the configuration.
 * @param source `file`: the operator's file; `env`: the environment, of which the variables `CALENDAR_*` count and an empty one does not
 * @throws ConfigError naming the key or variable, the reason and what to do
 */
export function loadConfig({ file, env }: { file?: string; env: Record<string, string | undefined> }): Config {
  const defaults = DEFAULTS.find((place) => existsSync(place));
  const config = readJson(defaults!, 'config/default.json');
  if (file !== undefined) merge(config, readJson(file, file));
  const from = new Map<string, string>();
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith('CALENDAR_') || text === undefined || text === '') continue;
    const variable = VARIABLES[name];
    if (!variable)
      throw new ConfigError(name, 'there is no such variable', `Known are ${Object.keys(VARIABLES).join(', ')}.`);
    put(config, variable.key, (before) => variable.read(text, before));
    from.set(variable.key, name);
  }
  if (!validate(config)) throw refusal(validate.errors!, from, file ?? 'config/default.json');
  const checked = config as unknown as Config;
  const { user, password } = checked.upstream;
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError(
      user === undefined ? 'CALENDAR_UPSTREAM_USER' : 'CALENDAR_UPSTREAM_PASSWORD',
      'is missing: a service account is a user and an application password',
      'Set both, or neither to copy public records only.',
    );
  }
  return deepFreeze(checked);
}

/** The `Authorization` header of the service account; undefined without one. */
export function serviceCredentials({ upstream }: Config): string | undefined {
  if (upstream.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${upstream.user}:${upstream.password}`).toString('base64')}`;
}

/** Address that answers name, without a final slash. */
export const publicUrlOf = ({ publicUrl, listen }: Config): string =>
  (publicUrl ?? `http://localhost:${listen.port}`).replace(/\/+$/, '');

/** The configuration as it may be shown: secrets only as present or not. */
export function dumpConfig(config: Config): object {
  const secret = (value: unknown) => (value === undefined ? undefined : '(set)');
  const { upstream, notices } = config;
  const shown = {
    ...config,
    upstream: { ...upstream, password: secret(upstream.password) },
    notices: { secret: secret(notices.secret) },
  };
  return {
    ...shown,
    ...(config.redisUrl === undefined ? {} : { redisUrl: config.redisUrl.replace(/\/\/[^@/]*@/, '//(set)@') }),
  };
}

function readJson(place: string | URL, name: string): Json {
  try {
    const json: unknown = JSON.parse(readFileSync(place, 'utf8'));
    if (isObject(json)) return json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(name, `cannot be read: ${reason}`, 'The file has to exist and hold one JSON object.');
  }
  throw new ConfigError(name, 'holds no JSON object');
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects are merged key by key, all else is replaced. */
function merge(target: Json, source: Json): void {
  for (const [key, value] of Object.entries(source)) {
    const before = target[key];
    if (isObject(before) && isObject(value)) merge(before, value);
    else target[key] = value;
  }
}

function put(config: Json, path: string, change: (before: unknown) => unknown): void {
  const [key, ...rest] = path.split('.') as [string, ...string[]];
  if (rest.length === 0) {
    config[key] = change(config[key]);
    return;
  }
  const below = isObject(config[key]) ? config[key] : {};
  config[key] = below;
  put(below, rest.join('.'), change);
}

function refusal(errors: ErrorObject[], from: Map<string, string>, file: string): ConfigError {
  const [error] = errors as [ErrorObject];
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const extra = error.keyword === 'additionalProperties' ? (error.params.additionalProperty as string) : undefined;
  const missing = error.keyword === 'required' ? (error.params.missingProperty as string) : undefined;
  const key = [path, extra ?? missing].filter(Boolean).join('.');
  const variable = from.get(key);
  const place = variable ?? `${file}, ${key}`;
  if (extra !== undefined)
    return new ConfigError(
      place,
      'there is no such key',
      `Known are ${Object.keys(error.parentSchema?.properties ?? knownAt(path)).join(', ')}.`,
    );
  if (missing !== undefined) return new ConfigError(place, 'is missing');
  return new ConfigError(
    place,
    error.message ?? 'is not acceptable',
    `See config/example.json${variable ? ` and serve --help` : ''}.`,
  );
}

function knownAt(path: string): object {
  let place: { properties?: Record<string, object> } = schema;
  for (const key of path.split('.').filter(Boolean)) place = place.properties?.[key] ?? {};
  return place.properties ?? {};
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const item of Object.values(Object.freeze(value))) deepFreeze(item);
  return value;
}
