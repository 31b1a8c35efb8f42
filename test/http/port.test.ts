// How a port ends: everybody who has asked is answered in full, and nobody who might ask again is waited for.

import { once } from 'node:events';
import { Agent, type RequestListener, request as send } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { openPort, type Port } from '../../src/http/port.ts';
import { until } from '../until.ts';

const LARGE = 30_000_000;
const HOST = 'Host: x\r\n\r\n';
const LIMITS = {
  ...{ host: '127.0.0.1', port: 0, headerBytes: 16_384, sockets: 100 },
  ...{ headersTimeoutMs: 10_000, requestTimeoutMs: 30_000, keepAliveTimeoutMs: 65_000, stallTimeoutMs: 120_000 },
  drainMs: 60_000,
};

describe('a port that closes', () => {
  let port: Port;
  let held: (() => void)[];
  const listener: RequestListener = ({ url }, response) => {
    if (url === '/large') response.end(Buffer.alloc(LARGE));
    else if (url === '/held') held.push(() => response.end('held'));
    else response.end('quick');
  };
  beforeEach(async () => {
    held = [];
    port = await openPort(listener, LIMITS);
  });

  /** One request; tells the text, and what is said of the connection. */
  async function ask(path: string, agent: Agent): Promise<string> {
    const request = send({ host: '127.0.0.1', port: port.port, path, agent }).end();
    const [response] = await once(request, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return `${text}, ${response.headers.connection}`;
  }

  it('waits for no connection that was kept for another request', async () => {
    const agent = new Agent({ keepAlive: true });
    expect(await ask('/quick', agent)).to.equal('quick, keep-alive');
    const late = ask('/held', agent);
    const other = ask('/held', agent);
    await until(() => held.length >= 2, 'both have arrived');
    const closed = port.close();
    await new Promise((done) => setTimeout(done, 50));
    for (const answer of held) answer();
    expect((await Promise.all([late, other])).map((text) => text.split(',')[0])).to.deep.equal(['held', 'held']);
    // Sooner than drainMs and keepAliveTimeoutMs, or this test ends by its own time.
    await closed;
  });

  it('lets an answer leave in full that was given and not yet taken', async () => {
    const socket = connect(port.port, '127.0.0.1').pause();
    socket.write(`GET /large HTTP/1.1\r\n${HOST}`);
    await once(socket, 'readable');
    const closed = port.close();
    await new Promise((done) => setTimeout(done, 50));
    let size = 0;
    for await (const chunk of socket) size += (chunk as Buffer).length;
    expect(size).to.be.greaterThan(LARGE);
    await closed;
  });

  it('answers who asked in the same moment', async () => {
    const answers = Array.from({ length: 20 }, async () => {
      const socket = connect(port.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`GET /quick HTTP/1.1\r\n${HOST}`);
      return socket;
    });
    const sockets = await Promise.all(answers);
    const closed = port.close();
    for (const socket of sockets) {
      let text = '';
      for await (const chunk of socket) text += chunk;
      expect(text).to.match(/^HTTP\/1\.1 200 [\s\S]*quick$/);
    }
    await closed;
  });
});
