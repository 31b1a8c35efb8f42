// The configuration: config/default.json, then the operator's file, then the environment; each checked as it is read, and frozen.

import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import schema from './config.schema.json' with { type: 'json' };
import { ConfigError, unreadable } from './errors.ts';
import { trimmedEnd } from './text/trim.ts';

/** What each key means is said in config.schema.json. */
export interface Config {
  upstream: { url: string; user?: string; password?: string; limits: Record<string, number> };
  mapping: string;
  listen: { host: string; port: number; adminHost: string; adminPort: number; trustProxies: boolean | string[] };
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
    stallTimeoutMs: number;
    sockets: number;
    bodiesAtOnce: number;
    overloadMs: number;
    drainMs: number;
  };
  cost: { symbol: string; position: 'prefix' | 'postfix' };
  pages: { landing: boolean; documentation: boolean };
  notices: { secret?: string };
  redisUrl?: string;
  log: { level: string; requests: boolean; pretty?: boolean };
}

type Json = Record<string, unknown>;

/** Always served; what the configuration names comes beside it. */
const MOUNT = '/calendar/events/v1';

/** Beside the sources, and beside the compiled package. */
const DEFAULTS = ['../config/default.json', '../../config/default.json'].map((step) => new URL(step, import.meta.url));

const text = (value: string): unknown => value;
// What is no number stays text, and is refused as such.
const number = (value: string): unknown => (/^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value);
const names = (value: string): unknown =>
  value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Variable -> key, and how its text is read. */
const VARIABLES: Record<string, { key: string; read: (value: string) => unknown }> = {
  CALENDAR_UPSTREAM_URL: { key: 'upstream.url', read: text },
  CALENDAR_UPSTREAM_USER: { key: 'upstream.user', read: text },
  CALENDAR_UPSTREAM_PASSWORD: { key: 'upstream.password', read: text },
  CALENDAR_MAPPING: { key: 'mapping', read: text },
  CALENDAR_HOST: { key: 'listen.host', read: text },
  CALENDAR_PORT: { key: 'listen.port', read: number },
  CALENDAR_ADMIN_HOST: { key: 'listen.adminHost', read: text },
  CALENDAR_ADMIN_PORT: { key: 'listen.adminPort', read: number },
  CALENDAR_PUBLIC_URL: { key: 'publicUrl', read: text },
  CALENDAR_MOUNTS: { key: 'mounts', read: names },
  CALENDAR_DATA_DIR: { key: 'dataDir', read: text },
  CALENDAR_SYNC_INTERVAL: { key: 'sync.intervalS', read: number },
  CALENDAR_NOTICE_SECRET: { key: 'notices.secret', read: text },
  CALENDAR_REDIS_URL: { key: 'redisUrl', read: text },
};
/** Belongs to the sandbox, which may run in the same environment. */
const FOREIGN = 'CALENDAR_SANDBOX_';

const ajv = new Ajv({ verbose: true, allowUnionTypes: true });
ajv.addFormat('web-address', (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol));
ajv.addFormat('network', isNetwork);
const validate = ajv.compile(schema);

/** Whether this is an address or a network: `192.0.2.1`, `2001:db8::/32`. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/**
 * Reads and checks the configuration.
 * @param source `file`: the operator's file; `env`: the environment, of which the variables `CALENDAR_*` count, and empty ones do not
 * @throws ConfigError naming the key or variable, the reason and what to do; never a value, which may be a secret
 */
export function loadConfig({ file, env }: { file?: string; env: Record<string, string | undefined> }): Config {
  const config = readLayer(DEFAULTS.find((place) => existsSync(place)) ?? DEFAULTS[0]!, 'config/default.json');
  if (file !== undefined) merge(config, readLayer(file, file));
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('CALENDAR_') || name.startsWith(FOREIGN) || value === undefined || value === '') continue;
    const known = VARIABLES[name];
    if (!known) {
      throw new ConfigError(name, 'there is no such variable', `Known are ${Object.keys(VARIABLES).join(', ')}.`);
    }
    const layer = nested(known.key, known.read(value));
    check(layer, () => name);
    merge(config, layer);
  }
  delete config.$schema;
  const checked = config as unknown as Config;
  checked.mounts = [...new Set([MOUNT, ...checked.mounts])];
  checkTogether(checked);
  return deepFreeze(checked);
}

/** The `Authorization` header of the service account; undefined without one. */
export function serviceCredentials({ upstream }: Config): string | undefined {
  if (upstream.user === undefined) return undefined;
  return `Basic ${Buffer.from(`${upstream.user}:${upstream.password}`).toString('base64')}`;
}

