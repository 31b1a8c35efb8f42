// Parses parameter values in the spellings that The Events Calendar accepts: numbers, booleans, lists and
// URLs.

import { isObject } from '../model/json.ts';

const NUMERIC = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;

/** A number, or a text that PHP's `is_numeric` accepts (` 3`, `2.0`, `1e1`). */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMERIC.test(value) ? Number(value) : undefined;
}

/** An integer of at least 1 in any numeric spelling. */
export function parsePositiveInteger(value: unknown): number | undefined {
  const number = parseNumber(value);
  return number !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** `true` and `false` in any letter case, `1`, `0`, JSON booleans. */
export function parseBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/**
 * For loose flags (`strict_dates`, `has_events`, a venue's `show_map`): `true`, `1`, `yes` and `on` are true,
 * all else is false.
 */
export function isTruthy(value: unknown): boolean {
  return /^(true|1|yes|on)$/i.test(String(value));
}

/** True for the values that PHP's `empty` accepts. PHP decodes `{}` to an empty array. */
export function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === '0' ||
    value === 0 ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/** A list sent as CSV, as `name[]` or as one value. Trims texts and keeps other values. */
export function parseList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? item.trim() : item));
  if (typeof value === 'string') return value === '' ? [] : value.split(',').map((item) => item.trim());
  if (isObject(value)) return Object.values(value);
  return value === undefined || value === null ? [] : [value];
}

const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
const URL_CHARACTERS = /^[\x21-\x7e]+$/;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

/**
 * True for the URLs that PHP's FILTER_VALIDATE_URL accepts: ASCII, a scheme, and a host if the scheme has
 * one.
 */
export function isUrl(text: string): boolean {
  const [, schemeText, rest] = (URL_CHARACTERS.test(text) && SCHEME.exec(text)) || [];
  if (schemeText === undefined || rest === undefined) return false;
  const scheme = schemeText.toLowerCase();
  if (scheme === 'mailto' || scheme === 'news') return rest !== '';
  if (!rest.startsWith('//')) return false;
  if (scheme === 'file') return rest.startsWith('///') || rest.length > 2;
  const authority = rest.slice(2).split(/[/?#]/, 1)[0]!;
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(hostAndPort) ?? [];
  if (!host || (port && Number(port) > 65535)) return false;
  if (scheme !== 'http' && scheme !== 'https') return true;
  if (host.startsWith('[')) return URL.canParse(`http://${host}/`);
  return (
    host.length <= 253 &&
    host
      .replace(/\.$/, '')
      .split('.')
      .every((label) => label.length <= 63 && HOST_LABEL.test(label))
  );
}
