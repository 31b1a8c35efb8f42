// Connections: kept alive, with pipelined requests, and on a graceful shutdown.

import { once } from 'node:events';
import { Agent, type RequestListener, type ServerResponse, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { openServer, type ServerOptions } from '../../src/http/server.ts';
import { until } from '../until.ts';

type HttpServer = Awaited<ReturnType<typeof openServer>>;

const LARGE = 30_000_000;
const HOST = 'Host: x\r\n\r\n';
const LIMITS = {
  ...{ host: '127.0.0.1', port: 0, variables: 'CALENDAR', headerBytes: 16_384, sockets: 1000 },
  ...{ headersTimeoutMs: 10_000, requestTimeoutMs: 30_000, keepAliveTimeoutMs: 65_000 },
  drainMs: 60_000,
};

describe('a client that does not read', () => {
  it('is disconnected', async () => {
    const responses: ServerResponse[] = [];
    const listener: RequestListener = (_request, response) => responses.push(response.end(Buffer.alloc(LARGE)));
    const port = await openServer(listener, { ...LIMITS, requestTimeoutMs: 50 });
    const socket = connect(port.port, '127.0.0.1').on('error', () => {});
    socket.write(`GET / HTTP/1.1\r\n${HOST}`);
    await until(() => responses[0]?.destroyed === true, 'the connection is closed');
    socket.destroy();
    await port.close();
  });

  it('gets no more responses while 64 MB wait for its network', async () => {
    let asked = 0;
    const listener: RequestListener = (_request, response) => {
      asked += 1;
      response.end(Buffer.alloc(LARGE));
    };
    const port = await openServer(listener, LIMITS);
    const sockets: Socket[] = [];
    const ask = (localAddress: string): Socket => {
      const socket = connect({ port: port.port, host: '127.0.0.1', localAddress })
        .on('error', () => {})
        .pause();
      socket.write(`GET / HTTP/1.1\r\n${HOST}`);
      sockets.push(socket);
      return socket;
    };
    for (let n = 1; n <= 3; n += 1) {
      ask('127.0.0.2');
      await until(() => asked === n, 'the server has the request');
    }
    // Closed without a response: a paused socket would not see its end.
    await once(ask('127.0.0.2').resume(), 'close');
    expect(asked).to.equal(3);
    ask('127.0.0.3');
    await until(() => asked === 4, 'the server has the request of another network');
    for (const socket of sockets) socket.destroy();
    await port.close();
  });
});

describe('connections', () => {
  let port: HttpServer;
  let clients: Socket[];
  let held: ServerResponse[];
  async function open(options: Partial<ServerOptions>): Promise<void> {
    port = await openServer((_request, response) => held.push(response), { ...LIMITS, ...options });
  }
  beforeEach(() => {
    [clients, held] = [[], []];
  });
  afterEach(async () => {
    for (const client of clients) client.destroy();
    await port.close();
  });

  /** Connects from an address, and sends a request, which stays unanswered. */
  async function busy(localAddress: string): Promise<Socket> {
    const client = await idle(localAddress);
    const before = held.length;
    client.write(`GET / HTTP/1.1\r\n${HOST}`);
    await until(() => held.length > before || client.destroyed, 'the request has arrived');
    return client;
  }

  async function idle(localAddress: string): Promise<Socket> {
    const client = connect({ port: port.port, host: '127.0.0.1', localAddress })
      .on('error', () => {})
      .resume();
    clients.push(client);
    await once(client, 'connect');
    // The server accepts connections in their order.
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    return client;
  }

  const areOpen = () => clients.map(({ closed }) => !closed);
  const addresses = (count: number) => Array.from({ length: count }, (_, n) => `127.0.0.${n + 2}`);

  it('of one address are a tenth of all at most', async () => {
    await open({ sockets: 50 });
    for (let n = 0; n < 8; n += 1) await idle('127.0.0.2');
    await until(() => clients.filter(({ closed }) => closed).length === 3, 'three are closed');
    expect(areOpen()).to.deep.equal([true, true, true, true, true, false, false, false]);
    await busy('127.0.0.3');
    expect(held).to.have.length(1);
    clients[0]!.destroy();
    await until(async () => !(await busy('127.0.0.2')).destroyed, 'one that has left makes room');
  });

  it('of a proxy may be all', async () => {
    await open({ sockets: 10, isProxy: (address) => address === '127.0.0.2' });
    for (let n = 0; n < 10; n += 1) await busy('127.0.0.2');
    await idle('127.0.0.2');
    await until(() => clients[10]!.closed, 'one more is closed');
    expect(held).to.have.length(10);
  });

  it('that wait for a further request make room when all are taken', async () => {
    await open({ sockets: 20 });
    const waiting = [await busy('127.0.0.2'), await busy('127.0.0.3')];
    for (const response of held) response.end();
    for (const client of waiting) await until(() => client.bytesRead > 0, 'its response has arrived');
    for (const address of addresses(20).slice(2)) await busy(address);
    await until(() => waiting.every(({ closed }) => closed), 'both are closed');
    await busy('127.0.0.100');
    await busy('127.0.0.101');
    expect(areOpen()).to.deep.equal([false, false, ...Array(20).fill(true)]);
    await idle('127.0.0.102');
    await until(() => clients.at(-1)!.closed, 'none waits for a request: one more is closed');
  });
});

describe('pipelined requests', () => {
  let port: HttpServer;
  let held: ServerResponse[];
  beforeEach(async () => {
    held = [];
    port = await openServer((_request, response) => held.push(response), LIMITS);
  });
  afterEach(() => port.close());

  async function pipeline(requests: number): Promise<Socket> {
    const socket = connect(port.port, '127.0.0.1').on('error', () => {});
    socket.write(`GET / HTTP/1.1\r\n${HOST}`.repeat(requests));
    await until(() => held.length > 0, 'the first has arrived');
    return socket;
  }

  it('are answered in their order; the second is the last of its connection', async () => {
    const socket = await pipeline(5000);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    expect(held).to.have.length(2);
    held[1]!.end('response 2');
    held[0]!.end('response 1');
    await once(socket, 'close');
    expect(received.match(/response \d+/g)).to.deep.equal(['response 1', 'response 2']);
    expect(received.match(/Connection: [\w-]+/g)).to.deep.equal(['Connection: keep-alive', 'Connection: close']);
  });
});

describe('graceful shutdown', () => {
  let port: HttpServer;
  let pending: (() => void)[];
  const listener: RequestListener = ({ url }, response) => {
    if (url === '/large') response.end(Buffer.alloc(LARGE));
    else if (url === '/held') pending.push(() => response.end('held'));
    else response.end('quick');
  };
  beforeEach(async () => {
    pending = [];
    port = await openServer(listener, LIMITS);
  });

  /** Sends a request; returns the body and the Connection header. */
  async function get(path: string, agent: Agent): Promise<string> {
    const request = send({ host: '127.0.0.1', port: port.port, path, agent }).end();
    const [response] = await once(request, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return `${text}, ${response.headers.connection}`;
  }

  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port.port, '127.0.0.1');
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
      socket.once('connect', () => socket.destroy());
    });

  it('does not wait for idle keep-alive connections', async () => {
    const [idle, agent] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    for (const each of [idle, agent]) expect(await get('/quick', each)).to.equal('quick, keep-alive');
    const late = get('/held', agent);
    const other = get('/held', agent);
    await until(() => pending.length >= 2, 'both requests have arrived');
    const closed = port.close();
    await until(isRefused, 'the port is closed');
    for (const reply of pending) reply();
    expect((await Promise.all([late, other])).map((text) => text.split(',')[0])).to.deep.equal(['held', 'held']);
    // Must end before drainMs and keepAliveTimeoutMs.
    await closed;
  });

  it('sends the rest of a response to a slow client', async () => {
    const socket = connect(port.port, '127.0.0.1').pause();
    socket.write(`GET /large HTTP/1.1\r\n${HOST}`);
    await once(socket, 'readable');
    const closed = port.close();
    await until(isRefused, 'the port is closed');
    let size = 0;
    for await (const chunk of socket) size += (chunk as Buffer).length;
    expect(size).to.be.greaterThan(LARGE);
    await closed;
  });

  it('answers a request that arrives meanwhile, as the last of its connection', async () => {
    const [agent, other] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    expect(await get('/quick', agent)).to.equal('quick, keep-alive');
    const held = get('/held', other);
    await until(() => pending.length === 1, 'the first has arrived');
    const closed = port.close();
    await until(isRefused, 'the port is closed');
    expect(await get('/quick', agent)).to.equal('quick, close');
    pending[0]!();
    expect(await held).to.match(/^held/);
    await closed;
  });

  it('carries out no request behind a response that closes the connection: its client repeats it', async () => {
    const socket = connect(port.port, '127.0.0.1');
    const received = text(socket);
    socket.write(`GET /held HTTP/1.1\r\n${HOST}`);
    await until(() => pending.length === 1, 'the first has arrived');
    const closed = port.close();
    await until(isRefused, 'the port is closed');
    socket.write(`GET /held HTTP/1.1\r\n${HOST}`);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    pending[0]!();
    expect(await received).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*held$/);
    expect(pending).to.have.length(1);
    await closed;
  });

  it('answers requests that arrive at the same time', async () => {
    const sockets = Array.from({ length: 20 }, () => connect(port.port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(`GET /quick HTTP/1.1\r\n${HOST}`);
    const texts = sockets.map((socket) => text(socket).catch(() => 'broken off'));
    await port.close();
    for (const each of await Promise.all(texts)) expect(each).to.match(/^HTTP\/1\.1 200 [\s\S]*quick$/);
  });
});
