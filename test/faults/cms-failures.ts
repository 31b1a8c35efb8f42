// Known failures of a CMS, on the wire and in its responses.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Fault } from './fault-proxy.ts';
import { sendText } from './stub-cms.ts';

/**
 * `unknown`: a write may have happened; `away`: it has not, or was not sent; `fine`: the response is usable.
 */
export type Outcome = 'fine' | 'away' | 'unknown';

export interface CmsFailure {
  name: string;
  /** On the wire, or in the response to any request. */
  fault: { wire: Fault } | { respond: (response: ServerResponse, valid: string) => void };
  read: Outcome;
  write: Outcome;
  /** True if its connections stay open beyond every deadline. */
  hangs?: true;
  /** Seconds of `Retry-After`, if the CMS sends it. */
  retryAfterS?: number;
}

const respondWith =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    sendText(response, status, body, headers);

/** Sends `bytes` bytes of white space, as fast as the client reads. */
export function endless(response: ServerResponse, bytes: number, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  const chunk = Buffer.alloc(64 * 1024, 32);
  let chunksLeft = Math.ceil(bytes / chunk.length);
  const more = () => {
    while (chunksLeft > 0 && !response.destroyed) {
      chunksLeft -= 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

/** Sends white space before the JSON, byte by byte, for ever. */
function dripping(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drip = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(drip));
}

const JSON_TYPE = { 'content-type': 'application/json' };
const NOTICE = '<br />\n<b>Warning</b>: Undefined key [a] {b} in <b>/x.php</b> on line <b>3</b><br />\n';
/** White space is valid before JSON: only the byte limit rejects it. */
const BOMB = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));

/** @param elsewhere another server, which must never receive a request */
export const cmsFailures = (elsewhere: URL): CmsFailure[] => [
  { name: 'refuses connections', fault: { wire: { kind: 'down' } }, read: 'away', write: 'away' },
  {
    name: 'hangs before the headers',
    fault: { wire: { kind: 'silent' } },
    read: 'away',
    write: 'unknown',
    hangs: true,
  },
  {
    name: 'answers too late',
    fault: { wire: { kind: 'late', delayMs: 5000 } },
    read: 'away',
    write: 'unknown',
    hangs: true,
  },
  {
    name: 'drips',
    fault: { wire: { kind: 'drip', bytes: 5, everyMs: 50 } },
    read: 'away',
    write: 'unknown',
    hangs: true,
  },
  { name: 'drips its body', fault: { respond: dripping }, read: 'away', write: 'unknown', hangs: true },
  { name: 'resets immediately', fault: { wire: { kind: 'reset', afterBytes: 0 } }, read: 'away', write: 'unknown' },
  { name: 'resets in the headers', fault: { wire: { kind: 'reset', afterBytes: 30 } }, read: 'away', write: 'unknown' },
  { name: 'resets in the body', fault: { wire: { kind: 'reset', afterBytes: 250 } }, read: 'away', write: 'unknown' },
  { name: 'ends in the body', fault: { wire: { kind: 'cut', afterBytes: 250 } }, read: 'away', write: 'unknown' },
  {
    name: 'sends truncated JSON',
    fault: { respond: (response, valid) => respondWith(200, valid.slice(0, valid.length / 2), JSON_TYPE)(response) },
    ...{ read: 'away', write: 'unknown' },
  },
  { name: 'sends nothing', fault: { respond: respondWith(200, '', JSON_TYPE) }, read: 'away', write: 'unknown' },
  {
    name: 'shows a page',
    fault: { respond: respondWith(200, '<!DOCTYPE html><html></html>') },
    read: 'away',
    write: 'unknown',
  },
  {
    name: "shows a firewall's page",
    fault: { respond: respondWith(403, '<html>blocked</html>') },
    read: 'away',
    write: 'away',
  },
  {
    name: 'begins with a PHP notice',
    fault: { respond: (response, valid) => respondWith(200, NOTICE + valid, JSON_TYPE)(response) },
    ...{ read: 'fine', write: 'fine' },
  },
  {
    name: 'has a fatal error',
    fault: { respond: respondWith(500, '<p>critical error</p>') },
    read: 'away',
    write: 'unknown',
  },
  { name: 'is a bad gateway', fault: { respond: respondWith(502, '<html>') }, read: 'away', write: 'unknown' },
  {
    name: 'sends 429 with Retry-After',
    fault: { respond: respondWith(429, '{}', { ...JSON_TYPE, 'retry-after': '7' }) },
    ...{ read: 'away', write: 'away', retryAfterS: 7 },
  },
  {
    name: 'is in maintenance',
    fault: { respond: respondWith(503, '{"code":"wp_die","message":"Briefly unavailable"}', { 'retry-after': '600' }) },
    ...{ read: 'away', write: 'away', retryAfterS: 600 },
  },
  { name: 'sends 100 MB', fault: { respond: (response) => endless(response, 100e6) }, read: 'away', write: 'unknown' },
  {
    name: 'sends 40 MB in 40 kB',
    fault: {
      respond(response, valid) {
        const body = Buffer.concat([BOMB, gzipSync(valid)]);
        sendText(response, 200, body, { ...JSON_TYPE, 'content-encoding': 'gzip' });
      },
    },
    ...{ read: 'away', write: 'unknown' },
  },
  {
    name: 'redirects elsewhere',
    fault: { respond: respondWith(302, '', { location: `${elsewhere}wp-json/` }) },
    ...{ read: 'away', write: 'away' },
  },
  {
    name: 'redirects for ever',
    fault: { respond: respondWith(307, '', { location: '/again' }) },
    read: 'away',
    write: 'away',
  },
];
