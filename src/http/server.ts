// One HTTP server: its timeouts and limits, its port, and the errors of requests that Node cannot read.

import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Config } from '../config-schema.ts';
import { ConfigError } from '../errors.ts';
import { unreadableRequest } from '../interface/errors.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { errorResponse } from './error-handler.ts';
import { COMMON_HEADERS, PRIVATE_HEADERS } from './headers.ts';
import { MAX_HEADERS } from './read-request.ts';
import { nextRequestId } from './state.ts';

/** An `import` of `node:http` reads all of its exports, and so loads Node's own `fetch`: 6 MB for nothing. */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

type ServerLimits = 'headerBytes' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'drainMs';

export interface ServerOptions extends ConnectionOptions, Pick<Config['limits'], ServerLimits> {
  host: string;
  port: number;
  /** The environment variables that set host and port begin with it: `CALENDAR` or `CALENDAR_ADMIN`. */
  variables: string;
}

const MAX_CHECK_INTERVAL_MS = 1000;
/** A connection without a byte in either direction is closed after this many times `requestTimeoutMs`: 120 s. */
const STALL_FACTOR = 4;

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
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, Math.ceil(headersTimeout / 4)),
  });
  server.maxHeadersCount = MAX_HEADERS;
  server.timeout = STALL_FACTOR * requestTimeout;
  const connections = new Connections(server, listener, options);
  answerUnreadable(server, connections);
  // A connection beyond the backlog retries only after a second. Linux caps the backlog at `somaxconn`.
  server.listen({ port: options.port, host: options.host, backlog: options.sockets });
  try {
    await once(server, 'listening');
  } catch (error) {
    connections.closeWhenDone();
    throw cannotListen(error as Error, options);
  }
  return {
    /** The open port; differs from the configured one only if that is 0. */
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      // Closing the listening socket resets connections that the process has not accepted yet.
      await connections.acceptPending();
      const closed = once(server, 'close');
      connections.closeWhenDone();
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

const UNREADABLE_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Sends the API's error for a request that Node cannot read, or not in time, and closes the connection:
 *
 *     the error is in                 the newest response   the error is sent
 *     a request of its own            none, or all is sent  at once
 *     a request of its own            is not sent yet       after it
 *     the body of the newest request  has not begun         as this response
 *     the body of the newest request  has begun             not: the connection ends after this response
 */
function answerUnreadable(server: Server, connections: Connections): void {
  /** Node reports an error again when more bytes arrive. */
  const failed = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    if (failed.has(socket)) return;
    failed.add(socket);
    const status = UNREADABLE_STATUS[error.code ?? ''] ?? 400;
    const json = JSON.stringify(errorResponse(unreadableRequest(status)).body);
    const headers = {
      ...COMMON_HEADERS,
      ...PRIVATE_HEADERS,
      'X-Request-Id': nextRequestId(undefined),
      'Content-Length': String(Buffer.byteLength(json)),
      Connection: 'close',
    };
    function send(): void {
      if (!socket.writable) return;
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${json}`);
      socket.destroySoon();
    }
    const res = connections.newestResponse(socket);
    // The rows of the table. `complete`: the newest request was read to its end, so the error is in one of its own.
    if (!res || (res.req.complete && res.writableFinished)) send();
    else if (res.req.complete) res.once('close', send);
    else if (!res.headersSent) res.writeHead(status, headers).end(json);
    else connections.closeAfter(socket, res);
  });
}
