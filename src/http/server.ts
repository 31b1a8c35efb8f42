// One HTTP server: its timeouts and limits, the errors of requests that Node cannot read, and a graceful
// shutdown that cuts off no response.

import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config-schema.ts';
import { ConfigError } from '../errors.ts';
import { unreadableRequest } from '../interface/errors.ts';
import { networkOf } from './client-address.ts';
import { errorResponse } from './error-handler.ts';
import { COMMON_HEADERS, PRIVATE_HEADERS } from './headers.ts';
import { SharedPlaces } from './shared-places.ts';
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
  | 'sockets'
  | 'drainMs';

export interface ServerOptions extends Pick<Config['limits'], ServerLimits> {
  host: string;
  port: number;
  /** The environment variables that set host and port, for error messages. */
  setting?: { host: string; port: string };
  /** True for a proxy in front, through which all clients come: it may hold all connections. */
  isProxy?: (address: string) => boolean;
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
/** A connection without a byte in either direction is closed after this many times `requestTimeoutMs`: 120 s. */
const STALL_FACTOR = 4;
/**
 * Pipelined requests of one connection that wait for their turn. Programs that pipeline at all send about ten;
 * browsers send none.
 */
const MAX_QUEUED = 16;
/**
 * Pieces in which a body may arrive. Each takes 300 bytes of memory and some microseconds, however small it is: a body
 * of 1 MB in chunks of one byte would take 300 MB.
 */
const MAX_PIECES = 4000;
/** Pieces after which the connections of the network wait for the next turn of the event loop. */
const PIECES_PER_TURN = 1000;
/** When all connections are taken, this part of them is closed at once: looking for idle ones takes a while. */
const EVICTED_PART = 1 / 100;
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
  server.timeout = STALL_FACTOR * requestTimeout;
  const connections = trackConnections(server, listener, options);
  answerUnreadable(server, connections.newestResponse);
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

interface Connection {
  network: string;
  /** Earlier responses are sent before it. */
  newest: ServerResponse | undefined;
  /** Pipelined requests that wait for their turn. */
  queued: number;
}

const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.writableFinished;

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
  { sockets, isProxy = () => false }: ServerOptions,
): {
  newestResponse(socket: Socket): ServerResponse | undefined;
  acceptPending(): Promise<void>;
  closeWhenDone(): void;
} {
  const connections = new Map<Socket, Connection>();
  const places = new SharedPlaces(sockets);
  let arrivals = 0;
  let isClosing = false;
  server.on('connection', (socket: Socket) => {
    arrivals += 1;
    const { remoteAddress = '' } = socket;
    const network = networkOf(remoteAddress);
    if (places.isFull) evictIdle(Math.ceil(sockets * EVICTED_PART));
    if (isProxy(remoteAddress) && !places.isFull) places.take(network);
    else if (!places.tryTake(network)) return void socket.destroy();
    connections.set(socket, { network, newest: undefined, queued: 0 });
    socket.once('close', () => forget(socket));
  });

  function forget(socket: Socket): void {
    const connection = connections.get(socket);
    if (connections.delete(socket)) places.release(connection!.network);
  }

  /** Closes idle connections of the network that holds the most, the oldest first. */
  function evictIdle(count: number): void {
    const idle = [...connections].filter(([, connection]) => isIdle(connection));
    const held = ([, { network }]: (typeof idle)[number]) => places.held(network);
    const most = Math.max(...idle.map(held));
    for (const [socket] of idle.filter((each) => held(each) === most).slice(0, count)) {
      socket.destroy();
      forget(socket);
    }
  }

  /** The connections of a network wait for the next turn of the event loop: those of others are read before. */
  function yieldTurn(network: string): void {
    const isReading = ([socket, connection]: [Socket, Connection]) =>
      connection.network === network && !socket.isPaused();
    const reading = [...connections].filter(isReading);
    for (const [socket] of reading) socket.pause();
    setImmediate(() => {
      for (const [socket] of reading) socket.resume();
    });
  }

  /** Counts the pieces of a body as they arrive, also while nobody reads it, and rejects one in too many. */
  function limitPieces(req: IncomingMessage, network: string): void {
    const { socket, push } = req;
    let pieces = 0;
    req.push = (piece) => {
      pieces += 1;
      if (pieces % PIECES_PER_TURN === 0) yieldTurn(network);
      if (pieces <= MAX_PIECES) return push.call(req, piece);
      if (pieces === MAX_PIECES + 1) server.emit('clientError', { code: TOO_MANY_PIECES }, socket);
      return false;
    };
  }

  const onRequest: RequestListener = (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    if (!connection) return;
    // Node gives a response its socket when the earlier ones have been sent.
    const previous = res.socket ? undefined : connection.newest;
    arrivals += 1;
    connection.newest = res;
    if (isClosing) closeAfter(socket, res);
    if (!req.readableEnded) limitPieces(req, connection.network);
    if (!previous) return listener(req, res);
    connection.queued += 1;
    if (connection.queued >= MAX_QUEUED) {
      readNoFurther(socket, res);
      yieldTurn(connection.network);
    }
    previous.once('close', () => {
      connection.queued -= 1;
      setImmediate(() => !socket.destroyed && !res.writableEnded && listener(req, res));
    });
  };
  server.on('request', onRequest);
  // Without this listener Node itself sends a 417 without a body.
  server.on('checkExpectation', onRequest);
  function closeAfter(socket: Socket, res: ServerResponse | undefined): void {
    if (!res || res.writableFinished) return void socket.destroySoon();
    if (!res.headersSent) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (connections.get(socket)?.newest === res) socket.destroySoon();
    });
  }

  return {
    newestResponse: (socket) => connections.get(socket)?.newest,
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
      for (const [socket, { newest }] of connections) closeAfter(socket, newest);
    },
  };
}

/**
 * Makes `res` the last response of its connection; its client repeats later requests on a new one (RFC 9112, 9.3.2).
 * Node itself parses all of the 64 KB that it reads at a time, which hold 2,400 small requests, and pausing the socket
 * does not stop it. A parser stops when this function of it returns 2, as for a change of the protocol.
 */
function readNoFurther(socket: Socket & { parser?: { onIncoming: () => number } }, res: ServerResponse): void {
  res.shouldKeepAlive = false;
  if (!socket.parser) return;
  socket.parser.onIncoming = () => {
    socket.pause();
    return 2;
  };
}

const TOO_MANY_PIECES = 'TOO_MANY_PIECES';
/** Node's codes, and our own, that have a status of their own. */
const UNREADABLE_STATUS: Readonly<Record<string, number>> = {
  [TOO_MANY_PIECES]: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Sends the API's error for a request that Node cannot read, or not in time, after all earlier responses, and
 * closes the connection.
 */
function answerUnreadable(server: Server, newestResponse: (socket: Socket) => ServerResponse | undefined): void {
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
    const res = newestResponse(socket);
    const isOfBody = res !== undefined && !res.req.complete;
    if (isOfBody && res.writableFinished) socket.destroySoon();
    else if (isOfBody && res.headersSent) res.once('close', () => socket.destroySoon());
    // Queued behind an earlier response.
    else if (isOfBody && !res.socket) res.writeHead(status, headers).end(json);
    else if (isOfBody || !res || res.writableFinished) send();
    else res.once('close', send);
  });
}
