// TCP proxy that injects network faults: delay, silence, reset, truncation.

import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Faults on the bytes from the target; requests always pass. */
export type Fault =
  | { kind: 'none' }
  /** Connections are refused. */
  | { kind: 'down' }
  /** Delays every byte by `delayMs`. */
  | { kind: 'late'; delayMs: number }
  /** Accepts connections and discards requests. */
  | { kind: 'silent' }
  /** `bytes` bytes every `everyMs`. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** Resets the connection after `afterBytes` bytes; 0: when the request arrives. */
  | { kind: 'reset'; afterBytes: number }
  /** Ends the connection properly after `afterBytes` bytes. */
  | { kind: 'cut'; afterBytes: number };

export interface FaultProxy {
  url: URL;
  /** Number of accepted connections so far. */
  readonly connections: number;
  /** Number of open connections. */
  readonly open: number;
  /** Applies to new connections; open ones are dropped. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy in front of `target`, without a fault. */
export async function startFaultProxy(target: URL): Promise<FaultProxy> {
  const open = new Set<Socket>();
  let fault: Fault = { kind: 'none' };
  let connections = 0;
  let clients = 0;
  const server = createServer((client) => {
    connections += 1;
    clients += 1;
    client.once('close', () => {
      clients -= 1;
    });
    const behind = connect(Number(target.port), target.hostname);
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        behind.destroy();
      });
    }
    client.once('data', () => {
      if (fault.kind === 'reset' && fault.afterBytes === 0) client.resetAndDestroy();
    });
    if (fault.kind === 'silent') client.resume();
    else client.pipe(behind);
    applyFault(fault, behind, client);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const drop = () => {
    for (const socket of open) socket.destroy();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    url: new URL(`http://127.0.0.1:${port}`),
    get connections() {
      return connections;
    },
    get open() {
      return server.listening ? clients : 0;
    },
    async set(next) {
      fault = next;
      drop();
      if (next.kind === 'down') {
        if (server.listening) await new Promise((done) => server.close(done));
      } else if (!server.listening) await listen(port);
    },
    async close() {
      drop();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

export interface PendingRequest {
  /** True once the whole response has arrived. */
  isAnswered(): boolean;
  abort(): void;
}

/**
 * Sends a request without a timeout, to show that another client did not have to wait for it. Has its own
 * connection, which ends with the request: after an abort, `fetch` of Node 26 opens a new one for later requests.
 */
export function startRequest(url: URL): PendingRequest {
  let isAnswered = false;
  const request = get(url, { agent: false }, (response) => {
    response.resume().once('end', () => {
      isAnswered = true;
    });
  });
  request.on('error', () => {}); // aborted
  return { isAnswered: () => isAnswered, abort: () => void request.destroy() };
}

function applyFault(fault: Fault, from: Socket, to: Socket): void {
  let passed = 0;
  from.on('data', async (chunk: Buffer) => {
    if (to.destroyed) return;
    if (fault.kind === 'late') {
      setTimeout(() => to.writable && to.write(chunk), fault.delayMs);
    } else if (fault.kind === 'drip') {
      for (let at = 0; at < chunk.length && !to.destroyed; at += fault.bytes) {
        to.write(chunk.subarray(at, at + fault.bytes));
        await new Promise((done) => setTimeout(done, fault.everyMs));
      }
    } else if (fault.kind === 'reset' || fault.kind === 'cut') {
      const part = chunk.subarray(0, Math.max(0, fault.afterBytes - passed));
      passed += part.length;
      const end = () => (fault.kind === 'reset' ? to.resetAndDestroy() : to.end());
      if (part.length === chunk.length) to.write(part);
      // A reset overtakes bytes that are still in the socket: wait for them to arrive.
      else to.write(part, () => setTimeout(end, 20));
    } else to.write(chunk);
  });
}
