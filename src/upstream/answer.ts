// What an answer of the CMS is worth: JSON, JSON behind a PHP notice, an error of its own, or nothing usable.

import { UpstreamAway } from '../errors.ts';
import { type Incoming, isWrite } from './exchange.ts';

export interface Answer extends Incoming {
  /** The parsed body; undefined when there is none (HEAD, 204) or when `expect` was `'any'`. */
  json: unknown;
}

/** Statuses of whatever stands before WordPress; their body is not WordPress' word on the request. */
const GATEWAY_STATUSES = new Set([502, 503, 504]);
/** The status of the error for a redirect that the gateway does not follow. */
export const REDIRECTED = 302;
const MAX_JSON_STARTS = 50;
const MAX_RETRY_AFTER_S = 3600;

/**
 * The answer to work with: any status below 500, and a 5xx with which WordPress refuses a write (`rest_upload_sideload_error`, a
 * database error): upstream-wordpress 6.
 * @throws UpstreamAway `status` for redirects, 429 and the other 5xx; `not-json` for a page or half an answer
 */
export function judge(method: string, incoming: Incoming, expect: 'json' | 'any'): Answer {
  const write = isWrite(method);
  const json = expect === 'json' && method !== 'HEAD' ? parseJson(incoming.bytes) : undefined;
  const answer = { ...incoming, status: meantStatus(incoming.status, json) };
  const { status, headers } = answer;
  if (status >= 500 || status === 429) {
    if (write && !GATEWAY_STATUSES.has(status) && status !== 429 && isOwnRefusal(json)) return { ...answer, json };
    const retryAfterS = retryAfter(headers['retry-after']);
    throw new UpstreamAway('status', `The CMS answered with status ${status}.`, {
      status,
      // A limiter, and WordPress in maintenance, answer before anything is done.
      outcomeUnknown: write && status !== 429 && !(status === 503 && errorCode(json) !== undefined),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    });
  }
  if (status >= 300 && status < 400 && status !== 304) throw redirected(headers.location);
  if (expect === 'json' && method !== 'HEAD' && status !== 204 && json === undefined) {
    throw new UpstreamAway(
      'not-json',
      `The CMS answered with ${describe(answer)} in place of JSON (status ${status}).`,
      {
        status,
        outcomeUnknown: write && status < 300,
      },
    );
  }
  return { ...answer, json };
}

/** A redirect that is not followed, with advice: a write would be lost on the way, and credentials stay with the site they are for. */
export function redirected(location: string | undefined): UpstreamAway {
  const target = location === undefined || !URL.canParse(location) ? undefined : new URL(location);
  const where = target ? ` to ${target.origin}${target.pathname}` : '';
  const advice = target ? 'If that is the site, give this address as CALENDAR_UPSTREAM_URL.' : 'Give its real address.';
  return new UpstreamAway('status', `The CMS redirects${where}. ${advice}`, { status: REDIRECTED });
}

/**
 * Parses a body leniently: PHP notices and warnings that a site prints before the JSON are passed over (the first `{` or `[` from
 * which the whole rest is JSON counts), as is a byte order mark. Anything after the JSON, or half of it, is not accepted.
 * @returns undefined when it is not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes).trim();
  const whole = tryParse(text);
  if (whole !== undefined) return whole;
  if (!/[}\]]$/.test(text)) return undefined;
  let tries = 0;
  for (const { index } of text.matchAll(/[{[]/g)) {
    const rest = tryParse(text.slice(index));
    if (rest !== undefined) return rest;
    tries += 1;
    if (tries === MAX_JSON_STARTS) break;
  }
  return undefined;
}

/** The `code` of an error body `{code, message, data}`; `''` where a plugin leaves the code out; undefined when it is not such a body. */
export function errorCode(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('message' in json) || typeof json.message !== 'string')
    return undefined;
  return 'code' in json && typeof json.code === 'string' ? json.code : '';
}

/** Seconds of a `Retry-After` (a number or a date, RFC 9110 10.2.3), at most an hour; undefined without a readable one. */
export function retryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_S);
}

/** PHP sends status 200 with the first byte of a notice that it prints: what WordPress meant then stands in the body alone. */
function meantStatus(status: number, json: unknown): number {
  if (status < 200 || status > 299 || !errorCode(json)) return status;
  const { data } = json as { data?: { status?: unknown } | null };
  const meant = data?.status;
  return Number.isInteger(meant) && Number(meant) >= 400 && Number(meant) < 600 ? Number(meant) : status;
}

/** A fatal error of PHP also comes as an error body, but it is no answer to the request: the write may be half done. */
function isOwnRefusal(json: unknown): boolean {
  const code = errorCode(json);
  return code !== undefined && code !== 'internal_server_error' && code !== 'wp_die';
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function describe({ bytes }: Incoming): string {
  const start = bytes.subarray(0, 500).toString('latin1').trimStart();
  if (start === '') return 'nothing';
  if (start.startsWith('<')) return 'a web page';
  return start.startsWith('{') || start.startsWith('[') ? 'broken JSON' : 'something else';
}
