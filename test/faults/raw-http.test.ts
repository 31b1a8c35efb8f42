// Raw HTTP over sockets: request smuggling, slow clients and client aborts.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { MOUNT, type SocketGateway, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from './fake-wordpress.ts';

const END = '\r\n\r\n';
const HOST = 'Host: calendar.example';
/** A second request, which a server that misparses the first one would execute. */
const HIDDEN = `PUT ${MOUNT}/events/1 HTTP/1.1\r\n${HOST}\r\nAuthorization: ${authorization('editor')}\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"title":"stolen"`;
const HIDDEN_SIZE = HIDDEN.length.toString(16);
const get = (path: string, ...lines: string[]) =>
  [`GET ${path} HTTP/1.1`, HOST, 'Connection: close', ...lines].join('\r\n') + END;
const post = (...lines: string[]) => [`POST ${MOUNT}/events HTTP/1.1`, HOST, ...lines].join('\r\n') + END;

/** Name, bytes, and allowed statuses (default: 400). */
const CORPUS: [string, string, number[]?][] = [
  ['two lengths', post('Content-Length: 0', `Content-Length: ${HIDDEN.length}`) + HIDDEN],
  ['two lengths in one', post(`Content-Length: 0, ${HIDDEN.length}`) + HIDDEN],
  ['a signed length', post('Content-Length: +0') + HIDDEN],
  ['a length in hexadecimal', post('Content-Length: 0x0') + HIDDEN],
  ['a negative length', post('Content-Length: -1') + HIDDEN],
  ['a length and chunks', `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0${END}${HIDDEN}`],
  ['chunks and a length', `${post('Transfer-Encoding: chunked', `Content-Length: ${HIDDEN.length}`)}0${END}${HIDDEN}`],
  ['chunks by another name', `${post('Transfer-Encoding: xchunked')}0${END}${HIDDEN}`],
  ['chunks that are not the last coding', `${post('Transfer-Encoding: chunked, identity')}0${END}${HIDDEN}`],
  ['a chunk with no size', `${post('Transfer-Encoding: chunked')}zz\r\n${HIDDEN}`],
  ['a chunk that is too long for a number', `${post('Transfer-Encoding: chunked')}${'f'.repeat(40)}\r\n${HIDDEN}`],
  [
    'a chunk that ends with a bare line feed',
    `${post('Transfer-Encoding: chunked')}${HIDDEN_SIZE}\n${HIDDEN}\r\n0${END}`,
  ],
  ['a space before the colon', post(`Content-Length : ${HIDDEN.length}`) + HIDDEN],
  ['a coding with a space before the colon', post('Transfer-Encoding : chunked', 'Content-Length: 0') + HIDDEN],
  ['a folded line', get(`${MOUNT}/events`, 'X-Other: a', ' b')],
  ['a folded coding', `${post('Transfer-Encoding:', ' chunked', 'Content-Length: 0')}0${END}${HIDDEN}`],
  ['bare line feeds', `GET ${MOUNT}/events HTTP/1.1\n${HOST}\n\n`],
  ['a bare carriage return', get(`${MOUNT}/events`, 'X-Other: a\rContent-Length: 3')],
  ['a NUL in a header', get(`${MOUNT}/events`, 'X-Other: a\0b')],
  ['an absolute address outside of the API', get('http://127.0.0.1/metrics'), [404]],
  ['another protocol', `GET ${MOUNT}/events HTTP/3.0${END}`, [400, 505]],
  ['headers beyond all bounds', get(`${MOUNT}/events`, `X-Other: ${'a'.repeat(20_000)}`), [431]],
  ['an address beyond all bounds', get(`${MOUNT}/events?a=${'a'.repeat(9000)}`), [414]],
  ['an encoded slash in a slug', get(`${MOUNT}/events/by-slug/a%2fb`), [404]],
  ['an encoded way up', get(`${MOUNT}/events/by-slug/%2e%2e%2f%2e%2e%2fwp%2fv2%2fusers`), [404]],
  ['a way up', get(`${MOUNT}/events/by-slug/../../../wp/v2/users`), [404]],
  ['a way up at the front', get('/../../wp-json/wp/v2/users'), [404]],
  ['a NUL in a slug', get(`${MOUNT}/events/by-slug/a%00b`), [400, 404]],
  ['a bare NUL in a slug', get(`${MOUNT}/events/by-slug/a\0b`)],
  ['a line end in a slug', get(`${MOUNT}/events/by-slug/a%0d%0aHost:%20x`), [400, 404]],
  ['a backslash', get(`${MOUNT}\\..\\..\\wp\\v2\\users`), [400, 404]],
  ['half an encoded letter', get(`${MOUNT}/events/by-slug/%`), [400, 404]],
  ['letters that are no UTF-8', get(`${MOUNT}/events/by-slug/%ff%fe`), [400, 404]],
];

const POST_HEAD = `POST ${MOUNT}/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`;
/** Ways to hold a connection open without ever completing a request. */
const SLOW_CLIENTS: { name: string; start: string; repeat: string; reads: boolean }[] = [
  { name: 'send nothing', start: '', repeat: '', reads: true },
  { name: 'send a header for ever', start: `GET ${MOUNT}/events HTTP/1.1\r\nX-Slow: `, repeat: 'a', reads: true },
  {
    name: 'send a body for ever',
    start: `${POST_HEAD}\r\nContent-Length: 100000${END}{"title":"`,
    repeat: 'a',
    reads: true,
  },
  {
    name: 'send chunks for ever',
    start: `${POST_HEAD}\r\nTransfer-Encoding: chunked${END}1\r\n`,
    repeat: '{\r\n1\r\n',
    reads: true,
  },
  {
    name: 'read no response',
    start: `GET ${MOUNT}/doc HTTP/1.1\r\nHost: x${END}`.repeat(100),
    ...{ repeat: '', reads: false },
  },
];

