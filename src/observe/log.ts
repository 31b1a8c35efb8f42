// The log: one of the two readers of what is observed. Lines are JSON, or for people on a terminal.

import { createRequire } from 'node:module';
import { pino } from 'pino';
import { onceForAlike, type RequestSeen } from './alike.ts';
import type { Observation, Observe } from './events.ts';
import { createLines } from './lines.ts';
import { createProgress } from './progress.ts';

export interface LogOptions {
  /** The least that is told: debug, info, warn, error, silent. */
  level: string;
  /** A line for each request; failures are always told. */
  requests: boolean;
  /** Lines for people; by itself on a terminal. */
  pretty?: boolean;
  /** Where the lines go; stderr. */
  stream?: { write(text: string): unknown; isTTY?: boolean };
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/** How loud each kind of observation is. */
function levelOf(seen: Observation): Level {
  switch (seen.type) {
    case 'request-failed':
    case 'fatal':
      return 'error';
    case 'replica-quarantined':
      return 'warn';
    case 'notice':
      return seen.level;
    case 'upstream-failed':
      return 'warn';
    case 'breaker':
      return seen.state === 'closed' ? 'info' : 'warn';
    case 'sync-state':
      return seen.to === 'away' || seen.to === 'lagging' ? 'warn' : 'info';
    case 'cluster-role':
      return seen.to === 'away' ? 'warn' : 'info';
    case 'request':
      return seen.status >= 500 ? 'warn' : 'info';
    case 'sync-progress':
      return 'info';
    default:
      return 'debug';
  }
}

/** Told to people once. */
const IN_THE_MESSAGE = 'pid,hostname,type,method,route,path,status,from,to,changed,removed,state';

const STDERR = 2;

/** Loaded where there are people: a server has no use for it. */
function prettyLines(colorize: boolean): (line: string) => string {
  const { prettyFactory }: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return prettyFactory({ colorize, singleLine: true, ignore: IN_THE_MESSAGE });
}

/** A text with the time in it. Many lines of a busy moment share it: it is made once a millisecond. */
function timed(textAt: (iso: string) => string): () => string {
  let lastMs = 0;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = textAt(new Date(nowMs).toISOString());
    }
    return text;
  };
}

/** As pino writes it. */
const timestamp = (iso: string) => `,"time":"${iso}"`;

/** A log. What it is handed should hold no credentials; what looks like some in the texts of errors is taken out all the same. */
export function createLog({ level, requests, pretty, stream }: LogOptions): Observe {
  const terminal = (stream ?? process.stderr).isTTY === true;
  const forPeople = pretty ?? terminal;
  const bar = forPeople && terminal && level !== 'silent';
  const progress = createProgress({ terminal: bar });
  const lines = stream || forPeople ? undefined : createLines(STDERR);
  const out = stream ?? lines ?? process.stderr;
  const prettify = forPeople ? prettyLines(terminal) : undefined;
  /** The bar keeps the last line: it is wiped before anything is written, and drawn again behind it. */
  const draw = (text: string) => out.write(bar ? `\r\x1b[K${text}${progress.bar()}` : text);
  const log = pino(
    // Errors are described below; pino would add what hangs on to them.
    { level, base: null, timestamp: timed(timestamp), serializers: { err: (described) => described } },
    prettify ? { write: (line: string) => draw(prettify(line)) } : out,
  );

  const beginning = timed((iso) => `{"level":${INFO}${timestamp(iso)},"id":"`);
  const tellsRequests = requests && !forPeople && log.isLevelEnabled('info');

  return (seen) => {
    if (seen.type === 'request' && seen.status < 500) {
      if (tellsRequests) out.write(requestLine(seen, beginning()));
      if (!requests || !forPeople) return;
    }
    if (seen.type === 'sync-progress') {
      const line = progress.step(seen);
      if (line) log.info(seen, line);
      if (bar) draw('');
      return;
    }
    if (seen.type === 'sync-state' && seen.from === 'copying') progress.end();
    const grade = levelOf(seen);
    if (!log.isLevelEnabled(grade)) return;
    log[grade](shown(seen), messageOf(seen));
    if (grade !== 'info' && grade !== 'debug') lines?.flush();
  };
}

const INFO = 30;

/** How the lines of requests alike end. None of these texts needs escaping: a method is one that the HTTP parser knows, the rest are our own words. */
const ending = onceForAlike(
  ({ method, route, status, cache }) =>
    `,"type":"request","method":"${method}","route":"${route}","status":${status},"cache":"${cache}","msg":"${status} ${method} ${route}"}\n`,
);

/**
 * The line that pino would write, put together without it, and of few pieces: this is the most frequent line by far. An id is one of
 * `nextRequestId` and needs no escaping either.
 */
function requestLine(seen: RequestSeen, beginning: string): string {
  const lasted = Math.round(seen.durationMs * 10) / 10;
  return `${beginning}${seen.id}","durationMs":${lasted}${ending(seen)}`;
}

/** What the line carries beside its message. */
function shown(seen: Observation): object {
  if (seen.type === 'fatal') return { type: seen.type, err: describeError(seen.error) };
  if (seen.type === 'request-failed') return { type: seen.type, id: seen.id, err: describeError(seen.error) };
  // Texts are said by the message, where they are also freed of what is not for a log.
  const line: Record<string, unknown> = { ...seen, message: undefined, why: undefined };
  if ('durationMs' in seen) line.durationMs = Math.round(seen.durationMs * 10) / 10;
  return line;
}

function messageOf(seen: Observation): string {
  switch (seen.type) {
    case 'notice':
      return withoutCredentials(seen.message);
    case 'request':
      return `${seen.status} ${seen.method} ${seen.route}`;
    case 'request-failed':
      return 'a request failed';
    case 'fatal':
      return 'uncaught error: the gateway ends';
    case 'replica-quarantined':
      return `the replica's file is kept as ${seen.file} and a new replica is started: ${seen.reason}`;
    case 'upstream-call':
      return `the CMS answered ${seen.status} to ${seen.method} ${seen.path}`;
    case 'upstream-failed':
      return `no usable answer of the CMS to ${seen.method} ${seen.path}: ${withoutCredentials(seen.message)}`;
    case 'breaker':
      return `calls to the CMS (${seen.lane}): ${BREAKER[seen.state]}`;
    case 'sync-state':
      return `the copy was ${seen.from} and is ${seen.to}: ${withoutCredentials(seen.why)}`;
    case 'cluster-role':
      return `among the gateways this one was ${seen.from} and is ${seen.to} (${seen.why})`;
    case 'sync-round':
      return `looked at the CMS: ${seen.changed} changed, ${seen.removed} removed`;
    default:
      return seen.type;
  }
}

const BREAKER = {
  closed: 'as usual',
  open: 'stopped for a while after repeated failures',
  'half-open': 'one is tried',
};

const MAX_CAUSES = 4;

/** Name, texts and codes alone: errors of libraries carry requests, headers and bodies as well. */
function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: withoutCredentials(String(error)) };
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    type: error.name,
    message: withoutCredentials(error.message),
    stack: withoutCredentials(error.stack ?? ''),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(error.cause !== undefined && depth < MAX_CAUSES ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

/** Takes out what looks like credentials: authorization headers, and a user and password in an address. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/\b(basic|bearer)\s+[A-Za-z0-9+/_=.~-]{6,}/gi, '$1 (removed)')
    .replace(/\/\/[^\s/@"']+@/g, '//(removed)@');
}
