// One HTTP server: its timeouts and limits, and its port.

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config-schema.ts';
import { ConfigError } from '../errors.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { MAX_HEADERS } from './read-request.ts';

/** An `import` of `node:http` reads all of its exports, and so loads Node's own `fetch`: 6 MB for nothing. */
const { createServer } = process.getBuiltinModule('node:http');

type ServerLimits = 'headerBytes' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'drainMs';

export interface ServerOptions extends ConnectionOptions, Pick<Config['limits'], ServerLimits> {
  host: string;
  port: number;
  /** The environment variables that set host and port begin with it: `CALENDAR` or `CALENDAR_ADMIN`. */
  variables: string;
}

/** A connection without a byte in either direction is closed after this many times `requestTimeoutMs`: 120 s. */
const STALL_FACTOR = 4;

/**
 * Turns of the event loop between the decision to close and the end of listening. Node accepts one connection in a turn
 * and reads its request in a later one; the connections that have arrived by then and wait would be reset.
 */
const ARRIVAL_TURNS = 200;

/** Starts listening. Throws `ConfigError` if the port cannot be opened. */
export async function openServer(listener: RequestListener, options: ServerOptions) {
  const { requestTimeoutMs: requestTimeout, keepAliveTimeoutMs: keepAliveTimeout } = options;
  const headersTimeout = Math.min(options.headersTimeoutMs, requestTimeout);
  const server = createServer({
    maxHeaderSize: options.headerBytes,
    // Skips the body stream of a request without a body; readers of a body check `readableEnded` first.
    optimizeEmptyRequests: true,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    // Node checks both timeouts only at this interval; its default is 30 s.
    connectionsCheckingInterval: 1000,
  });
  server.maxHeadersCount = MAX_HEADERS;
  server.timeout = STALL_FACTOR * requestTimeout;
  const connections = new Connections(server, listener, options);
  // A connection beyond the backlog retries only after a second. Linux caps the backlog at `somaxconn`.
  server.listen({ port: options.port, host: options.host, backlog: options.sockets });
  try {
    await once(server, 'listening');
  } catch (error) {
    server.close();
    throw cannotListen(error as Error, options);
  }
  return {
    /** The open port; differs from the configured one only if that is 0. */
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      for (let turn = 0; turn < ARRIVAL_TURNS; turn += 1) await nextTurn();
      const closed = once(server, 'close');
      connections.drain();
      const timeout = setTimeout(() => server.closeAllConnections(), options.drainMs);
      await closed;
      clearTimeout(timeout);
    },
  };
}

function cannotListen({ message }: Error, { host, port, variables }: ServerOptions): ConfigError {
  const remedy = `Choose another port (${variables}_PORT), or another address of this machine (${variables}_HOST).`;
  return new ConfigError(`port ${port} on ${host}`, message, remedy);
}
