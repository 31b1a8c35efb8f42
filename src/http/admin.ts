// The second port, for operators: live, ready, metrics, status, and the CMS's signed change notices.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Metrics } from '../observe/metrics.ts';

export interface Change {
  collection: string;
  id: number;
}

export interface AdminOptions {
  metrics: Pick<Metrics, 'contentType' | 'text'>;
  status: () => object;
  /** Whether there is a whole copy to answer from. */
  complete: () => boolean;
  /** Whether the copy is in step with the CMS now: what `/ready?strict=1` asks for. */
  inStep: () => boolean;
  changed: (changes: Change[]) => Promise<void>;
  noticeSecret: string | undefined;
}

export interface Admin {
  listener: RequestListener;
  /** From now on `/ready` says no: a balancer stops sending requests here. */
  draining(): void;
}

const MAX_NOTICE_BYTES = 256 * 1024;
const NOTICE_WINDOW_S = 300;

export function createAdmin(options: AdminOptions): Admin {
  let draining = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://admin');
    const path = url.pathname.replace(/^\/-\//, '/');
    if (request.method === 'POST' && path === '/changes') return notices(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, { error: 'GET only' });
    if (path === '/live') return send(response, 200, { live: true });
    if (path === '/ready') {
      const ready = !draining && options.complete() && (url.searchParams.get('strict') !== '1' || options.inStep());
      return send(response, ready ? 200 : 503, { ready, draining, ...options.status() });
    }
    if (path === '/status') return send(response, 200, options.status());
    if (path === '/metrics') {
      response.writeHead(200, { 'content-type': options.metrics.contentType }).end(await options.metrics.text());
      return;
    }
    return send(response, 404, { error: 'there are /live, /ready, /status, /metrics and POST /-/changes' });
  }

  async function notices(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (options.noticeSecret === undefined)
      return send(response, 404, { error: 'no notice secret is configured (CALENDAR_NOTICE_SECRET)' });
    const body = await bodyOf(request);
    if (body === undefined) return send(response, 413, { error: 'too large' });
    if (!isSigned(request.headers['x-calendar-signature'], body, options.noticeSecret))
      return send(response, 401, { error: 'bad signature' });
    const changes = changesIn(body);
    if (!changes) return send(response, 400, { error: 'not a change notice' });
    // The site does not wait for what follows; a failed look is mended by the next round.
    void options.changed(changes).catch(() => undefined);
    return send(response, 202, { accepted: changes.length });
  }

  return {
    listener: (request, response) => {
      answer(request, response).catch(() => send(response, 500, { error: 'failed' }));
    },
    draining() {
      draining = true;
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(`${JSON.stringify(body)}\n`);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_NOTICE_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `t=UNIX,v1=HEX` where HEX is the HMAC-SHA256 of `t.body`; older than five minutes is as good as forged. */
function isSigned(header: string | string[] | undefined, body: string, secret: string): boolean {
  const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
  if (time === undefined || given === undefined) return false;
  if (Math.abs(Date.now() / 1000 - Number(time)) > NOTICE_WINDOW_S) return false;
  const right = createHmac('sha256', secret).update(`${time}.${body}`).digest();
  return timingSafeEqual(right, Buffer.from(given, 'hex'));
}

function changesIn(body: string): Change[] | undefined {
  try {
    const { changes } = JSON.parse(body) as { changes?: unknown };
    if (!Array.isArray(changes)) return undefined;
    const good = changes.every((one) => typeof one?.collection === 'string' && Number.isInteger(one?.id));
    return good ? changes.map(({ collection, id }) => ({ collection, id })) : undefined;
  } catch {
    return undefined;
  }
}
