// What the gateway is measured against: servers that send the answers it sent, byte for byte. `node bench/rivals.ts NAME PORT FILE`.

import { readFileSync } from 'node:fs';
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import Fastify from 'fastify';
import Koa from 'koa';

/** An answer of the gateway: headers as it sent them, names and values by turns. */
export interface Taken {
  path: string;
  headers: string[];
  etag: string;
  body: string;
}

const [, , name = '', port = '', file = ''] = process.argv;

interface Ready {
  headers: string[];
  /** Those of a 304. */
  unchanged: string[];
  etag: string;
  bytes: Buffer;
}

/** Headers that say something of a body: a 304 has none, here as there. */
const OF_A_BODY = ['content-length', 'content-type'];
const withoutBody = (headers: string[]) =>
  headers.filter((_, i) => !OF_A_BODY.includes(headers[i - (i % 2)]!.toLowerCase()));

const taken = new Map<string, Ready>();
if (name !== 'pass-through')
  for (const { path, headers, etag, body } of JSON.parse(readFileSync(file, 'utf8')) as Taken[])
    taken.set(path, { headers, unchanged: withoutBody(headers), etag, bytes: Buffer.from(body, 'base64') });

/** The address without its query decides, so that a list asked in a hundred thousand ways is one answer here. */
const answerFor = (url: string): Ready => {
  const found = taken.get(url) ?? taken.get('*');
  if (!found) throw new Error(`nothing was taken at ${url}`);
  return found;
};

/** node:http and nothing else: the headers and bytes of the gateway's own answer. */
function raw(request: IncomingMessage, response: ServerResponse): void {
  const { headers, unchanged, etag, bytes } = answerFor(request.url!);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, unchanged).end();
    return;
  }
  response.writeHead(200, headers);
  response.end(bytes);
}

/** The same with the two headers that no JSON answer can do without. */
function rawBare(request: IncomingMessage, response: ServerResponse): void {
  const { etag, bytes } = answerFor(request.url!);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, ['Content-Type', 'application/json; charset=UTF-8', 'Content-Length', String(bytes.length)]);
  response.end(bytes);
}

function koa(): void {
  const app = new Koa();
  app.use(async (ctx) => {
    const { headers, bytes } = answerFor(ctx.url);
    for (let i = 0; i < headers.length; i += 2) ctx.set(headers[i]!, headers[i + 1]!);
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    ctx.body = bytes;
  });
  app.listen(Number(port), '127.0.0.1');
}

async function fastify(): Promise<void> {
  const app = Fastify();
  app.get('/*', async (request, reply) => {
    const { headers, etag, bytes } = answerFor(request.url);
    for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.send(bytes);
  });
  await app.listen({ port: Number(port), host: '127.0.0.1' });
}

/** As `http-proxy` does: the CMS is asked each time and its answer piped through. */
function passThrough(): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const { hostname, port: to } = new URL(file);
  createServer((request, response) => {
    const { url = '', method = '', headers } = request;
    const through = ask({ hostname, port: to, path: url, method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    through.on('error', () => response.destroy());
    request.pipe(through);
  }).listen(Number(port), '127.0.0.1');
}

switch (name) {
  case 'raw':
    createServer(raw).listen(Number(port), '127.0.0.1');
    break;
  case 'raw-bare':
    createServer(rawBare).listen(Number(port), '127.0.0.1');
    break;
  case 'koa':
    koa();
    break;
  case 'fastify':
    await fastify();
    break;
  case 'pass-through':
    passThrough();
    break;
  default:
    throw new Error(`there is no rival called ${name}`);
}
