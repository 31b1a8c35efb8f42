// Shows that a head that was put together before is, letter by letter, what `writeHead` would have sent.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { beginReady, headerLines, sendsAsNode } from '../../src/http/head.ts';

const HEADERS = ['Vary', 'Origin', 'ETag', 'W/"é"', 'Vary', 'Accept-Encoding'];
const LAST = 'GET /node/200 HTTP/1.1\r\nConnection: close';
const BODY = Buffer.from('{"id":1}');
const OF_BODY = ['Content-Type', 'application/json', 'Content-Length', String(BODY.length)];

describe('a head that is ready', () => {
  let server: Server;
  before(async () => {
    server = createServer({ keepAliveTimeout: 65_500 }, ({ url = '', method }, response) => {
      const [, by, code] = url.split('/');
      const status = code === '304' ? 304 : 200;
      const headers = status === 200 ? [...HEADERS, ...OF_BODY] : HEADERS;
      if (by === 'ready') beginReady(response, status, headerLines(headers));
      else response.writeHead(status, headers);
      response.end(status === 200 && method === 'GET' ? BODY : undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /**
   * All that comes back, with the dates checked and then made alike. A last request ends the connection, where the answer to one before it
   * has not.
   */
  async function said(...requests: string[]): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1');
    for (const request of [...requests, LAST]) socket.write(`${request}\r\nHost: x\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    for (const [, date] of text.matchAll(/^Date: (.*)\r$/gm)) {
      expect(date).to.match(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
      expect(Math.abs(Date.parse(date!) - Date.now())).to.be.below(30_000);
    }
    return text.replaceAll(/^Date: .*\r$/gm, 'Date: then\r');
  }

  for (const [what, request] of [
    ['200', 'GET /BY/200 HTTP/1.1'],
    ['304', 'GET /BY/304 HTTP/1.1'],
    ['HEAD', 'HEAD /BY/200 HTTP/1.1'],
    ['200 on a connection that is to end', 'GET /BY/200 HTTP/1.1\r\nConnection: close'],
    ['304 on a connection that is to end', 'GET /BY/304 HTTP/1.1\r\nConnection: close'],
    ['200 to HTTP/1.0', 'GET /BY/200 HTTP/1.0'],
    ['304 to HTTP/1.0', 'GET /BY/304 HTTP/1.0'],
    ['200 to HTTP/1.0 that is to go on', 'GET /BY/200 HTTP/1.0\r\nConnection: keep-alive'],
    ['304 to HTTP/1.0 that is to go on', 'GET /BY/304 HTTP/1.0\r\nConnection: keep-alive'],
  ] as const)
    it(what, async () => {
      const node = await said(request.replace('BY', 'node'));
      expect(node).to.include('ETag: W/"é"\r\n').and.include('\r\nDate: then\r\n');
      expect(await said(request.replace('BY', 'ready'))).to.equal(node);
    });

  it('several on one connection, one after the other', async () => {
    const paths = ['304', '200', '200', '304', '200'];
    const by = (name: string) => said(...paths.map((path) => `GET /${name}/${path} HTTP/1.1`));
    const node = await by('node');
    expect([...node.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).to.deep.equal([...paths, '200']);
    expect(await by('ready')).to.equal(node);
  });

  for (const turns of [
    ['Link', 'a\r\nSet-Cookie: b'],
    ['Link\r\nX', 'a'],
    ['Link', 'Ω'],
    ['Link', undefined as unknown as string],
  ])
    it(`takes no header that could not be sent: ${JSON.stringify(turns)}`, () => {
      expect(() => headerLines(['Vary', 'Origin', ...turns])).to.throw(TypeError);
    });

  it('is compared with what writeHead sends at the start, and given up where that differs', () => {
    expect(sendsAsNode()).to.equal(true);
    expect(sendsAsNode(() => {})).to.equal(false);
    expect(sendsAsNode((response) => Object.assign(response, { _header: 'HTTP/1.1 200 OK\r\n\r\n' }))).to.equal(false);
    expect(
      sendsAsNode(() => {
        throw new TypeError('no such field');
      }),
    ).to.equal(false);
  });
});
