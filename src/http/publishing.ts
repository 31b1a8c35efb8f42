// Makes a stored answer of a public one: its bytes, its ETag, and every header that does not depend on the request.

import type { Answer, Backing } from '../calendar/backing.ts';
import { hash } from '../calendar/ready.ts';
import type { StoredAnswer } from './answer-cache.ts';
import { type Freshness, publicCaching, purgeTags, STANDING } from './headers.ts';
import { asBytes, isReady, piecesOf } from './sending.ts';

/** Where the site's own REST interface is, as WordPress says it with every answer. */
export const linkTo = (backing: Backing): string => `<${backing.site().url}/wp-json/>; rel="https://api.w.org/"`;

/** Undefined for an answer that is not for everybody, or not for another time. The caller has to be anonymous. */
export function publishing(backing: Backing, freshness: Freshness) {
  const caching = publicCaching(freshness);

  return function publish(answer: Answer, route: string): StoredAnswer | undefined {
    if (answer.status !== 200 || answer.validUntilMs === undefined) return undefined;
    const ready = isReady(answer.body);
    const pieces = ready && answer.etag ? piecesOf(answer.body) : [asBytes(answer.body)];
    const { 'Content-Type': contentType, ...standing } = { ...STANDING, ...answer.headers };
    const etag = `W/${answer.etag ?? `"${hash(pieces[0]!)}"`}`;
    const headers = {
      ...standing,
      Link: linkTo(backing),
      ...purgeTags(answer.tags ?? []),
      Allow: 'GET',
      'Cache-Control': caching,
      ETag: etag,
    };
    return {
      ...{ pieces, etag, route, contentType: contentType! },
      length: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
      headers: Object.entries(headers).flat(),
      version: answer.version ?? backing.replica.version,
      validUntilMs: answer.validUntilMs,
      encoded: new Map(),
      pending: new Set(),
    };
  };
}
