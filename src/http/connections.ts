// The open connections of one server: what each network may hold of them, the order of pipelined requests, and which
// ones still have a response to send when the server shuts down.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SharedPlaces, wideNetworkOf } from './client-address.ts';

/**
 * Pipelined requests of one connection that wait for their turn. Programs that pipeline at all send about ten;
 * browsers send none.
 */
const MAX_QUEUED = 16;
/** One that waits with more header lines is the last: 400 lines take 50 kB. Browsers send about twenty, with 2 kB. */
const MAX_QUEUED_HEADERS = 40;
const MAX_QUEUED_CHARACTERS = 4000;
/**
 * Pieces in which a body may arrive. Each takes 300 bytes of memory and some microseconds, however small it is: a body
 * of 1 MB in chunks of one byte would take 300 MB.
 */
const MAX_PIECES = 2500;
/**
 * Work of a network in one turn of the event loop, in pieces of a byte: it takes 2 ms. Its connections wait for a later
 * turn after that, so that those of others are read before.
 */
const WORK_PER_TURN = 1000;
/** A rejected request, and the bytes that are read in the time of a piece of one byte. */
const WORK_OF_REQUEST = 3;
const BYTES_OF_PIECE = 2048;
/** Waiting connections that are read again in each turn: pausing and resuming one takes 10 µs. */
const RESUMED_PER_TURN = 50;
/** When all connections are taken, this part of them is closed at once: looking for idle ones takes a while. */
const EVICTED_PART = 1 / 100;
/** Shutdown begins after this many turns without a new connection or request, at the latest after `MAX_ACCEPT_MS`. */
const IDLE_TURNS = 10;
const MAX_ACCEPT_MS = 500;

/** Of the responses that a network has not received yet: who asks for large lists and reads none gets no more. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

/** The code of a `clientError` for a body in more than `MAX_PIECES` pieces. */
export const TOO_MANY_PIECES = 'TOO_MANY_PIECES';

interface Connection {
  network: string;
  /** Earlier responses are sent before it. */
  newest: ServerResponse | undefined;
  /** Pipelined requests that wait for their turn. */
  queued: number;
}

const hasLongHeaders = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length > 2 * MAX_QUEUED_HEADERS || rawHeaders.join('').length > MAX_QUEUED_CHARACTERS;

const isIdle = ({ newest }: Connection): boolean => newest === undefined || newest.writableFinished;

export interface ConnectionsOptions {
  /** The most connections, of which one network may hold a tenth. */
  sockets: number;
  /** True for a proxy in front, through which all clients come: it may hold all connections. */
  isProxy?: ((address: string) => boolean) | undefined;
}

/**
 * Passes requests to the listener and knows which connections still have a response to send. `server.close()`
 * alone would cut off responses that have ended but not left the socket, and would keep idle keep-alive
 * connections open.
 *
 * Pipelined requests take turns: Node alone would pass hundreds on at once, which block the event loop
 * together, and hold all their responses in memory until the client has received the first.
 */
export class Connections {
  readonly #server: Server;
  readonly #listener: RequestListener;
  readonly #options: ConnectionsOptions;
  readonly #places: SharedPlaces;
  readonly #open = new Map<Socket, Connection>();
  /** The work of each network in this turn. */
  readonly #work = new Map<string, number>();
  /** The bytes that wait to be sent to each network. */
  readonly #unsent = new Map<string, number>();
  /** Connections that wait to be read, in the order of their last turn. */
  readonly #waiting: Socket[] = [];
  /** Connections and requests so far. */
  #arrivals = 0;
  #isClosing = false;

