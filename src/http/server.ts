// One HTTP server: its timeouts and limits, the errors of requests that Node cannot read, and a graceful
// shutdown that cuts off no response.

import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config-schema.ts';
import { ConfigError } from '../errors.ts';
import { unreadableRequest } from '../interface/errors.ts';
import { errorResponse } from './error-handler.ts';
import { COMMON_HEADERS, PRIVATE_HEADERS } from './headers.ts';
import { nextRequestId } from './state.ts';

/**
 * An `import` of `node:http` reads all of its exports and so loads Node's own `fetch`: 6 MB that a gateway
 * never uses.
 */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

type ServerLimits =
  | 'headerBytes'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'stallTimeoutMs'
  | 'sockets'
  | 'drainMs';

export interface ServerOptions extends Pick<Config['limits'], ServerLimits> {
  host: string;
  port: number;
  /** The environment variables that set host and port, for error messages. */
  setting?: { host: string; port: string };
}

export const MAIN_SERVER = { setting: { host: 'CALENDAR_HOST', port: 'CALENDAR_PORT' } };
export const ADMIN_SERVER = { setting: { host: 'CALENDAR_ADMIN_HOST', port: 'CALENDAR_ADMIN_PORT' } };

export interface HttpServer {
  /** The open port; differs from the configured one only if that is 0. */
  port: number;
  /** Graceful shutdown. */
  close(): Promise<void>;
}

const MAX_CHECK_INTERVAL_MS = 1000;
/** Node's default. */
const MIN_BACKLOG = 511;
/**
 * Shutdown begins after this many event-loop turns without a new connection or request, at the latest after
 * `MAX_ACCEPT_MS`.
 */
const IDLE_TURNS = 10;
const MAX_ACCEPT_MS = 500;

/** Starts listening. Throws `ConfigError` if the port cannot be opened. */
export async function openServer(listener: RequestListener, options: ServerOptions): Promise<HttpServer> {
  const { requestTimeoutMs: requestTimeout, keepAliveTimeoutMs: keepAliveTimeout } = options;
  const headersTimeout = Math.min(options.headersTimeoutMs, requestTimeout);
  const server = createServer({
    maxHeaderSize: options.headerBytes,
    // Node's own 400 has no body. Both listeners reject a request without a Host.
    requireHostHeader: false,
    // Skips the body stream of a request without a body; readers of a body check `readableEnded` first.
    optimizeEmptyRequests: true,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    // Node checks both timeouts only at this interval; its default is 30 s.
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, Math.ceil(headersTimeout / 4)),
  });
  server.maxConnections = options.sockets;
  const connections = trackConnections(server, listener);
  answerUnreadable(server, connections.responses);
  closeStalled(server, connections.responses, options.stallTimeoutMs, keepAliveTimeout + requestTimeout);
  // A connection beyond the backlog retries only after a second. Linux caps the backlog at `somaxconn`.
  server.listen({ port: options.port, host: options.host, backlog: Math.max(MIN_BACKLOG, options.sockets) });
  try {
    await once(server, 'listening');
  } catch (error) {
    connections.closeWhenDone();
    throw cannotListen(error, options);
  }
  let closing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    // Closing the listening socket resets connections that the process has not accepted yet.
    await connections.acceptPending();
    const closed = once(server, 'close');
    connections.closeWhenDone();
    const timeout = setTimeout(() => server.closeAllConnections(), options.drainMs);
    await closed;
    clearTimeout(timeout);
  }

  return {
    port: (server.address() as AddressInfo).port,
    close() {
      closing ??= drain();
      return closing;
    },
  };
}

const FIRST_UNPRIVILEGED_PORT = 1024;

/** Names the reason and the setting to change. */
function cannotListen(error: unknown, { host, port, setting = MAIN_SERVER.setting }: ServerOptions): ConfigError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const location = `port ${port} on ${host}`;
  const changeHost = `Set ${setting.host} to an address of this machine: 127.0.0.1 for this machine alone, 0.0.0.0 for all.`;
  const known: Record<string, [string, string]> = {
    EADDRINUSE: ['another process listens there', `Stop that process, or choose another port (${setting.port}).`],
    EACCES: [
      port < FIRST_UNPRIVILEGED_PORT
        ? `this user may not open ports below ${FIRST_UNPRIVILEGED_PORT}`
        : 'this user may not open it',
      `Choose another port (${setting.port}) and put a proxy in front, or give the process CAP_NET_BIND_SERVICE.`,
    ],
    EADDRNOTAVAIL: [`${host} is not an address of this machine`, changeHost],
    EAFNOSUPPORT: [`this machine has no addresses of the family of ${host}`, changeHost],
    ENOTFOUND: [`there is no host of the name ${host}`, changeHost],
    EAI_AGAIN: [`the host name ${host} cannot be looked up`, changeHost],
    EMFILE: ['too many files are open', 'Raise the limit of open files (ulimit -n).'],
    ENFILE: ['too many files are open on this machine', 'Raise the limit of open files.'],
  };
  const [reason, remedy] = known[code] ?? [message, `Choose another host (${setting.host}) or port (${setting.port}).`];
  return new ConfigError(location, known[code] ? `${reason} (${code})` : reason, remedy);
}

