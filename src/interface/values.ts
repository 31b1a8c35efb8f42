// What the values of parameters look like on the wire: numbers, booleans, lists and addresses in the spellings that the original takes.

const NUMERIC = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;

/** A number, or a text that PHP takes for one (` 3`, `2.0`, `1e1`); undefined for anything else. */
export function numeric(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMERIC.test(value) ? Number(value) : undefined;
}

/** A whole number of at least 1 in any numeric spelling. */
export function positiveInteger(value: unknown): number | undefined {
  const number = numeric(value);
  return number !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** `true`/`false` in any letter case, `1`, `0`, JSON booleans; undefined for anything else (interface-behaviour 3.2). */
export function boolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** The loose flags (`strict_dates`, `has_events`, a venue's `show_map`): `true` in any case, `1`, `yes`, `on`; all else is false. */
export function truthy(value: unknown): boolean {
  return /^(true|1|yes|on)$/i.test(String(value));
}

/** What PHP calls empty, among the values that can arrive; `{}` becomes an empty array there. */
export function empty(value: unknown): boolean {
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

/** A list given as CSV, as `name[]` or as one value; blanks around elements are dropped, other values are kept as they are. */
export function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'string' ? item.trim() : item));
  if (typeof value === 'string') return value === '' ? [] : value.split(',').map((item) => item.trim());
  if (isObject(value)) return Object.values(value);
  return value === undefined || value === null ? [] : [value];
}

/** What JSON calls an object, and PHP an array with keys: no list, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SCHEME = /^([a-z][a-z0-9+.-]*):(.*)$/is;
const URL_SIGNS = /^[\x21-\x7e]+$/;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

/** An address as PHP's FILTER_VALIDATE_URL takes it (interface-behaviour 5.1, `website`): ASCII, a scheme, and a host where the scheme has one. */
export function isUrl(text: string): boolean {
  const found = URL_SIGNS.test(text) ? SCHEME.exec(text) : null;
  if (!found) return false;
  const scheme = found[1]!.toLowerCase();
  const rest = found[2]!;
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