  constructor(server: Server, listener: RequestListener, options: ConnectionsOptions) {
    this.#server = server;
    this.#listener = listener;
    this.#options = options;
    this.#places = new SharedPlaces(options.sockets);
    server.on('connection', (socket: Socket) => this.#accept(socket));
    const onRequest: RequestListener = (req, res) => this.#onRequest(req, res);
    server.on('request', onRequest);
    // An unknown `Expect` has no effect (RFC 9110, 10.1.1). Without this listener Node would refuse it, uncounted.
    server.on('checkExpectation', onRequest);
  }

  newestResponse(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.newest;
  }

  /** Waits until the process has accepted and read what had arrived; Node accepts one connection per turn. */
  async acceptPending(): Promise<void> {
    const deadlineMs = performance.now() + MAX_ACCEPT_MS;
    for (let idle = 0; idle < IDLE_TURNS && performance.now() < deadlineMs; idle += 1) {
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
    for (const [socket, { newest }] of this.#open) this.#closeAfter(socket, newest);
  }

  #accept(socket: Socket): void {
    const { sockets, isProxy } = this.#options;
    this.#arrivals += 1;
    const { remoteAddress = '' } = socket;
    const network = wideNetworkOf(remoteAddress);
    if (this.#places.isFull) this.#evictIdle(Math.ceil(sockets * EVICTED_PART));
    if (!this.#places.tryTake(network, isProxy?.(remoteAddress))) return void socket.destroy();
    this.#open.set(socket, { network, newest: undefined, queued: 0 });
    socket.once('close', () => this.#forget(socket));
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (this.#open.delete(socket)) this.#places.release(connection!.network);
  }

  /** Closes idle connections of the network that holds the most, the oldest first. */
  #evictIdle(count: number): void {
    const idle = [...this.#open].filter(([, connection]) => isIdle(connection));
    const held = ([, { network }]: (typeof idle)[number]) => this.#places.held(network);
    const most = Math.max(...idle.map(held));
    for (const [socket] of idle.filter((each) => held(each) === most).slice(0, count)) {
      socket.destroy();
      this.#forget(socket);
    }
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const connection = this.#open.get(socket);
    if (!connection) return;
    // Node gives a response its socket when the earlier ones have been sent.
    const previous = res.socket ? undefined : connection.newest;
    this.#arrivals += 1;
    connection.newest = res;
    if (this.#isClosing) this.#closeAfter(socket, res);
    if (!this.#mayReceive(socket, connection, res)) return void socket.destroy();
    this.#countWork(connection.network, WORK_OF_REQUEST);
    if (!req.readableEnded) this.#limitPieces(req, connection.network);
    if (!previous) return void this.#listener(req, res);
    connection.queued += 1;
    if (connection.queued >= MAX_QUEUED || hasLongHeaders(req)) {
      readNoFurther(socket, res);
      this.#countWork(connection.network, WORK_PER_TURN);
    }
    previous.once('close', () => {
      connection.queued -= 1;
      setImmediate(() => !socket.destroyed && !res.writableEnded && this.#listener(req, res));
    });
  }

  /** False if too much waits to be sent to the network; otherwise counts this response too, once it is written. */
  #mayReceive({ remoteAddress = '' }: Socket, { network }: Connection, res: ServerResponse): boolean {
    const unsent = () => this.#unsent.get(network) ?? 0;
    if (unsent() > MAX_UNSENT_BYTES && !this.#options.isProxy?.(remoteAddress)) return false;
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

  /** Counts the pieces of a body as they arrive, also while nobody reads it, and rejects one in too many. */
  #limitPieces(req: IncomingMessage & { _dump?: () => void }, network: string): void {
    const { socket, push } = req;
    let pieces = 0;
    req.push = (piece) => {
      pieces += 1;
      this.#countWork(network, 1 + (piece?.length ?? 0) / BYTES_OF_PIECE);
      if (pieces <= MAX_PIECES) return push.call(req, piece);
      if (pieces === MAX_PIECES + 1) this.#server.emit('clientError', { code: TOO_MANY_PIECES }, socket);
      return false;
    };
    // Node drops what arrives after the response without a call of `push`: a 404 would make all further pieces free.
    req._dump = () => req.removeAllListeners('data').resume();
  }

  #countWork(network: string, work: number): void {
    if (this.#work.size === 0) setImmediate(() => this.#work.clear());
    const before = this.#work.get(network) ?? 0;
    this.#work.set(network, before + work);
    if (before + work < WORK_PER_TURN || before >= WORK_PER_TURN) return;
    if (this.#waiting.length === 0) setImmediate(() => this.#resumeWaiting());
    for (const [socket, connection] of this.#open) {
      if (connection.network !== network || socket.isPaused()) continue;
      socket.pause();
      this.#waiting.push(socket);
    }
  }

  #resumeWaiting(): void {
    for (const socket of this.#waiting.splice(0, RESUMED_PER_TURN)) socket.resume();
    if (this.#waiting.length > 0) setImmediate(() => this.#resumeWaiting());
  }

  #closeAfter(socket: Socket, res: ServerResponse | undefined): void {
    if (!res || res.writableFinished) return void socket.destroySoon();
    if (!res.headersSent) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (this.#open.get(socket)?.newest === res) socket.destroySoon();
    });
  }
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