/** The newest response of each connection; earlier ones on the same connection are sent before it. */
type NewestResponses = ReadonlyMap<Socket, ServerResponse | undefined>;

/**
 * Passes requests to the listener and knows which connections still have a response to send. `server.close()`
 * alone would cut off responses that have ended but not left the socket, and would keep idle keep-alive
 * connections open.
 *
 * Pipelined requests take turns: Node alone would pass hundreds on at once, which block the event loop
 * together, and hold all their responses in memory until the client has received the first.
 */
function trackConnections(
  server: Server,
  listener: RequestListener,
): { responses: NewestResponses; acceptPending(): Promise<void>; closeWhenDone(): void } {
  const connections = new Map<Socket, ServerResponse | undefined>();
  let arrivals = 0;
  let isClosing = false;
  server.on('connection', (socket: Socket) => {
    arrivals += 1;
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  const onRequest: RequestListener = (req, res) => {
    const { socket } = req;
    // Node gives a response its socket when the earlier ones have been sent.
    const previous = res.socket ? undefined : connections.get(socket);
    arrivals += 1;
    connections.set(socket, res);
    if (isClosing) closeAfter(socket, res);
    if (!previous) listener(req, res);
    else
      previous.once('close', () => setImmediate(() => !socket.destroyed && !res.writableEnded && listener(req, res)));
  };
  server.on('request', onRequest);
  // Without this listener Node itself sends a 417 without a body.
  server.on('checkExpectation', onRequest);
  function closeAfter(socket: Socket, res: ServerResponse | undefined): void {
    if (!res || res.writableFinished) return void socket.destroySoon();
    if (!res.headersSent) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (connections.get(socket) === res) socket.destroySoon();
    });
  }

  return {
    responses: connections,
    /**
     * Waits until the process has accepted and read what had arrived; Node accepts one connection per
     * event-loop turn.
     */
    async acceptPending() {
      const deadlineMs = performance.now() + MAX_ACCEPT_MS;
      for (let idle = 0; idle < IDLE_TURNS && performance.now() < deadlineMs; idle += 1) {
        const before = arrivals;
        await nextTurn();
        if (arrivals !== before) idle = 0;
      }
    },
    closeWhenDone() {
      isClosing = true;
      // `close` would otherwise also destroy connections that it considers idle.
      server.closeIdleConnections = () => {};
      server.close();
      for (const [socket, res] of connections) closeAfter(socket, res);
    },
  };
}

/** Node's codes that have a status of their own. */
const UNREADABLE_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Sends the API's error for a request that Node cannot read, or not in time, after all earlier responses, and
 * closes the connection.
 */
function answerUnreadable(server: Server, connections: NewestResponses): void {
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
    const res = connections.get(socket);
    const isOfBody = res !== undefined && !res.req.complete;
    if (isOfBody && res.writableFinished) socket.destroySoon();
    else if (isOfBody && res.headersSent) res.once('close', () => socket.destroySoon());
    // Queued behind an earlier response.
    else if (isOfBody && !res.socket) res.writeHead(status, headers).end(json);
    else if (isOfBody || !res || res.writableFinished) send();
    else res.once('close', send);
  });
}

/**
 * Closes connections that stall during a response, and those without a new request for `idleTimeoutMs` after
 * one. Node alone would keep a connection on which a client sends only blank lines: each of them restarts the
 * keep-alive timeout, and no other timeout runs before a request line.
 *
 * `server.timeout` would start a timer for every request; nearly all requests end before the first check, so
 * this sets a socket timeout only for the rest. Node clears it when the next request begins.
 */
function closeStalled(
  server: Server,
  connections: NewestResponses,
  stallTimeoutMs: number,
  idleTimeoutMs: number,
): void {
  /** When a check first found the response finished. */
  const finishedMs = new WeakMap<ServerResponse, number>();
  const check = () => {
    const nowMs = performance.now();
    for (const [socket, res] of connections) {
      if (!res) continue;
      if (!res.writableFinished) {
        if (socket.timeout !== stallTimeoutMs) socket.setTimeout(stallTimeoutMs);
        // Blank lines that the client sends meanwhile would restart the timeout.
        if (socket.writableLength > 0 && !socket.isPaused()) {
          socket.pause();
          res.once('close', () => socket.resume());
        }
        continue;
      }
      const sinceMs = finishedMs.get(res);
      if (sinceMs === undefined) finishedMs.set(res, nowMs);
      else if (nowMs - sinceMs > idleTimeoutMs) socket.destroy();
    }
  };
  const timer = setInterval(check, Math.min(MAX_CHECK_INTERVAL_MS, Math.ceil(stallTimeoutMs / 4))).unref();
  server.once('close', () => clearInterval(timer));
}
