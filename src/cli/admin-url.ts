// The address of the admin port of the gateway that runs with these settings.

import type { Config } from '../config-schema.ts';

/** A server that listens on all addresses is reachable on the loopback address. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Of the path there, such as `/ready`. */
export function adminUrl({ adminHost, adminPort }: Config['listen'], path: string): string {
  const host = LOOPBACK[adminHost] ?? adminHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${adminPort}${path}`;
}
