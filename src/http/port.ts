// One listening port: its deadlines and bounds, and closing it without cutting anybody off.

import { executionAsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { ConfigError } from '../errors.ts';

/**
 * An `import` of this module would read all that it exports, and with `WebSocket` load Node's own `fetch`, which nothing here needs:
 * six megabytes of every gateway's memory.
 */
const { createServer } = process.getBuiltinModule('node:http');

/**
 * What Node makes for each `process.nextTick`, of which a request takes several. V8 forgets the shape of objects when a collection finds
 * none alive, and from then on makes each new one the slow way, for as long as the process lives: an eighth of the time of a short
 * answer. One that is kept keeps their shape.
 */
const kept: object[] = [];
process.nextTick(() => kept.push(executionAsyncResource()));

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
  /** What an operator sets the host and the port with; those of the main port where absent. */
  setBy?: { host: string; port: string };
}

export const MAIN_PORT = { setBy: { host: 'CALENDAR_HOST', port: 'CALENDAR_PORT' } };
export const ADMIN_PORT = { setBy: { host: 'CALENDAR_ADMIN_HOST', port: 'CALENDAR_ADMIN_PORT' } };

export interface Port {
  /** The port that was opened: another one than asked for only when that was 0. */
  port: number;
  close(): Promise<void>;
}

const MAX_CHECK_MS = 1000;
/** Node's own. */
const LEAST_BACKLOG = 511;
/** Turns of the event loop without anything new after which nothing is on its way, and the longest wait for that. */
const QUIET_TURNS = 10;
const ARRIVING_MS = 500;

/** Listens. Throws `ConfigError` when the port cannot be had. */
export async function openPort(listener: RequestListener, options: PortOptions): Promise<Port> {
  const { requestTimeoutMs: requestTimeout } = options;
  const headersTimeout = Math.min(options.headersTimeoutMs, requestTimeout);
  const settings = {
    maxHeaderSize: options.headerBytes,
    // No stream is wound up and down for a body that nobody announced: whoever reads one asks `readableEnded` first.
    optimizeEmptyRequests: true,
    ...{ headersTimeout, requestTimeout, keepAliveTimeout: options.keepAliveTimeoutMs },
    // Both deadlines are looked at so often, and in no other way: by itself every 30 s.
    connectionsCheckingInterval: Math.min(MAX_CHECK_MS, Math.ceil(headersTimeout / 4)),
  };
  const server = createServer(settings);
  server.maxConnections = options.sockets;
  const connections = watchConnections(server, listener, options.stallTimeoutMs);
  // Of many that arrive at one moment, those beyond this number try again after a second. (Linux has a bound too, `somaxconn`.)
  server.listen({ port: options.port, host: options.host, backlog: Math.max(LEAST_BACKLOG, options.sockets) });
  try {
    await once(server, 'listening');
  } catch (error) {
    connections.end();
    throw unavailable(error, options);
  }
  let closing: Promise<void> | undefined;

  async function drain(): Promise<void> {
    // What has arrived is let in and read first: the end of listening would reset a connection that nobody has looked at.
    await connections.letIn();
    const closed = once(server, 'close');
    connections.end();
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

const LOWEST_PLAIN_PORT = 1024;

/** Why the port cannot be had, and what to do about it. */
function unavailable(error: unknown, { host, port, setBy = MAIN_PORT.setBy }: PortOptions): ConfigError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const place = `port ${port} on ${host}`;
  const hosts = `Set ${setBy.host} to an address of this machine: 127.0.0.1 for this machine alone, 0.0.0.0 for all.`;
  const known: Record<string, [string, string]> = {
    EADDRINUSE: ['another process listens there', `Stop that process, or choose another port (${setBy.port}).`],
    EACCES: [
      port < LOWEST_PLAIN_PORT
        ? `this user may not open ports below ${LOWEST_PLAIN_PORT}`
        : 'this user may not open it',
      `Choose another port (${setBy.port}) and put a proxy in front, or give the process CAP_NET_BIND_SERVICE.`,
    ],
    EADDRNOTAVAIL: [`${host} is not an address of this machine`, hosts],
    EAFNOSUPPORT: [`this machine has no addresses of the family of ${host}`, hosts],
    ENOTFOUND: [`there is no host of the name ${host}`, hosts],
    EAI_AGAIN: [`the host name ${host} cannot be looked up`, hosts],
    EMFILE: ['too many files are open', 'Raise the limit of open files (ulimit -n).'],
    ENFILE: ['too many files are open on this machine', 'Raise the limit of open files.'],
  };
  const [reason, remedy] = known[code] ?? [message, `Choose another host (${setBy.host}) or port (${setBy.port}).`];
  return new ConfigError(place, known[code] ? `${reason} (${code})` : reason, remedy);
}

/**
 * Hands requests to the listener, and knows which connections have an answer to wait for. `server.close()` by itself would cut off
 * answers that have ended here and not yet been taken, and leave open each connection that its caller keeps for the next request.
 */
function watchConnections(
  server: Server,
  listener: RequestListener,
  stallTimeoutMs: number,
): { letIn(): Promise<void>; end(): void } {
  /** The newest answer of each: those before it on the same connection leave first. */
  const open = new Map<Socket, ServerResponse | undefined>();
  let arrived = 0;
  let ending = false;
  server.on('connection', (socket: Socket) => {
    arrived += 1;
    open.set(socket, undefined);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    arrived += 1;
    open.set(socket, response);
    if (ending) endAfter(socket, response);
    listener(request, response);
  });
  watchStalls(server, open, stallTimeoutMs);

  function endAfter(socket: Socket, answer: ServerResponse | undefined): void {
    if (!answer || answer.writableFinished) return void socket.destroySoon();
    if (!answer.headersSent) answer.shouldKeepAlive = false;
    // When the last byte has left, or nobody is there to take it.
    answer.once('close', () => {
      if (open.get(socket) === answer) socket.destroySoon();
    });
  }

  return {
    /** One connection is let in at a turn. */
    async letIn() {
      const untilMs = performance.now() + ARRIVING_MS;
      for (let quiet = 0; quiet < QUIET_TURNS && performance.now() < untilMs; quiet += 1) {
        const before = arrived;
        await turn();
        if (arrived !== before) quiet = 0;
      }
    },
    end() {
      ending = true;
      // Before `close` below, which would choose for itself what is idle.
      server.closeIdleConnections = () => {};
      server.close();
      for (const [socket, answer] of open) endAfter(socket, answer);
    },
  };
}

/**
 * Closes connections on which nothing moves while an answer is under way. Node's own `server.timeout` does this with a timer that is
 * wound up for every request; nearly all are answered before anybody looks, so it is set here for those alone that are found waiting.
 * Node takes it off again with the next request.
 */
function watchStalls(
  server: Server,
  open: ReadonlyMap<Socket, ServerResponse | undefined>,
  stallTimeoutMs: number,
): void {
  const look = setInterval(
    () => {
      for (const [socket, answer] of open)
        if (answer && !answer.writableFinished && socket.timeout !== stallTimeoutMs) socket.setTimeout(stallTimeoutMs);
    },
    Math.min(MAX_CHECK_MS, Math.ceil(stallTimeoutMs / 4)),
  ).unref();
  server.once('close', () => clearInterval(look));
}
