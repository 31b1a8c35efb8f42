// Stands between a gateway and its CMS: counts what passes, takes its time, and makes the CMS's clock go wrong.

import { once } from 'node:events';
import { type ClientRequest, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RelayOptions {
  /** By how much the CMS's clock goes before (or, below zero, after) what it is. */
  skewMs?: number;
  /** Every answer comes so much later. */
  delayMs?: number;
}

export interface Relay {
  /** Without a slash at the end. */
  url: string;
  /** Since the beginning, or since they were last set to zero. */
  passed: { requests: number; sentBytes: number; receivedBytes: number };
  options: RelayOptions;
  close(): Promise<void>;
}

/** Dates of records, as WordPress writes them: without a zone. */
const DATES = /"(date|date_gmt|modified|modified_gmt)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"/g;

const shifted = (text: string, skewMs: number): string =>
  text.replace(DATES, (_, key: string, date: string) => {
    const later = new Date(Date.parse(`${date}Z`) + skewMs).toISOString().slice(0, 19);
    return `"${key}":"${later}"`;
  });

/** Bounds of a query, on the clock that the answers show: the CMS takes them on its own. */
const BOUNDS = /(modified_(?:after|before)=)([^&]+)/g;

const unshifted = (path: string, skewMs: number): string =>
  path.replace(BOUNDS, (_, name: string, date: string) => {
    const earlier = new Date(Date.parse(decodeURIComponent(date)) - skewMs).toISOString();
    return `${name}${encodeURIComponent(earlier.replace('.000Z', 'Z'))}`;
  });

/** A relay before the site at `target`, which goes on believing that it is asked under its own name. */
export async function startRelay(target: string, options: RelayOptions = {}): Promise<Relay> {
  const { hostname, port, host } = new URL(target);
  const passed = { requests: 0, sentBytes: 0, receivedBytes: 0 };
  const open = new Set<ClientRequest>();
  const server = createServer((request, response) => {
    const { skewMs = 0, delayMs = 0 } = relay.options;
    const { method = 'GET', url = '/', headers } = request;
    const path = unshifted(url, skewMs);
    const behind = send({ hostname, port, method, path, headers: { ...headers, host } }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const bytes = Buffer.concat(chunks);
      const isJson = String(answer.headers['content-type']).includes('json');
      const body = skewMs !== 0 && isJson ? Buffer.from(shifted(bytes.toString('utf8'), skewMs)) : bytes;
      const date = new Date(Date.parse(answer.headers.date ?? '') + skewMs).toUTCString();
      const { 'transfer-encoding': _, ...kept } = answer.headers;
      passed.requests += 1;
      passed.receivedBytes += body.length + answer.rawHeaders.join('').length + 2 * answer.rawHeaders.length;
      if (delayMs > 0) await new Promise((later) => setTimeout(later, delayMs));
      response.writeHead(answer.statusCode ?? 502, { ...kept, date, 'content-length': String(body.length) });
      response.end(method === 'HEAD' ? undefined : body);
    });
    open.add(behind);
    behind.on('close', () => open.delete(behind));
    behind.on('error', () => response.destroy());
    passed.sentBytes += path.length + request.rawHeaders.join('').length + 2 * request.rawHeaders.length;
    request.on('data', (chunk: Buffer) => {
      passed.sentBytes += chunk.length;
    });
    request.pipe(behind);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    options,
    async close() {
      for (const request of open) request.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return relay;
}
