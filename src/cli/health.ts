// The `health` command: asks the gateway of this configuration whether it is ready, for the health check of a container.

import { loadConfig } from '../config.ts';

const TIMEOUT_MS = 3000;
/** A server that listens on all addresses is reachable on the loopback address. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Resolves with 0 if `/ready` on the admin port answers 200, otherwise with 1. Throws `ConfigError`. */
export async function health(configFile: string | undefined): Promise<number> {
  const { adminHost, adminPort } = loadConfig({ file: configFile, env: process.env }).listen;
  const host = LOOPBACK[adminHost] ?? adminHost;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${adminPort}/ready`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    process.stdout.write(await response.text());
    return response.ok ? 0 : 1;
  } catch (error) {
    const { message, cause } = error as Error;
    process.stdout.write(`${url} does not answer: ${cause instanceof Error ? cause.message : message}\n`);
    return 1;
  }
}
