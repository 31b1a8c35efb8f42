// Preloaded into the WebAssembly server, which would listen on all addresses: makes it listen on the loopback
// address only.

import { Server } from 'node:net';

const listen = Server.prototype.listen as (this: Server, ...args: unknown[]) => Server;

Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  if (typeof args[0] === 'number' && typeof args[1] !== 'string') args.splice(1, 0, '127.0.0.1');
  return listen.apply(this, args);
};
