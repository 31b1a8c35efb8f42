// Starts a gateway for a test: in memory (default), on sockets of this process, or as a process of its own.

import { type MemoryOptions, startInMemory, type TestGateway } from './gateway/in-memory.ts';
import { type GatewayProcess, type ProcessOptions, startProcess } from './gateway/process.ts';
import { type SocketGateway, type SocketOptions, startOnSockets } from './gateway/socket.ts';

export type * from './gateway/http-request.ts';
export { sendRequest } from './gateway/http-request.ts';
export type { Json, MemoryOptions, RequestOptions, TestGateway, TestResponse } from './gateway/in-memory.ts';
export { BASE, MOUNT, ORIGINAL_MOUNT, PUBLIC_URL } from './gateway/mount.ts';
export { type GatewayProcess, type ProcessOptions, ROOT } from './gateway/process.ts';
export type { Settings, SocketGateway } from './gateway/socket.ts';

/** Waits for the initial sync, except in a process (`untilReady`) and with `waitsForSync: false`. */
export function startGateway(options: MemoryOptions): Promise<TestGateway>;
export function startGateway(options: SocketOptions): Promise<SocketGateway>;
export function startGateway(options: ProcessOptions): Promise<GatewayProcess>;
export function startGateway(
  options: MemoryOptions | SocketOptions | ProcessOptions,
): Promise<TestGateway | SocketGateway | GatewayProcess> {
  if (options.transport === 'socket') return startOnSockets(options);
  if (options.transport === 'process') return startProcess(options);
  return startInMemory(options);
}
