// A proxy for the conformance runner, which knows HTTP Basic and WordPress's way to upload: the password is
// sent on as an API key of Payload, and `/media` takes a file as the whole body.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, FormData, fetch, Headers, Response } from 'undici';

export interface BasicAuthProxy {
  /** Without a trailing slash. */
  url: string;
  close(): void;
}

/** A connection for each request: on a kept one that the gateway closes at that moment, a create would fail. */
const dispatcher = new Agent({ pipelining: 0 });
const DROPPED_HEADERS = new Set([
  'connection',
  'content-length',
  'content-encoding',
  'keep-alive',
  'transfer-encoding',
]);

/**
 * @param target the gateway's address, known after the proxy's, because the gateway's links begin with it
 * @param siteUrl of Payload
 */
export async function startBasicAuthProxy(target: () => string, siteUrl: string): Promise<BasicAuthProxy> {
  const server = createServer((req, res) => {
    respond(req, res, target(), siteUrl).catch((error: unknown) => {
      res.writeHead(502).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function respond(req: IncomingMessage, res: ServerResponse, target: string, siteUrl: string): Promise<void> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers))
    if (!DROPPED_HEADERS.has(name) && name !== 'host' && name !== 'expect') headers.set(name, String(value));
  const apiKey = apiKeyOf(req.headers.authorization);
  if (apiKey !== undefined) headers.set('authorization', `users API-Key ${apiKey}`);
  const body = await buffer(req);
  const response = req.url?.startsWith('/media')
    ? await media(req, headers.get('authorization') ?? '', body, siteUrl)
    : await fetch(`${target}${req.url}`, {
        method: req.method ?? 'GET',
        headers,
        redirect: 'manual',
        dispatcher,
        ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
      });
  const answer = Buffer.from(await response.arrayBuffer());
  res.writeHead(response.status, [...response.headers].filter(([name]) => !DROPPED_HEADERS.has(name)).flat());
  res.end(answer);
}

/** The password of HTTP Basic. */
function apiKeyOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^Basic (\S+)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const login = Buffer.from(encoded, 'base64').toString();
  return login.slice(login.indexOf(':') + 1);
}

/** `POST /media` and `DELETE /media/7`. Answers with the record's id, as WordPress does. */
async function media(req: IncomingMessage, authorization: string, body: Buffer, siteUrl: string): Promise<Response> {
  const { pathname } = new URL(req.url ?? '/', siteUrl);
  const url = `${siteUrl}/api${pathname}`;
  if (req.method === 'DELETE') return fetch(url, { method: 'DELETE', headers: { authorization } });
  const filename = /filename="([^"]+)"/.exec(String(req.headers['content-disposition']))?.[1] ?? 'file';
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(body)], { type: String(req.headers['content-type']) }), filename);
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body: form });
  const { doc } = (await response.json()) as { doc?: { id: unknown; url: string } };
  return Response.json({ id: doc?.id, source_url: doc?.url }, { status: response.status });
}
