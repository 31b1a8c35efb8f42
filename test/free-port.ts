// TCP ports on loopback: free ones, and whether something listens.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A port for the API and another one for operators. */
export async function freePorts(): Promise<[port: number, adminPort: number]> {
  const port = await freePort();
  let adminPort = port;
  while (adminPort === port) adminPort = await freePort();
  return [port, adminPort];
}

/**
 * Not a port that the system chooses (`listen(0)`): it takes those from the range of outgoing connections, of
 * which one may get the port before the caller listens there.
 */
const RANGE = [10_000, 32_000] as const;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...RANGE);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
