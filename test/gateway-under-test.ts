// The whole gateway around any CMS, in one process: a copy in memory, a sync that does not poll, and requests without a network.

import { createServer, type Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { assemble } from '../src/assembly.ts';
import type { Backing } from '../src/calendar/backing.ts';
import { type Config, loadConfig } from '../src/config.ts';
import type { Operations } from '../src/http/routing.ts';
import { loadMapping } from '../src/mapping/load.ts';
import { openReplica } from '../src/replica/store.ts';
import { createSync } from '../src/replica/sync.ts';
import type { Credentials, Upstream } from '../src/upstream/port.ts';

export const PUBLIC_URL = 'https://calendar.example';
export const MOUNT = '/calendar/events/v1';
export const BASE = `${PUBLIC_URL}${MOUNT}`;
/** Beside the interface's own mount: what existing clients of the original call. */
export const OTHER_MOUNT = '/wp-json/tribe/events/v1';

export interface GatewayParts {
  upstream: Upstream;
  /** The service account; without one only public records are copied. */
  service?: Credentials;
  /** `Authorization` by the name that `as` gives. */
  as?: Record<string, string>;
  nowMs?: () => number;
  /** What the gateway asks the CMS does not depend on how quickly the CMS answers: so that a recording can be replayed. */
  isRecorded?: boolean;
  /** Page size of lists: 10, as on a fresh site of the original. */
  perPage?: number;
  /** How long others may keep public answers: the default. */
  cache?: Partial<Config['cache']>;
}

export interface Request {
  /** Whose credentials are sent: a name of `GatewayParts.as`. */
  as?: string | undefined;
  method?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; a `content-type` among the headers says what it is. */
  body?: string | Uint8Array;
  /** Sent as a form, in PHP's bracket notation. */
  form?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, which say what they expect there.
export type Json = any;

export interface Answered {
  status: number;
  /** By lower-case name. */
  headers: Record<string, string>;
  /** What was sent behind the headers. */
  bytes: Buffer;
  /** The same as text. */
  text: string;
  /** The text as JSON; undefined when it is none. */
  body: Json;
}

export interface GatewayUnderTest {
  backing: Backing;
  operations: Operations;
  /** A request to a path below the mount: `/events?page=2`. */
  ask(path: string, request?: Request): Promise<Answered>;
  /** A request to any path of the server. */
  askAt(path: string, request?: Request): Promise<Answered>;
  close(): Promise<void>;
}

/** Longer than any test; three times as long is still no more than a timer can wait. */
const NEVER_MS = 2 ** 29;

/** The defaults, but for what a test may ask of it: larger pages, no limit on requests, no pages for browsers. */
function configOf({ perPage = 10, cache }: GatewayParts): Config {
  const config = loadConfig({
    env: {
      CALENDAR_UPSTREAM_URL: 'https://cms.example',
      CALENDAR_PUBLIC_URL: PUBLIC_URL,
      CALENDAR_MOUNTS: OTHER_MOUNT,
    },
  });
  return {
    ...config,
    lists: { perPage, maxPerPage: 50 },
    cache: { ...config.cache, ...cache },
    // Requests without a network never leave the turn of the event loop that overload is measured by.
    limits: { ...config.limits, requestsPerMinute: 1_000_000, overloadMs: NEVER_MS },
    pages: { landing: false, documentation: false },
  };
}

/** A minute later whenever it is looked at. */
function leapingClock(): () => number {
  let ms = 0;
  return () => {
    ms += 60_000;
    return ms;
  };
}

/** Puts it together and waits for the first copy. */
export async function gatewayUnderTest(parts: GatewayParts): Promise<GatewayUnderTest> {
  const { upstream, service, nowMs = Date.now } = parts;
  const observe = (): void => {};
  const config = configOf(parts);
  const mapping = loadMapping(config.mapping);
  const replica = openReplica({ identity: 'test' });
  const sync = createSync({ replica, upstream, mapping, service, intervalMs: NEVER_MS, observe, nowMs });
  const { backing, operations, listener } = assemble({
    config,
    mapping,
    upstream,
    service,
    replica,
    sync,
    observe,
    nowMs,
    ...(parts.isRecorded ? { clocks: { loginsMs: () => 1, unknownMs: leapingClock() } } : {}),
  });
  sync.start();
  await sync.complete();
  const server = createServer({ maxHeaderSize: config.limits.headerBytes, optimizeEmptyRequests: true }, listener);
  const askAt = (path: string, request: Request = {}) => exchange(server, path, request, parts.as ?? {});

  return {
    backing,
    operations,
    askAt,
    ask: (path, request) => askAt(`${MOUNT}${path}`, request),
    async close() {
      await sync.stop();
      replica.close();
    },
  };
}

/** One exchange with the server over a connection that never leaves the process. */
async function exchange(server: Server, path: string, sent: Request, users: Record<string, string>): Promise<Answered> {
  const [body, type] =
    sent.json !== undefined
      ? [JSON.stringify(sent.json), 'application/json']
      : sent.form !== undefined
        ? [sent.form, 'application/x-www-form-urlencoded']
        : [sent.body, undefined];
  const method = sent.method ?? (body === undefined ? 'GET' : 'POST');
  const authorization = sent.as === undefined ? undefined : users[sent.as];
  if (sent.as !== undefined && authorization === undefined) throw new Error(`nobody is called ${sent.as} here`);
  const bytes = Buffer.from(body ?? '');
  const headers = {
    host: 'calendar.example',
    connection: 'close',
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(body === undefined ? {} : { 'content-length': bytes.length }),
    ...(authorization === undefined ? {} : { authorization }),
    ...sent.headers,
  };
  const [here, there] = duplexPair();
  server.emit('connection', Object.assign(there, { remoteAddress: '192.0.2.1' }));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  here.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  if (bytes.length > 0) here.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of here) chunks.push(chunk as Buffer);
  return answered(Buffer.concat(chunks));
}

function answered(wire: Buffer): Answered {
  const end = wire.indexOf('\r\n\r\n');
  const [start = '', ...lines] = wire.toString('utf8', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bytes = wire.subarray(end + 4);
  const text = bytes.toString('utf8');
  return { status: Number(start.split(' ')[1]), headers, bytes, text, body: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
