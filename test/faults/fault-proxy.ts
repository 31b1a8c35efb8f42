// A TCP proxy that does to a connection what networks and tired servers do; for tests of what lives behind it.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the bytes that come back from the target; requests always go through. */
export type Fault =
  | { kind: 'none' }
  /** Nothing listens: connections are refused. */
  | { kind: 'down' }
  /** Every byte comes `delayMs` later. */
  | { kind: 'late'; delayMs: number }
  /** Connections are taken and requests swallowed. */
  | { kind: 'silent' }
  /** `bytes` bytes every `everyMs`. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  /** A TCP reset in place of the byte after `afterBytes`; 0: when the request comes. */
  | { kind: 'reset'; afterBytes: number }
  /** A proper end of the connection after `afterBytes`. */
  | { kind: 'cut'; afterBytes: number };

export interface FaultProxy {
  url: URL;
  /** Connections taken so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Holds for connections made from now on; those that are open are dropped. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

/** A proxy before the server at `target`, without a fault to begin with. */
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
    damage(fault, behind, client);
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

export interface Patient {
  /** To its end. */
  isAnswered(): boolean;
  giveUp(): void;
}

/** Asks it and waits as long as that takes: to see that somebody else did not. */
export function askPatiently(url: URL): Patient {
  const control = new AbortController();
  let isAnswered = false;
  fetch(url, { signal: control.signal })
    .then((response) => response.text())
    .then(
      () => {
        isAnswered = true;
      },
      () => {}, // given up
    );
  return { isAnswered: () => isAnswered, giveUp: () => control.abort() };
}

function damage(fault: Fault, from: Socket, to: Socket): void {
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
      // A reset overtakes what has not left yet: give the part time to arrive.
      else to.write(part, () => setTimeout(end, 20));
    } else to.write(chunk);
  });
}
