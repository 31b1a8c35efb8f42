// One HTTP server: its timeouts and limits, what each network may hold of its connections, the errors of requests that
// Node cannot read, and a graceful shutdown that cuts off no response.

import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config-schema.ts';
import { ConfigError } from '../errors.ts';
import { unreadableRequest } from '../interface/errors.ts';
import { network48Of } from './client-address.ts';
import { SharedSlots } from './client-limits.ts';
import { errorResponse } from './error-handler.ts';
import { COMMON_HEADERS, PRIVATE_HEADERS } from './headers.ts';
import { MAX_HEADERS } from './read-request.ts';
import { nextRequestId } from './state.ts';

/**
 * An `import` of `node:http` reads all of its exports and so loads Node's own `fetch`: 6 MB that a gateway
 * never uses.
 */
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

type ServerLimits = 'headerBytes' | 'headersTimeoutMs' | 'requestTimeoutMs' | 'keepAliveTimeoutMs' | 'drainMs';

export interface ServerOptions extends Pick<Config['limits'], ServerLimits> {
  host: string;
  port: number;
  /** The most connections, of which one network may hold a tenth. */
  sockets: number;
  /** True for a proxy in front, through which all clients come: it may hold all connections. */
  isProxy?: ((address: string) => boolean) | undefined;
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
    throw cannotListen(error, options);
  }
  return {
    /** The open port; differs from the configured one only if that is 0. */
    port: (server.address() as AddressInfo).port,
    /** Graceful shutdown. */
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

/** Names the reason, which has Node's words, and the settings to change. */
function cannotListen(error: unknown, { host, port, variables }: ServerOptions): ConfigError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? `another process listens there (${code})` : message;
  const remedy = `Choose another port (${variables}_PORT), or another address of this machine (${variables}_HOST).`;
  return new ConfigError(`port ${port} on ${host}`, reason, remedy);
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
    // The error is in a request of its own, at once if nothing else is to be sent before, or after the last response.
    if (!res || (res.req.complete && res.writableFinished)) send();
    else if (res.req.complete) res.once('close', send);
    // The error is in the body of the newest request, which has no response yet: this is it.
    else if (!res.headersSent) res.writeHead(status, headers).end(json);
    // That request has been answered before its body ended, or its answer is under way: the connection ends after it.
    else if (res.writableFinished) socket.destroySoon();
    else res.once('close', () => socket.destroySoon());
  });
}

/** Of the responses that a network has not received yet: who asks for large lists and reads none gets no more. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/**
 * Shutdown begins after this many turns without a new connection or request, at the latest after this many of them.
 * Without a time: on a busy machine twenty connections may take half a second.
 */
const IDLE_TURNS = 10;
const MAX_ARRIVALS = 1000;

/**
 * Passes requests to the listener and knows which connections still have a response to send. `server.close()`
 * alone would cut off responses that have ended but not left the socket, and would keep idle keep-alive
 * connections open.
 */
class Connections {
  readonly #server: Server;
  readonly #listener: RequestListener;
  readonly #isProxy: (address: string) => boolean;
  readonly #slots: SharedSlots;
  /** The newest response of each connection; Node sends earlier ones before it. */
  readonly #open = new Map<Socket, ServerResponse | undefined>();
  /** The bytes that wait to be sent to each network. */
  readonly #unsent = new Map<string, number>();
  /** Connections and requests so far. */
  #arrivals = 0;
  #isClosing = false;

  constructor(server: Server, listener: RequestListener, { sockets, isProxy = () => false }: ServerOptions) {
    this.#server = server;
    this.#listener = listener;
    this.#isProxy = isProxy;
    this.#slots = new SharedSlots(sockets);
    server.on('connection', (socket: Socket) => this.#accept(socket));
    const onRequest: RequestListener = (req, res) => this.#onRequest(req, res);
    server.on('request', onRequest);
    // An unknown `Expect` has no effect (RFC 9110, 10.1.1). Without this listener Node would refuse it, uncounted.
    server.on('checkExpectation', onRequest);
  }

  newestResponse(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket);
  }

  /** Waits until the process has accepted and read what had arrived; Node accepts one connection per turn. */
  async acceptPending(): Promise<void> {
    const last = this.#arrivals + MAX_ARRIVALS;
    for (let idle = 0; idle < IDLE_TURNS && this.#arrivals < last; idle += 1) {
      const before = this.#arrivals;
      await nextTurn();
      if (this.#arrivals !== before) idle = 0;
    }
  }

  /** Closes the server, and each connection once its last response has left. */
  closeWhenDone(): void {
    this.#isClosing = true;
    // `close` would otherwise also destroy connections that it considers idle.
    this.#server.closeIdleConnections = () => {};
    this.#server.close();
    for (const [socket, newest] of this.#open) this.#closeAfter(socket, newest);
  }

  #accept(socket: Socket): void {
    this.#arrivals += 1;
    const { remoteAddress = '' } = socket;
    const network = network48Of(remoteAddress);
    if (!this.#slots.tryTake(network, this.#isProxy(remoteAddress))) return void socket.destroy();
    this.#open.set(socket, undefined);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#slots.release(network);
    });
    // Those that wait for a further request make room for the next client.
    if (this.#slots.isFull) this.#server.closeIdleConnections();
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    if (!this.#open.has(socket)) return;
    this.#arrivals += 1;
    if (!this.#mayReceive(socket, res)) return void socket.destroy();
    const previous = this.#open.get(socket);
    // The response before it says that it is the last: the client repeats this request (RFC 9112, 9.6).
    if (this.#isClosing && previous?.shouldKeepAlive === false) return;
    this.#open.set(socket, res);
    // Node gives a response its socket when the earlier ones have been sent.
    if (!res.socket) readNoFurther(socket, res);
    if (this.#isClosing) this.#closeAfter(socket, res);
    this.#listener(req, res);
  }

  /** False if too much waits to be sent to the network; otherwise counts this response too, once it is written. */
  #mayReceive({ remoteAddress = '' }: Socket, res: ServerResponse): boolean {
    const network = network48Of(remoteAddress);
    const unsent = () => this.#unsent.get(network) ?? 0;
    if (unsent() > MAX_UNSENT_BYTES && !this.#isProxy(remoteAddress)) return false;
    res.once('prefinish', () => {
      const bytes = res.writableLength;
      if (bytes === 0) return;
      this.#unsent.set(network, unsent() + bytes);
      res.once('close', () => {
        if (unsent() > bytes) this.#unsent.set(network, unsent() - bytes);
        else this.#unsent.delete(network);
      });
    });
    return true;
  }

  #closeAfter(socket: Socket, res: ServerResponse | undefined): void {
    if (!res || res.writableFinished) return void socket.destroySoon();
    if (!res.headersSent) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (this.#open.get(socket) === res) socket.destroySoon();
    });
  }
}

/**
 * Makes a request that did not wait for the response before it the last of its connection; its client repeats later
 * ones on a new connection (RFC 9112, 9.3.2). Browsers and proxies send none. Node itself would parse all of the 64 KB
 * that it reads at a time, which hold 2,400 small requests, and pausing the socket does not stop it. A parser stops
 * when this function of it returns 2, as for a change of the protocol.
 */
function readNoFurther(socket: Socket & { parser?: { onIncoming: () => number } }, res: ServerResponse): void {
  res.shouldKeepAlive = false;
  if (!socket.parser) return;
  socket.parser.onIncoming = () => {
    socket.pause();
    return 2;
  };
}
