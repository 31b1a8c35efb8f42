// The second port, for operators: live, ready, metrics, status, and the CMS's signed change notices.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Metrics } from '../observe/metrics.ts';

/** A record that changed: its collection's name in the CMS (`rest_base`) and its id. */
export interface Change {
  collection: string;
  id: number;
}

export interface AdminOptions {
  metrics: Pick<Metrics, 'contentType' | 'text'>;
  /** What operators are told. Must not hold secrets. */
  status: () => object;
  /** Whether there is a whole copy to answer from. */
  complete: () => boolean;
  /** Whether the copy is in step with the CMS now: what `/ready?strict=1` asks for. */
  inStep: () => boolean;
  changed: (changes: Change[]) => Promise<unknown>;
  /** Without one there are no change notices. */
  noticeSecret: string | undefined;
  nowMs?: () => number;
}

export interface Admin {
  listener: RequestListener;
  /** From now on `/ready` says no: a balancer stops sending requests here. */
  draining(): void;
}

const MAX_NOTICE_BYTES = 256 * 1024;
const NOTICE_WINDOW_MS = 5 * 60_000;
/** A hundred a second for the whole time that a signature may be valid: only the site can make one. */
const MAX_SEEN = 60_000;

type Reply = { status: number; body: object | string; type?: string; headers?: Record<string, string> };
const refusal = (status: number, error: string, headers: Record<string, string> = {}): Reply => ({
  status,
  body: { error },
  headers,
});

/** Answers below `/-/` and, for short, below `/`. */
export function createAdmin(options: AdminOptions): Admin {
  const { metrics, status, complete, inStep, changed, noticeSecret, nowMs = Date.now } = options;
  let draining = false;
  /** Signatures of notices that were taken, for as long as they would be valid again. */
  const seen = new LRUCache<string, true>({ max: MAX_SEEN, ttl: 2 * NOTICE_WINDOW_MS });

  const reads: Record<string, (query: URLSearchParams) => Reply | Promise<Reply>> = {
    '/live': () => ({ status: 200, body: { live: true } }),
    '/ready': (query) => {
      const ready = !draining && complete() && (query.get('strict') !== '1' || inStep());
      return { status: ready ? 200 : 503, body: { ...status(), ready, draining } };
    },
    '/status': () => ({ status: 200, body: { ...status(), draining } }),
    '/metrics': async () => ({ status: 200, body: await metrics.text(), type: metrics.contentType }),
  };

  async function reply(request: IncomingMessage): Promise<Reply> {
    const address = request.url ?? '/';
    if (!URL.canParse(address, 'http://admin')) return refusal(400, 'the address cannot be read');
    const { pathname, searchParams } = new URL(address, 'http://admin');
    const path = pathname.replace(/^\/-\//, '/');
    if (path === '/changes') return request.method === 'POST' ? notice(request) : refusal(405, 'POST only', POST);
    const read = Object.hasOwn(reads, path) ? reads[path] : undefined;
    if (!read) return refusal(404, 'there are /-/live, /-/ready, /-/status, /-/metrics and POST /-/changes');
    return request.method === 'GET' || request.method === 'HEAD' ? read(searchParams) : refusal(405, 'GET only', GET);
  }

  async function notice(request: IncomingMessage): Promise<Reply> {
    if (noticeSecret === undefined) return refusal(404, 'no notice secret is configured (CALENDAR_NOTICE_SECRET)');
    const body = await bodyOf(request);
    if (body === undefined) return refusal(413, `more than ${MAX_NOTICE_BYTES} bytes`, { Connection: 'close' });
    const signed = signatureIn(request.headers['x-calendar-signature'], body, noticeSecret, nowMs());
    if (!signed)
      return refusal(401, 'there is no valid X-Calendar-Signature, or its time is more than five minutes off');
    if (seen.has(signed)) return refusal(409, 'this webhook was received before: each is accepted once');
    seen.set(signed, true);
    const changes = changesIn(body);
    if (!changes) return refusal(400, 'not a change notice: {"changes": [{"collection": "events", "id": 12}]}');
    // The site does not wait for what follows; a failed look is mended by the next round.
    changed(changes).catch(() => undefined);
    return { status: 202, body: { accepted: changes.length } };
  }

  return {
    listener(request, response) {
      reply(request)
        .catch(() => refusal(500, 'this could not be answered'))
        .then((answer) => send(response, answer));
    },
    draining() {
      draining = true;
    },
  };
}

const GET = { Allow: 'GET, HEAD' };
const POST = { Allow: 'POST' };

function send(response: ServerResponse, { status, body, type, headers }: Reply): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': type ?? 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`);
}

/** The body's bytes; undefined when there are too many. What is left of those is not read, and not kept. */
function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // One that announced no body (`optimizeEmptyRequests` in `port.ts`).
    if (request.readableEnded) return resolve(Buffer.alloc(0));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_NOTICE_BYTES) chunks.push(chunk);
      else {
        chunks.length = 0;
        // Not destroyed: the refusal still has to go out on this connection.
        request.pause();
        resolve(undefined);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

/**
 * The signature, when it is one: `t=UNIX,v1=HEX` where HEX is the HMAC-SHA256 of `t.body`. A time more than five minutes off is as good as
 * forged.
 */
function signatureIn(
  header: string | string[] | undefined,
  body: Buffer,
  secret: string,
  nowMs: number,
): string | undefined {
  const [, time, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
  if (time === undefined || given === undefined) return undefined;
  const right = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isTimely = Math.abs(nowMs - Number(time) * 1000) <= NOTICE_WINDOW_MS;
  return timingSafeEqual(right, Buffer.from(given, 'hex')) && isTimely ? given : undefined;
}

function changesIn(body: Buffer): Change[] | undefined {
  try {
    const { changes } = JSON.parse(body.toString('utf8')) as { changes?: unknown };
    return Array.isArray(changes) && changes.every(isChange)
      ? changes.map(({ collection, id }) => ({ collection, id }))
      : undefined;
  } catch {
    return undefined;
  }
}

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null) return false;
  const { collection, id } = value as Record<string, unknown>;
  return typeof collection === 'string' && collection !== '' && Number.isSafeInteger(id) && Number(id) > 0;
}
