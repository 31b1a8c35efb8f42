// Baseline servers that replay the gateway's responses byte for byte: `node bench/baseline-servers.ts NAME
// PORT FILE`.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import Fastify from 'fastify';
import Koa from 'koa';

/** A response of the gateway; headers as sent, names and values alternating. */
export interface RecordedResponse {
  path: string;
  headers: string[];
  etag: string;
  body: string;
}

const [, , name = '', port = '', file = ''] = process.argv;

interface PreparedResponse {
  headers: string[];
  /** Headers of a 304. */
  notModified: string[];
  etag: string;
  bytes: Buffer;
}

/** Headers about the body, which a 304 omits. */
const OF_A_BODY = ['content-length', 'content-type'];
const withoutBody = (headers: string[]) =>
  headers.filter((_, i) => !OF_A_BODY.includes(headers[i - (i % 2)]!.toLowerCase()));

const prepared = new Map<string, PreparedResponse>();
for (const { path, headers, etag, body } of JSON.parse(readFileSync(file, 'utf8')) as RecordedResponse[])
  prepared.set(path, { headers, notModified: withoutBody(headers), etag, bytes: Buffer.from(body, 'base64') });

/** Ignores the query: a list requested with any parameters has one response here. */
const answerFor = (url: string): PreparedResponse => {
  const match = prepared.get(url) ?? prepared.get('*');
  if (!match) throw new Error(`nothing was taken at ${url}`);
  return match;
};

/** Plain node:http with the headers and bytes of the gateway's response. */
function raw(request: IncomingMessage, response: ServerResponse): void {
  const { headers, notModified, etag, bytes } = answerFor(request.url!);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, notModified).end();
    return;
  }
  response.writeHead(200, headers);
  response.end(bytes);
}

/** Plain node:http with only the two headers that every JSON response needs. */
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
  default:
    throw new Error(`there is no baseline called ${name}`);
}
