// The configuration: the defaults, overridden by the operator's file, overridden by the environment; validated and
// complete. The environment has one variable for each key of the schema, and for a secret also one that names a file.

import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Ajv, type ErrorObject } from 'ajv';
import ipaddr from 'ipaddr.js';
import { CONFIG_SCHEMA, type Config, DEFAULTS, NAMESPACE, type SourceSettings } from './config-schema.ts';
import { ConfigError } from './errors.ts';
import { isObject, type JsonObject, merged, setAt, valueIn } from './model/json.ts';
import { trimCharactersEnd } from './text/text.ts';

/** The formats of the schema: the test, and what an operator reads of a text that fails it. */
const FORMATS: Readonly<Record<string, { validate: (text: string) => boolean; reason: string }>> = {
  'web-address': {
    validate: isWebAddress,
    reason: 'must be a URL that begins with http:// or https://, without spaces, user and password',
  },
  // The address of a site: the gateway appends paths to it.
  'base-address': {
    validate: (text) => isWebAddress(text) && !/[?#]/.test(text),
    reason: 'must be a URL that begins with http:// or https://, without spaces, user, password, query and fragment',
  },
  'redis-address': {
    validate: (text) => /^rediss?:\/\/\S+$/.test(text) && Boolean(URL.parse(text)?.hostname),
    reason: 'must be the URL of a host, such as redis://cache:6379',
  },
  network: {
    validate: (text) => {
      // Of `0.0.0.0/0`, at which `proxy-addr` throws, `/0` stays: so `isIP` refuses the text.
      const address = text.replace(/\/0*[1-9]\d*$/, '');
      // `isIP` too, because `isValidCIDR` takes `010.0.0.0/8` for 8.0.0.0/8.
      return isIP(address) > 0 && (address === text || ipaddr.isValidCIDR(text));
    },
    reason: 'must be an address such as ::1 or a network such as 10.0.0.0/8',
  },
};

const validate = new Ajv({ verbose: true, allowUnionTypes: true, formats: FORMATS }).compile(CONFIG_SCHEMA);

/** True for an address without credentials that links and files of code can hold as it stands. */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\p{C}]+$/iu.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username + url.password === '';
}

interface LoadOptions {
  /** The operator's file; by default that of CALENDAR_CONFIG. */
  file?: string | undefined;
  /** Empty variables are ignored. */
  env: NodeJS.ProcessEnv;
  /** Gets what is no mistake, but may be a misunderstanding. */
  warn?: (message: string) => void;
}

/** @throws ConfigError with the key or variable, the reason and the remedy; never with a value: it may be a secret */
export function loadConfig({ file, env, warn = () => undefined }: LoadOptions): Config {
  let config: Config = DEFAULTS;
  // Platforms such as Heroku, Render and Cloud Run tell the port in PORT. Elsewhere the variable may be anything.
  const port = Number(env.PORT);
  if (/^\d{1,5}$/.test(env.PORT ?? '') && port < 65_536) config = merged(config, { listen: { port } });
  const path = file ?? (env[CONFIG_FILE_VARIABLE]?.trim() || undefined);
  if (path !== undefined) config = merged(config, readLayer(path));
  for (const { variable, key, value } of readEnvironment(env, warn)) {
    const layer = {};
    setAt(layer, key.split('.'), value);
    assertMatchesSchema(layer, () => variable);
    config = merged(config, layer);
  }
  checkDependencies(config);
  return merged(config, {
    mounts: [...new Set([`/${NAMESPACE}`, ...config.mounts])],
    lists: { maxPerPage: Math.max(config.lists.perPage, config.lists.maxPerPage) },
    // Shorter than the deadline: a retry may still follow.
    upstream: { limits: { headersTimeoutMs: Math.round((config.upstream.limits.deadlineMs * 2) / 3) } },
  });
}

