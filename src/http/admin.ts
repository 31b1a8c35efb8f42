// The admin port, for operators: liveness, readiness, metrics, status, and the CMS's signed webhooks.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { TEXT_ID } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import { readAtMost } from '../text/bytes.ts';

/** A record that the CMS reports, by its names and ids: a UUID is an id too. */
export interface ReportedChange {
  collection: string;
  id: number | string;
  /** It is in the trash, which visitors cannot tell from deleted. */
  trashed?: boolean;
}

export interface AdminOptions {
  registry: { contentType: string; metrics: () => Promise<string> };
  /** The body of `/status`. Must not contain secrets. */
  status: () => object;
  isComplete: () => boolean;
  /** True while the replica is live: `/ready?strict=1` requires it. */
  isLive: () => boolean;
  /** True while the gateway stops: `/ready` responds 503, so that a load balancer stops sending requests. */
  isDraining: () => boolean;
  onWebhook: (changes: ReportedChange[]) => Promise<unknown>;
  webhookSecret: string | undefined;
  nowMs?: () => number;
  /** Gets every webhook, and once a minute why one was refused. */
  observe?: Observe;
}

const MAX_WEBHOOK_BYTES = 256 * 1024;
const SIGNATURE_WINDOW_MS = 5 * 60_000;

type Reply = { status: number; body: object | string; type?: string; headers?: Record<string, string> };

function errorReply(status: number, error: string, headers: Record<string, string> = {}): Reply {
  return { status, body: { error }, headers };
}

const LOG_INTERVAL_MS = 60_000;
const ENDPOINTS = 'the endpoints are GET /-/live, /-/ready, /-/status, /-/metrics, and POST /-/changes';
const BAD_SIGNATURE = 'X-Calendar-Signature is missing or invalid, or its time differs by more than five minutes';

/** Returns a function that counts each refused webhook, and warns about them once a minute. */
function createRefusals(observe: Observe, nowMs: () => number) {
  let nextLogMs = 0;
  return (result: string, status: number, error: string, headers?: Record<string, string>): Reply => {
    observe({ type: 'webhook', result });
    if (nowMs() >= nextLogMs) {
      observe({ type: 'message', level: 'warn', message: `refused a webhook: ${result}: ${error}` });
      nextLogMs = nowMs() + LOG_INTERVAL_MS;
    }
    return errorReply(status, error, headers);
  };
}

/** Serves its endpoints below `/-/` and below `/`. */
export function createAdmin(options: AdminOptions): RequestListener {
  const { registry, status, isDraining, webhookSecret, nowMs = Date.now, observe = () => {} } = options;
  const refuse = createRefusals(observe, nowMs);

  const endpoints: Record<string, (query: URLSearchParams) => Reply | Promise<Reply>> = {
    '/live': () => ({ status: 200, body: { live: true } }),
    '/ready': (query) => {
      const draining = isDraining();
      const ready = !draining && options.isComplete() && (query.get('strict') !== '1' || options.isLive());
      return { status: ready ? 200 : 503, body: { ...status(), ready, draining } };
    },
    '/status': () => ({ status: 200, body: { ...status(), draining: isDraining() } }),
    '/metrics': async () => ({ status: 200, body: await registry.metrics(), type: registry.contentType }),
  };

  async function reply(req: IncomingMessage): Promise<Reply> {
    const { method } = req;
    const url = URL.parse(req.url ?? '/', 'http://admin');
    if (!url) return errorReply(400, 'the URL is malformed');
    const path = url.pathname.replace(/^\/-\//, '/');
    if (path === '/changes' && method === 'POST') return webhook(req);
    const isRead = method === 'GET' || method === 'HEAD';
    const endpoint = isRead && Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
    return endpoint ? endpoint(url.searchParams) : errorReply(404, ENDPOINTS);
  }

  async function webhook(req: IncomingMessage): Promise<Reply> {
    if (webhookSecret === undefined)
      return refuse('no-secret', 404, 'no webhook secret is configured (CALENDAR_WEBHOOK_SECRET)');
    // By default the loop that reads the body would close the connection when it stops, and the 413 needs it.
    const reading = readAtMost(req.iterator({ destroyOnReturn: false }), MAX_WEBHOOK_BYTES);
    const body = await reading.catch((error: unknown) => {
      // The connection broke, and `send` has nobody to answer. Any other error: the body is too large.
      if (req.errored) throw error;
      return undefined;
    });
    if (body === undefined)
      return refuse('too-large', 413, `more than ${MAX_WEBHOOK_BYTES} bytes`, { Connection: 'close' });
    const problem = signatureProblem(body, req.headers['x-calendar-signature'], webhookSecret, nowMs());
    if (problem) return refuse(problem, 401, BAD_SIGNATURE);
    const changes = parseChanges(body);
    if (!changes) return refuse('malformed', 400, 'not a webhook: {"changes": [{"collection": "events", "id": 12}]}');
    observe({ type: 'webhook', result: 'accepted' });
    // The site does not wait for the sync. If `onWebhook` fails, the next poll finds the changes. A repeated webhook
    // does no harm: the named records are read again.
    options.onWebhook(changes).catch(() => undefined);
    return { status: 202, body: { accepted: changes.length } };
  }

  return (req, res) => {
    reply(req)
      .catch(() => errorReply(500, 'internal error'))
      .then((response) => send(res, response));
  };
}

function send(res: ServerResponse, { status, body, type, headers }: Reply): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, {
    'Content-Type': type ?? 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`);
}

/** What is wrong with a signature: `t=UNIX,v1=HEX`, where HEX is the HMAC-SHA256 of `t.body`. */
function signatureProblem(body: Buffer, header: string | string[] | undefined, secret: string, nowMs: number) {
  const [, time, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
  if (time === undefined || signature === undefined) return 'unsigned';
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return 'wrong-secret';
  return Math.abs(nowMs - Number(time) * 1000) > SIGNATURE_WINDOW_MS ? 'wrong-time' : undefined;
}

function parseChanges(body: Buffer): ReportedChange[] | undefined {
  try {
    const { changes } = JSON.parse(body.toString('utf8')) as { changes?: unknown };
    return Array.isArray(changes) && changes.every(isChange)
      ? changes.map(({ collection, id, trashed }) => ({ collection, id, ...(trashed === true && { trashed }) }))
      : undefined;
  } catch {
    return undefined;
  }
}

function isChange(value: unknown): value is ReportedChange {
  if (typeof value !== 'object' || value === null) return false;
  const { collection, id } = value as Record<string, unknown>;
  // An id of digits alone is a number, and has to be sent as one.
  const isTextId = typeof id === 'string' && TEXT_ID.test(id) && !/^\d+$/.test(id);
  const isId = isTextId || (Number.isSafeInteger(id) && Number(id) > 0);
  return typeof collection === 'string' && collection !== '' && isId;
}
