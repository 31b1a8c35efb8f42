// Every way in which a CMS is known to let its callers down: on the wire, and in what it says.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answerText } from './cms.ts';
import type { Fault } from './fault-proxy.ts';

/** `unknown`: the change may have been made; `away`: it has not, or nothing was asked; `fine`: the answer could be read. */
export type Outcome = 'fine' | 'away' | 'unknown';

export interface Misbehaviour {
  name: string;
  /** On the wire, or in the answer to whatever is asked. */
  does: { wire: Fault } | { says: (response: ServerResponse, right: string) => void };
  read: Outcome;
  write: Outcome;
  /** Whether its connections stay open for longer than anybody waits. */
  hangs?: true;
  /** Seconds of `Retry-After`, where the CMS has said when to come back. */
  retryAfterS?: number;
}

const says =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    answerText(response, status, body, headers);

/** `bytes` bytes of white space, as fast as they are taken. */
export function endless(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 * 1024, 32);
  let left = Math.ceil(bytes / chunk.length);
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

/** White space before the JSON, a little at a time, for ever. */
function dripping(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const drip = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(drip));
}

const JSON_TYPE = { 'content-type': 'application/json' };
const NOTICE = '<br />\n<b>Warning</b>: Undefined key [a] {b} in <b>/x.php</b> on line <b>3</b><br />\n';
/** White space, which is no mistake before JSON: only the cap refuses it. */
const BOMB = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));

/** @param elsewhere another server, which must never be asked anything */
export const misbehaviours = (elsewhere: URL): Misbehaviour[] => [
  { name: 'refuses connections', does: { wire: { kind: 'down' } }, read: 'away', write: 'away' },
  { name: 'hangs before the headers', does: { wire: { kind: 'silent' } }, read: 'away', write: 'unknown', hangs: true },
  {
    name: 'answers too late',
    does: { wire: { kind: 'late', delayMs: 5000 } },
    read: 'away',
    write: 'unknown',
    hangs: true,
  },
  {
    name: 'drips',
    does: { wire: { kind: 'drip', bytes: 5, everyMs: 50 } },
    read: 'away',
    write: 'unknown',
    hangs: true,
  },
  { name: 'drips its body', does: { says: dripping }, read: 'away', write: 'unknown', hangs: true },
  { name: 'resets at once', does: { wire: { kind: 'reset', afterBytes: 0 } }, read: 'away', write: 'unknown' },
  { name: 'resets in the headers', does: { wire: { kind: 'reset', afterBytes: 30 } }, read: 'away', write: 'unknown' },
  { name: 'resets in the body', does: { wire: { kind: 'reset', afterBytes: 250 } }, read: 'away', write: 'unknown' },
  { name: 'ends in the body', does: { wire: { kind: 'cut', afterBytes: 250 } }, read: 'away', write: 'unknown' },
  {
    name: 'says half of its JSON',
    does: { says: (response, right) => says(200, right.slice(0, right.length / 2), JSON_TYPE)(response) },
    ...{ read: 'away', write: 'unknown' },
  },
  { name: 'says nothing', does: { says: says(200, '', JSON_TYPE) }, read: 'away', write: 'unknown' },
  { name: 'shows a page', does: { says: says(200, '<!DOCTYPE html><html></html>') }, read: 'away', write: 'unknown' },
  { name: "shows a firewall's page", does: { says: says(403, '<html>blocked</html>') }, read: 'away', write: 'away' },
  {
    name: 'begins with a PHP notice',
    does: { says: (response, right) => says(200, NOTICE + right, JSON_TYPE)(response) },
    ...{ read: 'fine', write: 'fine' },
  },
  { name: 'has a fatal error', does: { says: says(500, '<p>critical error</p>') }, read: 'away', write: 'unknown' },
  { name: 'is a bad gateway', does: { says: says(502, '<html>') }, read: 'away', write: 'unknown' },
  {
    name: 'asks for patience',
    does: { says: says(429, '{}', { ...JSON_TYPE, 'retry-after': '7' }) },
    ...{ read: 'away', write: 'away', retryAfterS: 7 },
  },
  {
    name: 'is in maintenance',
    does: { says: says(503, '{"code":"wp_die","message":"Briefly unavailable"}', { 'retry-after': '600' }) },
    ...{ read: 'away', write: 'away', retryAfterS: 600 },
  },
  { name: 'sends 100 MB', does: { says: (response) => endless(response, 100e6) }, read: 'away', write: 'unknown' },
  {
    name: 'sends 40 MB in 40 kB',
    does: {
      says(response, right) {
        const body = Buffer.concat([BOMB, gzipSync(right)]);
        answerText(response, 200, body, { ...JSON_TYPE, 'content-encoding': 'gzip' });
      },
    },
    ...{ read: 'away', write: 'unknown' },
  },
  {
    name: 'redirects elsewhere',
    does: { says: says(302, '', { location: `${elsewhere}wp-json/` }) },
    ...{ read: 'away', write: 'away' },
  },
  { name: 'redirects for ever', does: { says: says(307, '', { location: '/again' }) }, read: 'away', write: 'away' },
];