/** A text with a slash or the ending `.json` is a path; everything else is the name of a file in `mappings/`. */
export const isMappingPath = (nameOrPath: string): boolean => /[\\/]|\.json$/.test(nameOrPath);

/** The `Authorization` header of the service account; undefined without one. */
export const basicCredentialsOf = ({ upstream: { user, password } }: Config): string | undefined =>
  user === undefined ? undefined : basicAuth(user, password);

export const basicAuth = (user: string, password = ''): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** What an operator may set, without the fixed limits beside it. Of a secret only that it is set. */
export function settingsWithoutSecrets(config: Config): JsonObject {
  const shown: JsonObject = {};
  for (const { key, fileVariable } of SETTINGS) {
    const value = valueIn(config, key.split('.'));
    // No sources are no secret.
    const isSecret = fileVariable !== undefined && !isDeepStrictEqual(value, []);
    if (value !== undefined) setAt(shown, key.split('.'), isSecret ? '(secret)' : value);
  }
  return shown;
}

/** The base URL of links in responses, without a trailing slash. */
export const publicUrlOf = ({ publicUrl, listen }: Config): string =>
  trimCharactersEnd(publicUrl ?? `http://localhost:${listen.port}`, '/');

/** The address of the site. Without a CMS the gateway itself is the site. */
export const siteUrlOf = (config: Config): string => config.upstream.url ?? publicUrlOf(config);

/** The schema requires one of the two. */
export const sourceAddress = ({ icalendar, events }: Omit<SourceSettings, 'name'>): string => (icalendar ?? events)!;

/** The address of a path on the admin port, such as `/ready`, of the gateway that runs with these settings. */
export const adminUrl = ({ adminHost, adminPort }: Config['listen'], path: string): string =>
  `http://${adminHost.includes(':') ? `[${adminHost}]` : adminHost}:${adminPort}${path}`;

/** Reads a file, also with a byte order mark. Errors name it as `location`, and quote nothing: it may be secret. */
export function readJsonFile(path: string, location: string): JsonObject {
  const text = readTextFile(path, location);
  let reason = 'is not a JSON object';
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch (error) {
    const position = /line \d+ column \d+/.exec((error as SyntaxError).message)?.[0];
    reason = `is not JSON${position ? `: ${position}` : ''}`;
  }
  throw new ConfigError(location, reason, 'The file must contain one JSON object.');
}

/** @param maxBytes refuses a larger file, and a pipe or a device, which may never end */
function readTextFile(path: string, location: string, maxBytes?: number): string {
  try {
    const stats = statSync(path);
    if (maxBytes !== undefined && !(stats.isFile() && stats.size <= maxBytes))
      throw new ConfigError(location, `is not a regular file of at most ${maxBytes} bytes`, `Check the path ${path}.`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8 text' : `cannot be read (${code})`;
    throw new ConfigError(location, reason, `Check the path ${path}, who may read it, and its encoding.`);
  }
}

/** Errors name the operator's file. Paths in it are relative to its folder, which may be mounted anywhere. */
function readLayer(path: string): JsonObject {
  const json = readJsonFile(path, path);
  // Editors find the schema by this key.
  delete json.$schema;
  assertMatchesSchema(json, (key) => (key === '' ? path : `${path}, ${key}`));
  const { mapping, dataDir } = json;
  if (typeof mapping === 'string' && isMappingPath(mapping)) json.mapping = resolve(dirname(path), mapping);
  if (typeof dataDir === 'string') json.dataDir = resolve(dirname(path), dataDir);
  return json;
}

/** Throws `ConfigError` for the first key that the schema rejects. */
function assertMatchesSchema(layer: JsonObject, locationOf: (key: string) => string): void {
  if (validate(layer)) return;
  // The last error: Ajv puts the errors of the parts of a "oneOf" before its own, "must match exactly one schema".
  const error = validate.errors!.at(-1)!;
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const { description = '', properties = {} } = error.parentSchema as Rule;
  if (error.keyword === 'additionalProperties') {
    const key = [path, error.params.additionalProperty].filter(Boolean).join('.');
    const known = Object.keys(properties).join(', ');
    throw new ConfigError(locationOf(key), 'there is no such key', `Known here are ${known}.`);
  }
  throw new ConfigError(locationOf(path), reasonOf(error), description);
}

function reasonOf({ keyword, params, message = 'is invalid' }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'format') return FORMATS[params.format]!.reason;
  return message;
}

