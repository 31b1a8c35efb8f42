// The log: one of the two readers of what is observed. Lines are JSON, or for people on a terminal.

import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Observation, Observe } from './events.ts';

export interface LogOptions {
  level: string;
  /** A line for each request; failures are always told. */
  requests: boolean;
  pretty?: boolean;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/** How loud each kind of observation is. */
function levelOf(seen: Observation): Level {
  switch (seen.type) {
    case 'request-failed':
      return 'error';
    case 'notice':
      return seen.level;
    case 'upstream-failed':
      return 'warn';
    case 'breaker':
      return seen.state === 'closed' ? 'info' : 'warn';
    case 'sync-state':
      return seen.to === 'away' || seen.to === 'lagging' ? 'warn' : 'info';
    case 'request':
      return seen.status >= 500 ? 'warn' : 'info';
    case 'sync-progress':
      return 'info';
    default:
      return 'debug';
  }
}

/** A log on stderr. What it is handed holds no credentials, and it adds none. */
export function createLog({ level, requests, pretty: forPeople = process.stderr.isTTY }: LogOptions): Observe {
  const stream = forPeople
    ? pretty({ destination: 2, ignore: 'pid,hostname', sync: true })
    : pino.destination({ fd: 2, sync: false });
  const log = pino({ level, base: null }, stream);
  return (seen) => {
    if (seen.type === 'request' && !requests && seen.status < 500) return;
    const { type, ...rest } = seen;
    const shown = 'error' in rest ? { ...rest, error: undefined, err: rest.error } : rest;
    log[levelOf(seen)](shown, type === 'notice' ? seen.message : type);
  };
}
