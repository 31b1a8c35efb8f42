// Finds free TCP ports on loopback.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port for the API and another one for operators: the system may give out a port again that was just closed. */
export async function freePorts(): Promise<[port: number, adminPort: number]> {
  const port = await freePort();
  let adminPort = port;
  while (adminPort === port) adminPort = await freePort();
  return [port, adminPort];
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
