// Proxy between a gateway and its CMS: counts the traffic, adds delay, and skews the CMS's clock.

import { once } from 'node:events';
import { type ClientRequest, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CmsProxyOptions {
  /** Skew of the CMS's clock: ahead if positive, behind if negative. */
  skewMs?: number;
  /** Delay of every response. */
  delayMs?: number;
}

export interface CmsProxy {
  /** Without a trailing slash. */
  url: string;
  /** Traffic since the start, or since the last reset. */
  traffic: { requests: number; sentBytes: number; receivedBytes: number };
  options: CmsProxyOptions;
  close(): Promise<void>;
}

/** Dates of records as WordPress formats them, without a time zone. */
const DATES = /"(date|date_gmt|modified|modified_gmt)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)"/g;

const shifted = (text: string, skewMs: number): string =>
  text.replace(DATES, (_, key: string, date: string) => {
    const later = new Date(Date.parse(`${date}Z`) + skewMs).toISOString().slice(0, 19);
    return `"${key}":"${later}"`;
  });

/** Query bounds on the skewed clock, converted to the CMS's own clock. */
const BOUNDS = /(modified_(?:after|before)=)([^&]+)/g;

const unshifted = (path: string, skewMs: number): string =>
  path.replace(BOUNDS, (_, name: string, date: string) => {
    const earlier = new Date(Date.parse(decodeURIComponent(date)) - skewMs).toISOString();
    return `${name}${encodeURIComponent(earlier.replace('.000Z', 'Z'))}`;
  });

/** Starts a proxy in front of the site at `target`, with the site's own `Host` header. */
export async function startCmsProxy(target: string, options: CmsProxyOptions = {}): Promise<CmsProxy> {
  const { hostname, port, host } = new URL(target);
  const traffic = { requests: 0, sentBytes: 0, receivedBytes: 0 };
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
      const { 'transfer-encoding': _, ...headers } = answer.headers;
      traffic.requests += 1;
      traffic.receivedBytes += body.length + answer.rawHeaders.join('').length + 2 * answer.rawHeaders.length;
      if (delayMs > 0) await new Promise((later) => setTimeout(later, delayMs));
      response.writeHead(answer.statusCode ?? 502, { ...headers, date, 'content-length': String(body.length) });
      response.end(method === 'HEAD' ? undefined : body);
    });
    open.add(behind);
    behind.on('close', () => open.delete(behind));
    behind.on('error', () => response.destroy());
    traffic.sentBytes += path.length + request.rawHeaders.join('').length + 2 * request.rawHeaders.length;
    request.on('data', (chunk: Buffer) => {
      traffic.sentBytes += chunk.length;
    });
    request.pipe(behind);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: CmsProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traffic,
    options,
    async close() {
      for (const request of open) request.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return relay;
}
