// The connections of one HTTP server: what each network may hold of them, and a shutdown that cuts off no response.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
 * Passes requests to the listener, and knows the responses that are not sent yet. `server.close()` alone would cut off
 * responses that have ended but not left the socket.
 */
export class Connections {
  readonly #server: Server;
  readonly #listener: RequestListener;
  readonly #isProxy: (address: string) => boolean;
  readonly #slots: SharedSlots;
  /** The responses that are not sent yet, each with its network. */
  readonly #unsent = new Map<ServerResponse, string>();
  #isDraining = false;

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

  /** Closes the server, and all connections once no response is left to send. Each response until then says `close`. */
  drain(): void {
    this.#isDraining = true;
    this.#server.closeIdleConnections = () => {};
    this.#server.close();
    for (const res of this.#unsent.keys()) if (!res.headersSent) res.shouldKeepAlive = false;
    this.#closeIfSent();
  }

  #accept(socket: Socket): void {
    const { remoteAddress = '' } = socket;
    const network = network48Of(remoteAddress);
    if (!this.#slots.tryTake(network, this.#isProxy(remoteAddress))) return void socket.destroy();
    socket.once('close', () => this.#slots.release(network));
    // Connections that wait for a further request make room for the next client.
    if (this.#slots.isFull) this.#server.closeIdleConnections();
  }

  #onRequest(req: IncomingMessage, res: ServerResponse): void {
    // `#accept` has refused this connection: Node may still parse what it had read.
    if (req.socket.destroyed) return;
    // No answer: the response before it closes the connection, and the client repeats this request on another.
    if (this.#isDraining && !res.socket) return;
    const { remoteAddress = '' } = req.socket;
    const network = network48Of(remoteAddress);
    const isTooMuch = this.#unsentBytesOf(network) > MAX_UNSENT_BYTES;
    if (isTooMuch && !this.#isProxy(remoteAddress)) return void req.socket.destroy();
    this.#unsent.set(res, network);
    res.once('close', () => {
      this.#unsent.delete(res);
      this.#closeIfSent();
    });
    if (this.#isDraining) res.shouldKeepAlive = false;
    // Node gives a response its socket when the earlier ones have been sent.
    if (!res.socket) {
      readNoFurther(req.socket, res);
      // Node 22 forgets the response if the connection breaks before.
      req.socket.once('close', () => res.closed || res.emit('close'));
    }
    this.#listener(req, res);
  }

  #unsentBytesOf(network: string): number {
    let bytes = 0;
    for (const [res, of] of this.#unsent) if (of === network) bytes += res.writableLength;
    return bytes;
  }

  #closeIfSent(): void {
    if (this.#isDraining && this.#unsent.size === 0) this.#server.closeAllConnections();
  }
}

/**
 * Makes a request that did not wait for the response before it the last of its connection: Node closes the connection
 * after its response, and the client repeats later ones on a new connection (RFC 9112, 9.3.2). Browsers and proxies
 * send no such requests. Node itself would parse all of the 64 KB that it reads at a time, which hold 2,400 small ones,
 * and pausing the socket does not stop it. Its parser stops when `onIncoming` returns 2, as for a change of the
 * protocol: "pipelined requests" in test/http/server.test.ts fails if a Node does not.
 */
function readNoFurther(socket: Socket & { parser?: { onIncoming: () => number } }, res: ServerResponse): void {
  res.shouldKeepAlive = false;
  if (!socket.parser) return;
  socket.parser.onIncoming = () => {
    socket.pause();
    return 2;
  };
}