/** Checks what the schema of a single key cannot express. */
function checkDependencies({ upstream, listen, sources, push = [] }: Config): void {
  const { url, user, password, readAs } = upstream;
  const refuse = (isWrong: boolean, location: string, reason: string, remedy: string) => {
    if (isWrong) throw new ConfigError(location, reason, remedy);
  };
  const hasDuplicates = (values: readonly unknown[]) => new Set(values).size < values.length;
  refuse(
    url === undefined && sources.length === 0,
    'CALENDAR_UPSTREAM_URL',
    'is missing, and so are sources: there is no calendar to serve',
    'Set it, or upstream.url in a file for --config; for a calendar without a CMS list "sources" there.',
  );
  refuse(
    (user === undefined) !== (password === undefined),
    `CALENDAR_UPSTREAM_${user === undefined ? 'USER' : 'PASSWORD'}`,
    'is missing: a service account is a user and an application password',
    'Set both, or neither to sync public records only.',
  );
  refuse(
    readAs === 'account' && user === undefined,
    'upstream.readAs (CALENDAR_UPSTREAM_READ_AS)',
    'needs an account, whose view of the site everybody gets',
    'Set upstream.user and its password, or read as a visitor.',
  );
  refuse(
    hasDuplicates(sources.map(({ name }) => name)),
    'sources (CALENDAR_SOURCES)',
    'has two sources of one name',
    'Their events get their ids from it: choose another name for one of them.',
  );
  refuse(
    hasDuplicates(push.map((receiver) => receiver.url)),
    'push (CALENDAR_PUSH)',
    'has two receivers with one url, by which their positions are kept',
    'Name all kinds in one of them.',
  );
  refuse(
    listen.port !== 0 && listen.port === listen.adminPort,
    'listen.adminPort (CALENDAR_ADMIN_PORT)',
    'is the same as listen.port',
    'Choose another port.',
  );
}

interface Rule {
  description?: string;
  type?: string | readonly string[];
  writeOnly?: boolean;
  properties?: Readonly<Record<string, Rule>>;
}

const PREFIX = 'CALENDAR_';
/** Not a setting: the path of the configuration file. */
export const CONFIG_FILE_VARIABLE = 'CALENDAR_CONFIG';
/** The longest is `sources`: a hundred, with twenty categories of 200 letters each, have 0.6 MB. */
const MAX_SECRET_BYTES = 1024 * 1024;

/** All keys, such as `listen.port` with the variable `CALENDAR_PORT`, in the order of the schema. */
export const SETTINGS = rulesBelow(CONFIG_SCHEMA, []).map(([key, { writeOnly, description = '', type = 'string' }]) => {
  const variable = variableOf(key);
  // Names a file with the value: only for credentials.
  const fileVariable = writeOnly ? `${variable}_FILE` : undefined;
  return { key, variable, fileVariable, description, types: [type].flat() };
});

function rulesBelow(rule: Rule, path: string[]): [key: string, rule: Rule][] {
  if (!rule.properties) return [[path.join('.'), rule]];
  return Object.entries(rule.properties).flatMap(([name, below]) => rulesBelow(below, [...path, name]));
}

/** Without `listen` and the `S` of seconds: `sync.intervalS` is `CALENDAR_SYNC_INTERVAL`. */
function variableOf(key: string): string {
  const name = key.replace(/^listen\./, '').replace(/S$/, '');
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').replaceAll('.', '_');
  return PREFIX + words.toUpperCase();
}

