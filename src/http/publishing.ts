// Makes a stored answer of a public one: its bytes, its ETag, and every header that does not depend on the request.

import type { Answer } from '../calendar/asked.ts';
import type { Backing } from '../calendar/backing.ts';
import { hash } from '../calendar/ready.ts';
import type { WallTime } from '../records.ts';
import type { StoredAnswer } from './answer-cache.ts';
import { headerLines } from './head.ts';
import { type Freshness, publicCaching, purgeTags, STANDING } from './headers.ts';
import { asBytes, isReady, piecesOf } from './sending.ts';

/** Where the site's own REST interface is, as WordPress says it with every answer; letters that no header may have as a browser sends them. */
export function linkTo(backing: Pick<Backing, 'site'>): string {
  const address = `${backing.site().url}/wp-json/`;
  return `<${PLAIN.test(address) ? address : new URL(address).href}>; rel="https://api.w.org/"`;
}

const PLAIN = /^[\x21-\x7e]*$/;

const { 'Content-Type': JSON_TYPE, ...ALWAYS } = STANDING;
const standing = Object.entries(ALWAYS).flat();

/** Undefined for an answer that is not for everybody, or not for another time. The caller has to be anonymous. */
export function publishing(backing: Backing, freshness: Freshness) {
  const caching = publicCaching(freshness);

  return function publish(answer: Answer, route: string): StoredAnswer | undefined {
    if (answer.status !== 200 || answer.validUntilMs === undefined) return undefined;
    const ready = isReady(answer.body);
    const pieces = ready && answer.etag ? piecesOf(answer.body) : [asBytes(answer.body)];
    const { 'Content-Type': contentType = JSON_TYPE!, ...own } = answer.headers ?? {};
    const etag = `W/${answer.etag ?? `"${hash(pieces[0]!)}"`}`;
    const headers = [...standing, ...flat(own), 'Link', linkTo(backing), ...purgeTags(answer.tags ?? [])];
    headers.push('Allow', 'GET', 'Cache-Control', caching, 'ETag', etag);
    const modifiedMs = dateOf(answer.modifiedUtc, backing.nowMs());
    if (modifiedMs !== undefined) headers.push('Last-Modified', new Date(modifiedMs).toUTCString());
    let length = 0;
    for (const { byteLength } of pieces) length += byteLength;
    return {
      ...{ pieces, length, etag, contentType, route },
      lines: headerLines(headers),
      plainLines: headerLines(['Content-Type', contentType, 'Content-Length', String(length)]),
      ...(modifiedMs === undefined ? {} : { modifiedMs }),
      version: answer.version ?? backing.replica.version,
      validUntilMs: answer.validUntilMs,
      encoded: new Map(),
      pending: new Map(),
    };
  };
}

function flat(headers: Record<string, string>): string[] {
  const turns: string[] = [];
  for (const name in headers) turns.push(name, headers[name]!);
  return turns;
}

const SECOND_MS = 1000;

/** Undefined for what is no date. One in the future, by a clock that is ahead, is now (RFC 9110, 8.8.2.1). */
function dateOf(utc: WallTime | undefined, nowMs: number): number | undefined {
  const ms = utc === undefined ? Number.NaN : Date.parse(`${utc.replace(' ', 'T')}Z`);
  return Number.isNaN(ms) ? undefined : Math.min(ms, nowMs - (nowMs % SECOND_MS));
}
