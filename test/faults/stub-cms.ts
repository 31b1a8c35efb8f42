// Stub CMS: an HTTP server that responds as a test says and records its requests.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface StubCms {
  url: URL;
  requests: ReceivedRequest[];
  /** Replaceable response. */
  respond: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Responds with `{"ok":true}` until a test replaces `respond`. */
export async function startStubCms(): Promise<StubCms> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    stub.requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.on('error', () => {});
    stub.respond(request, response);
  });
  const stub: StubCms = {
    url: new URL('http://127.0.0.1'),
    requests: [],
    respond: (_request, response) => sendJson(response, 200, { ok: true }),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stub.url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return stub;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function sendText(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
}
