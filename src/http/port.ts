// One listening port: its deadlines and bounds, and closing it without cutting anybody off.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../errors.ts';

export interface PortOptions {
  host: string;
  port: number;
  headerBytes: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  keepAliveTimeoutMs: number;
  /** Without a byte in either direction while a request is under way. */
  stallTimeoutMs: number;
  /** Connections at once; more are closed as they come. */
  sockets: number;
  /** Longest wait for requests in flight when closing. */
  drainMs: number;
}

export interface Port {
  /** The port that was opened: another one than asked for only when that was 0. */
  port: number;
  close(): Promise<void>;
}

const MAX_CHECK_MS = 1000;

/** Listens. Throws `ConfigError` when the port cannot be had. */
export async function openPort(listener: RequestListener, options: PortOptions): Promise<Port> {
  const { requestTimeoutMs: requestTimeout } = options;
  const headersTimeout = Math.min(options.headersTimeoutMs, requestTimeout);
  const settings = {
    maxHeaderSize: options.headerBytes,
    ...{ headersTimeout, requestTimeout, keepAliveTimeout: options.keepAliveTimeoutMs },
    // Both deadlines are looked at so often, and in no other way: by itself every 30 s.
    connectionsCheckingInterval: Math.min(MAX_CHECK_MS, Math.ceil(headersTimeout / 4)),
  };
  const server = createServer(settings, listener);
  server.timeout = options.stallTimeoutMs;
  server.maxConnections = options.sockets;
  server.listen(options.port, options.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`port ${options.port}`, reason, 'Stop what listens there, or choose another port.');
  }
  let closing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    const late = setTimeout(() => server.closeAllConnections(), options.drainMs);
    await closed;
    clearTimeout(late);
  }

  return {
    port: (server.address() as AddressInfo).port,
    close() {
      closing ??= drain();
      return closing;
    },
  };
}
