// The environment variables of the configuration: one for each key of the schema, and for a secret also one
// that names a file.

import { readFileSync, statSync } from 'node:fs';
import { CONFIG_SCHEMA } from './config-schema.ts';
import { ConfigError } from './errors.ts';

/** One key of the configuration. */
export interface Setting {
  /** `listen.port` */
  key: string;
  /** `CALENDAR_PORT` */
  variable: string;
  /** The variable that names a file with the value: only for credentials (`writeOnly` in the schema). */
  fileVariable: string | undefined;
  description: string;
  types: readonly string[];
}

/** A variable that is set, with its value as the schema wants it. */
export interface Assignment {
  variable: string;
  key: string;
  value: unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;
interface Rule {
  description?: string;
  type?: string | readonly string[];
  writeOnly?: boolean;
  properties?: Readonly<Record<string, Rule>>;
}

const PREFIX = 'CALENDAR_';
/** Not settings: the path of the configuration file, and the variables of the sandbox. */
export const CONFIG_FILE_VARIABLE = 'CALENDAR_CONFIG';
const SANDBOX_PREFIX = 'CALENDAR_SANDBOX_';
/** More than any password or URL has. */
const MAX_SECRET_BYTES = 4096;
const MAX_WARNED_NAMES = 10;

/** All keys, in the order of the schema. */
export const SETTINGS: readonly Setting[] = settingsBelow(CONFIG_SCHEMA, '');
const BY_VARIABLE = new Map(SETTINGS.map((setting) => [setting.variable, setting]));
const BY_FILE_VARIABLE = new Map(SETTINGS.map((setting) => [setting.fileVariable, setting]));

function settingsBelow(rule: Rule, path: string): Setting[] {
  if (rule.properties)
    return Object.entries(rule.properties).flatMap(([name, below]) =>
      settingsBelow(below, path === '' ? name : `${path}.${name}`),
    );
  const variable = variableOf(path);
  return [
    {
      key: path,
      variable,
      fileVariable: rule.writeOnly ? `${variable}_FILE` : undefined,
      description: rule.description ?? '',
      types: [rule.type ?? 'string'].flat(),
    },
  ];
}

/**
 * The key in capitals, without `listen` and without the `S` of seconds: `sync.intervalS` is
 * `CALENDAR_SYNC_INTERVAL`.
 */
function variableOf(key: string): string {
  const name = key.replace(/^listen\./, '').replace(/S$/, '');
  return (
    PREFIX +
    name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replaceAll('.', '_')
      .toUpperCase()
  );
}

/**
 * Reads the variables of the gateway. Ignores empty ones, and what Kubernetes and Docker set for a service
 * whose name begins with "calendar".
 * @param warn gets one message that names the unknown variables
 * @throws ConfigError for a variable that is set beside its file variable, and for an unusable file; never with a value
 */
export function readEnvironment(env: Environment, warn: (message: string) => void): Assignment[] {
  const assignments: Assignment[] = [];
  const unknown: string[] = [];
  const textOf = (variable: string) => withoutLineBreak(env[variable] ?? '');
  for (const variable of Object.keys(env)) {
    const text = textOf(variable);
    if (!variable.startsWith(PREFIX) || variable.startsWith(SANDBOX_PREFIX) || variable === CONFIG_FILE_VARIABLE)
      continue;
    if (text === '' || isServiceLink(variable, text)) continue;
    const setting = BY_VARIABLE.get(variable);
    const fileSetting = BY_FILE_VARIABLE.get(variable);
    if (setting) assignments.push({ variable, key: setting.key, value: parse(text, setting) });
    else if (fileSetting) {
      if (textOf(fileSetting.variable) !== '')
        throw new ConfigError(variable, `is set, and ${fileSetting.variable} too`, 'Set only one of the two.');
      assignments.push({
        variable,
        key: fileSetting.key,
        value: parse(readSecretFile(text.trim(), variable), fileSetting),
      });
    } else unknown.push(variable);
  }
  if (unknown.length > 0) warn(unknownVariablesMessage(unknown));
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

/** The schema rejects text that is not of the type. Blanks around a value do not count, except of a secret. */
function parse(text: string, { types, fileVariable }: Setting): unknown {
  if (fileVariable !== undefined) return types.includes('array') ? parseJson(text) : text;
  const trimmed = text.trim();
  const lower = trimmed.toLowerCase();
  if (types.includes('boolean') && (lower === 'true' || lower === 'false')) return lower === 'true';
  if (types.includes('array')) {
    const values = trimmed.split(',').map((value) => value.trim());
    return values.filter((value) => value !== '');
  }
  const isNumeric = types.includes('integer') || types.includes('number');
  return isNumeric && /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** A list of objects. Text that is no JSON stays as it is, and the schema rejects it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Docker and systemd leave the line break of a file with Windows line ends at each value. */
function withoutLineBreak(text: string): string {
  let end = text.length;
  while (end > 0 && '\r\n'.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/**
 * Reads a file that holds one secret: one line of text, whose line break at the end does not count.
 * @param setting the variable or option that names the file, for errors
 * @throws ConfigError with the reason; never with the contents
 */
export function readSecretFile(path: string, setting: string): string {
  const problem = (reason: string) =>
    new ConfigError(setting, `the file ${path} ${reason}`, 'It must hold the secret in one line, and nothing else.');
  let text: string;
  try {
    const stats = statSync(path);
    // A pipe or a device may never end.
    if (!stats.isFile()) throw problem('is not a regular file');
    if (stats.size > MAX_SECRET_BYTES) throw problem(`has more than ${MAX_SECRET_BYTES} bytes`);
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw problem(code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8 text' : `cannot be read (${code})`);
  }
  text = withoutLineBreak(text);
  if (text.trim() === '') throw problem('is empty');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the file may be a binary one
  if (/[\x00-\x1f\x7f]/.test(text)) throw problem('has more than one line, or control characters');
  return text;
}

/** Names at most `MAX_WARNED_NAMES`. */
function unknownVariablesMessage(names: readonly string[]): string {
  const shown = names.slice(0, MAX_WARNED_NAMES).map((name) => name.slice(0, 64).replace(/\W/g, '?'));
  const more = names.length - shown.length;
  const list = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `ignored environment variables that the gateway does not know: ${list}`;
}