/**
 * Reads the variables of the gateway. Ignores empty ones, and what Kubernetes and Docker set for a service
 * whose name begins with "calendar".
 * @throws ConfigError for a variable that is set beside its file variable, and for an unusable file; never with a value
 */
export function readEnvironment(env: NodeJS.ProcessEnv, warn: (message: string) => void) {
  const given = new Map<string, string>();
  for (const [variable, text = ''] of Object.entries(env)) {
    const value = withoutLineBreak(text);
    const isOurs = variable.startsWith(PREFIX) && variable !== CONFIG_FILE_VARIABLE && !isServiceLink(variable, value);
    if (isOurs && value !== '') given.set(variable, value);
  }
  const assignments = SETTINGS.flatMap((setting) => {
    const { key, variable, fileVariable } = setting;
    const text = given.get(variable);
    const path = fileVariable && given.get(fileVariable);
    if (!fileVariable || !path) return text === undefined ? [] : [{ variable, key, value: parse(text, setting) }];
    if (text !== undefined)
      throw new ConfigError(fileVariable, `is set, and ${variable} too`, 'Set only one of the two.');
    return [{ variable: fileVariable, key, value: parse(readSecretFile(path.trim(), fileVariable), setting) }];
  });
  const known = new Set(SETTINGS.flatMap(({ variable, fileVariable }) => [variable, fileVariable]));
  const unknown = [...given.keys()].filter((variable) => !known.has(variable));
  if (unknown.length > 0) warn(`ignored environment variables that the gateway does not know: ${unknown.join(', ')}`);
  return assignments;
}

/**
 * Kubernetes gives every pod of a namespace the variables `NAME_SERVICE_HOST`, `NAME_PORT` (`tcp://10.0.0.1:80`),
 * `NAME_PORT_80_TCP_ADDR` ... of each service in it (kubernetes.io, "Environment variables" of "Service").
 */
function isServiceLink(variable: string, text: string): boolean {
  const isPort = variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text);
  return isPort || /_SERVICE_(HOST|PORT)|_PORT_\d{1,5}_(TCP|UDP|SCTP)/.test(variable);
}

/**
 * The value of a variable. A secret keeps its outer blanks.
 *
 *   CALENDAR_HOST=' ::1 '                       '::1'
 *   CALENDAR_SOURCES='[{"name":"library"}]'     [{ name: 'library' }]: secret, and no text
 *   CALENDAR_PORT=8080                          8080
 *   CALENDAR_TRUST_PROXIES=True                 true
 *   CALENDAR_TRUST_PROXIES='10.0.0.0/8, ::1'    ['10.0.0.0/8', '::1']
 */
function parse(text: string, { types, fileVariable }: (typeof SETTINGS)[number]): unknown {
  const isSecret = fileVariable !== undefined;
  if (types.includes('string')) return isSecret ? text : text.trim();
  if (isSecret) return jsonOrText(text);
  // The words of JSON are in lower case.
  const value = jsonOrText(text.trim().toLowerCase());
  if (typeof value === 'boolean' || !types.includes('array')) return value;
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

/** A text that is no JSON stays a text, which the schema rejects. The error of `JSON.parse` would quote it. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Docker and systemd leave the line break of a file with Windows line ends at each value. */
const withoutLineBreak = (text: string): string => trimCharactersEnd(text, '\r\n');

/**
 * Reads a file that holds one secret: one line of text, whose line break at the end does not count.
 * @param setting the variable or option that names the file, for errors
 * @throws ConfigError with the reason; never with the contents
 */
export function readSecretFile(path: string, setting: string): string {
  const text = withoutLineBreak(readTextFile(path, setting, MAX_SECRET_BYTES));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the file may be a binary one
  if (text.trim() === '' || /[\x00-\x1f\x7f]/.test(text))
    throw new ConfigError(
      setting,
      `the file ${path} is empty, or has more than one line or control characters`,
      'It must hold the secret in one line, and nothing else.',
    );
  return text;
}
