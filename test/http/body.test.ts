// A body's parameters as the rest of the gateway gets them: nothing in them can stand for a part of every object.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { body, parseQuery } from '../../src/http/body.ts';

describe('the parameters of a body', () => {
  let server: Server;
  before(async () => {
    const app = new Koa();
    app.use(body({ bodyBytes: 10_000, jsonDepth: 8 }));
    app.use((ctx) => {
      ctx.body = JSON.stringify(ctx.state.body);
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => void server.close());

  async function read(sent: string, type: string): Promise<unknown> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return (await fetch(url, { method: 'POST', body: sent, headers: { 'content-type': type } })).json();
  }
  const NAMES = ['__proto__', 'constructor', 'prototype'];
  const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`;

  it('has the values of a multipart body as they were sent, in lists and objects, and the last of equal names', async () => {
    const odd = '%41 & = + [x] é \u0000 %';
    const sent = { 'a[]': odd, 'a[] ': '2', 'b[c][d]': odd, e: '', f: '0', 'g%5B%5D': '[]' };
    const parts = [...Object.entries(sent), ['f', odd] as const].map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name.trim()}"\r\n\r\n${value}\r\n`,
    );
    expect(await read(`${parts.join('')}--b--\r\n`, 'multipart/form-data; boundary=b')).to.deep.equal({
      a: [odd, '2'],
      b: { c: { d: odd } },
      e: '',
      f: odd,
      'g%5B%5D': '[]',
    });
  });

  for (const name of NAMES) {
    it(`has no ${name}, at any depth`, async () => {
      const json = `{"a":1,"${name}":{"x":1},"b":[{"${name}":{"x":1},"c":{"${name}":1}}]}`;
      expect(await read(json, 'application/json')).to.deep.equal({ a: 1, b: [{ c: {} }] });
      if (name === 'prototype') return;
      const form = await read(`a=1&${name}[x]=1&b[${name}][x]=1`, 'application/x-www-form-urlencoded');
      const parts = `${part('a')}${part(`${name}[x]`)}${part(`b[${name}][x]`)}--b--\r\n`;
      const multipart = await read(parts, 'multipart/form-data; boundary=b');
      for (const one of [form, multipart, parseQuery(`a=1&${name}[x]=1&b[${name}][x]=1`)]) {
        expect(JSON.stringify(one)).to.include('"a":"1"').and.not.include(name);
      }
    });
  }
});
