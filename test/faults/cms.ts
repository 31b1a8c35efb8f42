// A stand-in for a CMS: answers what a test tells it to, and remembers what it was asked.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface StandIn {
  url: URL;
  seen: Seen[];
  /** Replaces how it answers. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Answers `{"ok":true}` until told otherwise. */
export async function startStandIn(): Promise<StandIn> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    standIn.seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.on('error', () => {});
    standIn.answer(request, response);
  });
  const standIn: StandIn = {
    url: new URL('http://127.0.0.1'),
    seen: [],
    answer: (_request, response) => answerJson(response, 200, { ok: true }),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  standIn.url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return standIn;
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function answerText(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
}