/** Address that answers name, without a final slash. */
export const publicUrlOf = ({ publicUrl, listen }: Config): string =>
  trimmedEnd(publicUrl ?? `http://localhost:${listen.port}`, '/');

/** One file, checked by itself so that a refusal can name it. */
function readLayer(place: string | URL, name: string): Json {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(place, 'utf8'));
  } catch (error) {
    throw unreadable(name, error);
  }
  if (!isObject(json)) throw new ConfigError(name, 'holds no JSON object', 'See config/example.json.');
  check(json, (key) => (key === '' ? name : `${name}, ${key}`));
  return json;
}

/** Throws `ConfigError` for the first key that the schema does not take. */
function check(layer: Json, placeOf: (key: string) => string): void {
  if (validate(layer)) return;
  const [error] = validate.errors as [ErrorObject];
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const rule = (error.parentSchema ?? {}) as { description?: string; properties?: object };
  if (error.keyword === 'additionalProperties') {
    const key = [path, error.params.additionalProperty].filter(Boolean).join('.');
    const known = Object.keys(rule.properties ?? {}).join(', ');
    throw new ConfigError(placeOf(key), 'there is no such key', `Known here are ${known}.`);
  }
  throw new ConfigError(placeOf(path), reasonOf(error), rule.description ?? '');
}

const FORMATS: Readonly<Record<string, string>> = {
  'web-address': 'must be an address that begins with http:// or https://',
  network: 'must be an address such as ::1 or a network such as 10.0.0.0/8',
};

function reasonOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'type') {
    const types = [params.type].flat().join(' or ');
    return `must be ${types === 'integer' ? 'a whole number' : `of type ${types}`}`;
  }
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'format') return FORMATS[params.format] ?? 'is not written as it has to be';
  if (keyword === 'pattern') return 'is not written as it has to be';
  if (keyword === 'not') return 'is taken by the gateway itself';
  return message ?? 'is not acceptable';
}

/** What no key shows by itself. */
function checkTogether({ upstream, publicUrl, listen, lists, redisUrl }: Config): void {
  const { url, user, password } = upstream;
  if (url === undefined) {
    throw new ConfigError('CALENDAR_UPSTREAM_URL', 'is missing', 'Set it, or upstream.url in a file for --config.');
  }
  const { username, search, hash } = new URL(url);
  if (username !== '' || new URL(url).password !== '') {
    throw new ConfigError(
      'upstream.url (CALENDAR_UPSTREAM_URL)',
      'holds credentials',
      'Give them as CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.',
    );
  }
  if (search !== '' || hash !== '') {
    throw new ConfigError(
      'upstream.url (CALENDAR_UPSTREAM_URL)',
      'has a query or fragment',
      "Give the site's address.",
    );
  }
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError(
      user === undefined ? 'upstream.user (CALENDAR_UPSTREAM_USER)' : 'upstream.password (CALENDAR_UPSTREAM_PASSWORD)',
      'is missing: a service account is a user and an application password',
      'Set both, or neither to copy public records only.',
    );
  }
  if (user?.includes(':')) {
    throw new ConfigError('upstream.user (CALENDAR_UPSTREAM_USER)', 'holds a colon', 'No login can be made of it.');
  }
  if (publicUrl !== undefined && (new URL(publicUrl).username !== '' || /[?#]/.test(publicUrl))) {
    throw new ConfigError(
      'publicUrl (CALENDAR_PUBLIC_URL)',
      'has credentials, a query or a fragment',
      'Everything else in it begins every link: give scheme, host and, if need be, port and path.',
    );
  }
  if (redisUrl !== undefined && (!URL.canParse(redisUrl) || new URL(redisUrl).hostname === '')) {
    throw new ConfigError('redisUrl (CALENDAR_REDIS_URL)', 'lacks a host or a port', 'Write it as redis://cache:6379.');
  }
  if (lists.perPage > lists.maxPerPage) {
    throw new ConfigError('lists.perPage', 'is more than lists.maxPerPage', 'Raise the one or lower the other.');
  }
  if (listen.port !== 0 && listen.port === listen.adminPort) {
    throw new ConfigError(
      'listen.adminPort (CALENDAR_ADMIN_PORT)',
      'is the same as listen.port',
      'Choose another port.',
    );
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Objects are merged key by key, all else is replaced. Both sides have been checked: no key in them is a stranger. */
function merge(target: Json, source: Json): void {
  for (const [key, value] of Object.entries(source)) {
    const before = target[key];
    if (isObject(before) && isObject(value)) merge(before, value);
    else target[key] = value;
  }
}

const nested = (key: string, value: unknown): Json =>
  key.split('.').reduceRight<unknown>((below, name) => ({ [name]: below }), value) as Json;

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const item of Object.values(Object.freeze(value))) deepFreeze(item);
  return value;
}