describe('raw HTTP', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  before(async () => {
    wordpress = await startFakeWordPress();
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: {
        sync: { intervalS: 3600 },
        limits: { headersTimeoutMs: 500, requestTimeoutMs: 800, sockets: 2000 },
      },
      service: { user: 'admin', password: PASSWORD },
    });
    // A cached response must not make a difference.
    await gateway.request('/events');
  });
  after(async () => {
    await gateway.stop();
    await wordpress.close();
  });

  async function open(): Promise<Socket> {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** Sends bytes and returns everything received until the connection ends. */
  async function spoken(bytes: string): Promise<string> {
    const socket = await open();
    socket.write(bytes, 'latin1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A gateway that keeps the connection open has responded by then.
    await Promise.race([once(socket, 'close'), new Promise((done) => setTimeout(done, 1500))]);
    socket.destroy();
    return Buffer.concat(chunks).toString('latin1');
  }
  const statusesIn = (text: string): number[] =>
    [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => Number(code));

  it('detects smuggled requests in this test itself', async () => {
    const [status] = statusesIn(await spoken(HIDDEN.replace('stolen"', 'moved"}')));
    expect(status).to.equal(200);
    expect(wordpress.posts.get(1)!.title).to.equal('moved');
  });

  it('rejects no host, without a body as Node does', async () => {
    expect(await spoken(`GET ${MOUNT}/events HTTP/1.1${END}`)).to.match(/^HTTP\/1\.1 400 /);
  });

  for (const [name, bytes, allowed = [400]] of CORPUS) {
    it(`rejects ${name}`, async () => {
      const before = wordpress.requests.length;
      const text = await spoken(bytes);
      const statuses = statusesIn(text);
      for (const status of statuses) expect([...allowed, 400, 408]).to.include(status);
      expect(allowed).to.include(statuses[0]);
      // Node itself rejects what it cannot parse, without a body.
      const body = text.slice(text.lastIndexOf(END) + END.length);
      if (body !== '') expect(JSON.parse(body).data.status).to.equal(statuses.at(-1));
      expect(wordpress.requests.length - before).to.be.at.most(1);
      expect(wordpress.posts.get(1)!.title).to.not.equal('stolen');
    });
  }

  it('treats a request without body headers as one with an empty body', async () => {
    for (const [first, status] of [
      [`POST ${MOUNT}/events`, 400],
      [`POST ${MOUNT}/events/1`, 403],
      [`GET ${MOUNT}/events/1`, 200],
      [`DELETE ${MOUNT}/events/999`, 404],
    ] as const)
      for (const more of ['', 'Content-Type: application/json\r\n', 'Content-Length: 0\r\n'])
        expect(
          statusesIn(
            await spoken(
              `${first} HTTP/1.1\r\nConnection: close\r\n${HOST}\r\n${more}Authorization: ${authorization('author')}${END}`,
            ),
          ),
        ).to.deep.equal([status]);
  });

  it('rejects CONNECT', async () => {
    expect(await spoken(`CONNECT 127.0.0.1:22 HTTP/1.1\r\n${HOST}${END}`)).to.equal('');
  });

  for (const { name, start, repeat, reads } of SLOW_CLIENTS) {
    it(`closes a hundred slow clients that ${name}, while it serves others`, async () => {
      const sockets = await Promise.all(Array.from({ length: 100 }, open));
      let openCount = sockets.length;
      for (const socket of sockets) {
        socket.once('close', () => {
          openCount -= 1;
        });
        if (reads) socket.resume();
        socket.write(start);
      }
      const drip = setInterval(() => {
        for (const socket of sockets) if (repeat && socket.writable) socket.write(repeat);
        // A client that does not read notices the closed connection only by writing.
        if (!reads) for (const socket of sockets) socket.write('G');
      }, 50);
      let served = 0;
      const isOver = async () => {
        expect((await gateway.request('/events')).status).to.equal(200);
        served += 1;
        return openCount === 0 && served >= 3;
      };
      await until(isOver, () => `all are closed, not all but ${openCount}`).finally(() => clearInterval(drip));
    }).timeout(10_000);
  }

  it('survives two thousand client aborts', async () => {
    const uncaught: unknown[] = [];
    const heard = (error: unknown) => uncaught.push(error);
    process.on('unhandledRejection', heard);
    process.on('uncaughtExceptionMonitor', heard);
    const requests = [
      get(`${MOUNT}/events`),
      get(`${MOUNT}/events?per_page=50&first=${Math.random()}`),
      get(`${MOUNT}/events`, `Authorization: ${authorization('author')}`),
      `${post(`Authorization: ${authorization('author')}`, 'Content-Type: application/json', 'Content-Length: 900')}{"title":"`,
      `GET ${MOUNT}/eve`,
    ];
    for (let from = 0; from < 2000; from += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const socket = await open();
          socket.write(requests[n % requests.length]!);
          // Clients go away before, during and after the response.
          if (n % 3 > 0) await new Promise((done) => setTimeout(done, n % 7));
          if (n % 2) socket.resetAndDestroy();
          else socket.destroy();
        }),
      );
    }
    expect((await sendRequest(gateway.port, `${MOUNT}/events`)).status).to.equal(200);
    process.off('unhandledRejection', heard);
    process.off('uncaughtExceptionMonitor', heard);
    expect(uncaught).to.deep.equal([]);
    // And no operator is paged for it.
    expect((await gateway.admin('/metrics')).text).to.include('\ncalendar_request_failures_total 0\n');
    expect(gateway.log()).to.not.include('"level":50');
  }).timeout(60_000);
});
