// How the scripts against a real WordPress call it and its gateway: JSON requests, credentials, waiting for a poll.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../../sandbox/site.ts';

export type Json = Record<string, unknown>;

export interface JsonResponse<T = Json> {
  status: number;
  headers: Headers;
  body: T;
}

export interface JsonRequest {
  method?: string;
  /** The body. */
  json?: unknown;
  /** The header. */
  authorization?: string | undefined;
  /** Further headers. */
  headers?: Record<string, string>;
}

const POLL_TIMEOUT_MS = 60_000;

/** Throws if the response is no JSON. */
export async function sendJson<T = Json>(
  url: string,
  { method = 'GET', json, authorization, headers }: JsonRequest = {},
): Promise<JsonResponse<T>> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as T };
}

export const basicAuth = ({ user, applicationPassword }: Omit<Credentials, 'password'>): string =>
  `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`;

/** Waits until the gateway with this admin address has polled the site after this call. */
export async function untilPolled(adminUrl: string): Promise<void> {
  const nowMs = Date.now();
  const lastCaughtUpMs = async () =>
    ((await (await fetch(`${adminUrl}/status`)).json()) as { lastCaughtUpMs?: number }).lastCaughtUpMs ?? 0;
  // Twice: a poll that was already running may have read some collections before.
  for (let after = nowMs, left = 2; left > 0; ) {
    const last = await lastCaughtUpMs();
    if (last > after) [after, left] = [last, left - 1];
    else if (Date.now() - nowMs > POLL_TIMEOUT_MS) throw new Error('the gateway does not poll');
    else await sleep(100);
  }
}
