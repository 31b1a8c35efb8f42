// The log: a reader of the observations. Lines are JSON, or formatted for people on a terminal.

import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { Observation, ObservationOf, Observe } from './observations.ts';

export interface LogOptions {
  /** The lowest level that is logged: debug, info, warn, error, silent. */
  level: string;
  /** Default: standard error. On a terminal the lines are formatted for people. */
  stream?: { write(text: string): unknown; isTTY?: boolean };
}

type Level = 'debug' | 'info' | 'warn' | 'error';

const LINES: { [T in Observation['type']]: (observation: ObservationOf<T>) => [Level, message: string] } = {
  request: ({ status, method, route }) => [status >= 500 ? 'warn' : 'info', `${status} ${method} ${route}`],
  webhook: ({ result }) => ['debug', `webhook: ${result}`],
  'request-failed': () => ['error', 'request failed'],
  'cms-call': ({ status, method, path }) => ['debug', `the CMS responded ${status} to ${method} ${path}`],
  'cms-failed': ({ method, path, message }) => [
    'warn',
    `no usable response of the CMS to ${method} ${path}: ${message}`,
  ],
  breaker: ({ bulkhead, state }) => [
    state === 'closed' ? 'info' : 'warn',
    `circuit breaker of ${bulkhead} calls to the CMS: ${state}`,
  ],
  queue: () => ['debug', 'calls to the CMS'],
  'sync-state': ({ from, to, why }) => [
    to === 'unreachable' || to === 'stale' ? 'warn' : 'info',
    `replica: ${from} -> ${to}: ${why}`,
  ],
  'sync-progress': ({ collection, done, total }) => ['info', `initial sync of ${collection}: ${done} of ${total}`],
  'sync-decision': ({ collection, decision }) => ['debug', `${collection}: ${decision}`],
  'sync-round': ({ isPoll, changed, removed }) => [
    'debug',
    `${isPoll ? 'polled' : 'scanned'} the CMS: ${changed} changed, ${removed} deleted`,
  ],
  'source-read': ({ source, events, problem }) => [
    problem === undefined ? 'info' : 'warn',
    `source ${source}: ${problem ?? `${events} events`}`,
  ],
  'replica-quarantined': ({ file, reason }) => [
    'warn',
    `renamed the unusable replica file to ${file} and started a new replica: ${reason}`,
  ],
  fatal: () => ['error', 'uncaught error: the process ends'],
  'cluster-connection': ({ isConnected, reason }) =>
    isConnected
      ? ['info', 'Redis: connected']
      : ['warn', `${reason}; this gateway works without it, and polls the CMS itself`],
  'cluster-applied': ({ entries }) => ['debug', `read again what ${entries} entries of peers name`],
  'cluster-lease': ({ isTaken }) => ['debug', `${isTaken ? '' : 'another gateway '}polls in this interval`],
  push: ({ receiver, host, answer, failures }) => [
    // The first failure, and then only what an operator asks for.
    failures === 1 ? 'warn' : 'debug',
    `outgoing webhook to push.${receiver}, ${host}: ${answer}`,
  ],
  message: ({ level, message }) => [level, message],
};

/** Fields that the message already contains: the lines on a terminal omit them. */
const IN_THE_MESSAGE = 'pid,hostname,type,method,route,path,status,from,to,changed,removed,state,collection,decision';

/** Loaded on demand: a server does not need it. */
function createFormatter(): (line: string) => string {
  const { prettyFactory }: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return prettyFactory({ colorize: true, singleLine: true, ignore: IN_THE_MESSAGE });
}

export function createLog({ level, stream = process.stderr }: LogOptions): Observe {
  const format = stream.isTTY ? createFormatter() : undefined;
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are described below; pino would add all properties of an error.
      serializers: { err: (description) => description },
    },
    format ? { write: (line: string) => stream.write(format(line)) } : stream,
  );

  return (observation) => {
    const [level, message] = lineOf(observation);
    // Of a request: status, method and route. No text from elsewhere is in it, and a line is written for each.
    const redacted = observation.type === 'request' ? message : redactCredentials(message);
    if (log.isLevelEnabled(level)) log[level](fieldsOf(observation), redacted);
  };
}

const lineOf = <T extends Observation['type']>(observation: ObservationOf<T>): [Level, message: string] =>
  LINES[observation.type as T](observation);

/** The properties of the line in addition to its message. */
function fieldsOf(observation: Observation): object {
  // The message contains these texts, with credentials removed. pino writes the level.
  const omitted = { message: undefined, why: undefined, level: undefined, error: undefined };
  const fields: Record<string, unknown> = { ...observation, ...omitted };
  if ('error' in observation) fields.err = describeError(observation.error);
  if ('reason' in observation) fields.reason = redactCredentials(observation.reason);
  if ('durationMs' in observation) fields.durationMs = Math.round(observation.durationMs * 10) / 10;
  return fields;
}

const MAX_CAUSES = 4;

/** Only name, texts and codes: errors of libraries carry requests, headers and bodies as well. */
function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: redactCredentials(String(error)) };
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    type: error.name,
    message: redactCredentials(error.message),
    stack: redactCredentials(error.stack ?? ''),
    code: typeof code === 'string' ? code : undefined,
    status: typeof status === 'number' ? status : undefined,
    cause: error.cause !== undefined && depth < MAX_CAUSES ? describeError(error.cause, depth + 1) : undefined,
  };
}

/**
 * Removes what looks like credentials: authorization headers, and user and password in a URL. The gateway puts none
 * into an observation, but a text from elsewhere, such as an error of the CMS, may contain them.
 */
export function redactCredentials(text: string): string {
  return (
    text
      .replace(/\b(basic|bearer)\s+[A-Za-z0-9+/_=.~-]{6,}/gi, '$1 (removed)')
      // Payload's schemes. In `jwt malformed` and `API-Key authentication` nothing is a credential.
      .replace(/\b(jwt\s+)eyJ[\w.-]+/gi, '$1(removed)')
      .replace(/\b(api-key:?\s+)(?=[a-z_-]{0,100}\d)[\w-]{6,}/gi, '$1(removed)')
      .replace(/\/\/[^\s/@"']+@/g, '//(removed)@')
  );
}
