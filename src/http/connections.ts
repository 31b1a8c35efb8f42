// The connections of one HTTP server: what each network may hold of them, and a shutdown that cuts off no response.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { network48Of, SharedSlots } from './client-limits.ts';

export interface ConnectionOptions {
  /** The most connections, of which one network may hold a tenth. */
  sockets: number;
  /** True for a proxy in front, through which all clients come: it may hold all connections. */
  isProxy?: ((address: string) => boolean) | undefined;
}

/** The most that a network may have left to receive: who asks for large lists and reads none gets no more. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
/**
 * Shutdown begins after ten turns of the event loop without a new connection or request, and after a thousand new ones
 * at the latest. Turns instead of a time: on a busy machine twenty connections may take half a second.
 */
const IDLE_TURNS = 10;
const MAX_ARRIVALS = 1000;

/**
 * Passes requests to the listener, and knows which connections still have a response to send. `server.close()` alone
 * would cut off responses that have ended but not left the socket, and would keep idle keep-alive connections open.
 */
export class Connections {
  readonly #server: Server;
  readonly #listener: RequestListener;
  readonly #isProxy: (address: string) => boolean;
  readonly #slots: SharedSlots;
  /** The newest response of each connection, after its first request; Node sends earlier ones before it. */
  readonly #newestResponses = new Map<Socket, ServerResponse | undefined>();
  /** The bytes that wait to be sent to each network. */
  readonly #unsent = new Map<string, number>();
  #arrivals = 0;
  #isClosing = false;

  constructor(server: Server, listener: RequestListener, { sockets, isProxy = () => false }: ConnectionOptions) {
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
    return this.#newestResponses.get(socket);
  }

  /** Waits until the process has accepted and read what had arrived; Node accepts one connection per turn. */
  async acceptPending(): Promise<void> {
    const last = this.#arrivals + MAX_ARRIVALS;
    let idle = 0;
    while (idle < IDLE_TURNS && this.#arrivals < last) {
      const before = this.#arrivals;
      await nextTurn();
      idle = this.#arrivals === before ? idle + 1 : 0;
    }
  }

  /** Closes the server, and each connection once its last response has left. */
  closeWhenDone(): void {
    this.#isClosing = true;
    // `close` would otherwise also destroy connections that it considers idle.
    this.#server.closeIdleConnections = () => {};
    this.#server.close();
    for (const [socket, newest] of this.#newestResponses) this.closeAfter(socket, newest);
  }

  #accept(socket: Socket): void {
    this.#arrivals += 1;
    const { remoteAddress = '' } = socket;
    const network = network48Of(remoteAddress);
    if (!this.#slots.tryTake(network, this.#isProxy(remoteAddress))) return void socket.destroy();
    this.#newestResponses.set(socket, undefined);
    socket.once('close', () => {
      this.#newestResponses.delete(socket);
      this.#slots.release(network);
    });
    // Connections that wait for a further request make room for the next client.
    if (this.#slots.isFull) this.#server.closeIdleConnections();
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    // `#accept` has refused this connection: Node may still parse what it had read.
    if (!this.#newestResponses.has(socket)) return;
    this.#arrivals += 1;
    const { remoteAddress = '' } = socket;
    const network = network48Of(remoteAddress);
    if (this.#unsentOf(network) > MAX_UNSENT_BYTES && !this.#isProxy(remoteAddress)) return void socket.destroy();
    this.#countUnsent(network, res);
    const previous = this.#newestResponses.get(socket);
    // No answer: `closeAfter` closes the socket after the earlier response. The client repeats this request on another.
    if (this.#isClosing && previous?.shouldKeepAlive === false) return;
    this.#newestResponses.set(socket, res);
    // Node gives a response its socket when the earlier ones have been sent.
    if (!res.socket) readNoFurther(socket, res);
    if (this.#isClosing) this.closeAfter(socket, res);
    this.#listener(req, res);
  }

  #unsentOf(network: string): number {
    return this.#unsent.get(network) ?? 0;
  }

  /** Counts what the socket still holds when Node has handed it the whole response (`prefinish`), until it is sent. */
  #countUnsent(network: string, res: ServerResponse): void {
    res.once('prefinish', () => {
      const bytes = res.writableLength;
      if (bytes === 0) return;
      this.#unsent.set(network, this.#unsentOf(network) + bytes);
      res.once('close', () => {
        const left = this.#unsentOf(network) - bytes;
        if (left > 0) this.#unsent.set(network, left);
        else this.#unsent.delete(network);
      });
    });
  }

  /** Closes the connection after this response, unless a later request of this connection has begun. */
  closeAfter(socket: Socket, res: ServerResponse | undefined): void {
    if (!res || res.writableFinished) return void socket.destroySoon();
    if (!res.headersSent) res.shouldKeepAlive = false;
    res.once('close', () => {
      if (this.#newestResponses.get(socket) === res) socket.destroySoon();
    });
  }
}

/**
 * Makes a request that did not wait for the response before it the last of its connection: Node closes the connection
 * after its response, and the client repeats later ones on a new connection (RFC 9112, 9.3.2). Browsers and proxies
 * send none. Node itself would parse all of the 64 KB that it reads at a time, which hold 2,400 small requests, and
 * pausing the socket does not stop it. Its parser stops when `onIncoming` returns 2, as for a change of the protocol:
 * "pipelined requests" in test/http/server.test.ts fails if a Node does not.
 */
function readNoFurther(socket: Socket & { parser?: { onIncoming: () => number } }, res: ServerResponse): void {
  res.shouldKeepAlive = false;
  if (!socket.parser) return;
  socket.parser.onIncoming = () => {
    socket.pause();
    return 2;
  };
}
