// Parameters of a request body: PHP's bracket notation, and no key that could pollute a prototype.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import Koa from 'koa';
import { createBodyReader } from '../../src/http/read-body.ts';
import { parseQuery } from '../../src/http/read-request.ts';

describe('request body', () => {
  let server: Server;
  before(async () => {
    const app = new Koa();
    app.silent = true;
    const readBody = createBodyReader({ bodyBytes: 10_000, jsonDepth: 8 });
    app.use(async (ctx) => {
      ctx.body = JSON.stringify(await readBody(ctx));
    });
    // No timeout of Node's ends a connection.
    server = createServer({ keepAliveTimeout: 0 }, app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => void server.close());

  async function read(fields: string, type: string): Promise<unknown> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return (await fetch(url, { method: 'POST', body: fields, headers: { 'content-type': type } })).json();
  }
  const NAMES = ['__proto__', 'constructor', 'prototype'];
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;

  it('parses a multipart body with lists and objects; the last of equal names wins', async () => {
    const special = '%41 & = + [x] é \u0000 %';
    const fields = { 'a[]': special, 'a[] ': '2', 'b[c][d]': special, e: '', f: '0', 'g%5B%5D': '[]' };
    const parts = [...Object.entries(fields), ['f', special] as const].map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name.trim()}"\r\n\r\n${value}\r\n`,
    );
    expect(await read(`${parts.join('')}--b--\r\n`, 'multipart/form-data; boundary=b')).to.deep.equal({
      a: [special, '2'],
      b: { c: { d: special } },
      e: '',
      f: special,
      'g%5B%5D': '[]',
    });
  });

  for (const name of NAMES) {
    it(`drops ${name} at any depth`, async () => {
      const json = `{"a":1,"${name}":{"x":1},"b":[{"${name}":{"x":1},"c":{"${name}":1}}]}`;
      expect(await read(json, 'application/json')).to.deep.equal({ a: 1, b: [{ c: {} }] });
      if (name === 'prototype') return;
      const form = await read(`a=1&${name}[x]=1&b[${name}][x]=1`, 'application/x-www-form-urlencoded');
      const parts = `${part('a')}${part(`${name}[x]`)}${part(`b[${name}][x]`)}--b--\r\n`;
      const multipart = await read(parts, 'multipart/form-data; boundary=b');
      for (const item of [form, multipart, parseQuery(`a=1&${name}[x]=1&b[${name}][x]=1`)]) {
        expect(JSON.stringify(item)).to.include('"a":"1"').and.not.include(name);
      }
    });
  }

  it('may arrive in 2,500 pieces; a client that sends more is disconnected', async () => {
    async function send(pieces: number): Promise<string> {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const type = 'Host: x\r\nContent-Type: application/json\r\nConnection: close\r\n';
      const head = `POST / HTTP/1.1\r\n${type}Transfer-Encoding: chunked\r\n\r\n`;
      const json = JSON.stringify({ a: '1'.repeat(pieces - '{"a":""}'.length) });
      const chunks = [...json].map((letter) => `1\r\n${letter}\r\n`);
      socket.write(`${head}${chunks.join('')}0\r\n\r\n`);
      return text(socket).catch(() => 'disconnected');
    }
    expect(await send(2500)).to.match(/^HTTP\/1\.1 200 [\s\S]*"a":"1111/);
    expect(await send(2501)).to.match(/^(disconnected)?$/);
  });

  it('without an end, which is a form of a GET and so not read, ends with its connection', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const type = 'Content-Type: application/x-www-form-urlencoded\r\n';
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${type}Transfer-Encoding: chunked\r\n\r\n`);
    await once(socket, 'data');
    socket.write('1\r\na\r\n'.repeat(2501));
    await once(socket, 'close');
  });

  for (const [name, framing] of [
    ['its length says so', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`],
    ['its chunks are', (body: string) => `Transfer-Encoding: chunked\r\n\r\n30d40\r\n${body}\r\n0\r\n\r\n`],
  ] as const) {
    it(`that is refused because ${name} too large does not hold up the next request of the connection`, async () => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
      socket.write(`${head}${framing(JSON.stringify('x'.repeat(199_998)))}`);
      socket.write(`${head}Connection: close\r\nContent-Length: 7\r\n\r\n{"a":1}`);
      expect(await text(socket)).to.match(/^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 [\s\S]*\{"a":1\}$/);
    });
  }
});
