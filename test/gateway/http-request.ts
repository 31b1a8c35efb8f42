// Sends HTTP requests to a gateway's ports, each on its own connection.

import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

export interface HttpRequestOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
  /** Speaks TLS, with any certificate. */
  isSecure?: boolean;
  /** A loopback address, such as `127.0.0.2`. */
  from?: string | undefined;
}

export interface GatewayResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** Decompressed. */
  text: string;
}

const DECOMPRESS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Reads and decompresses a whole response. Rejects if it is truncated. */
async function readResponse(response: IncomingMessage): Promise<GatewayResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const decompress = DECOMPRESS[response.headers['content-encoding'] ?? ''];
  const text = (decompress && bytes.length > 0 ? decompress(bytes) : bytes).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** Sends one request on its own connection; with a body for any method. */
export function sendRequest(port: number, path: string, options: HttpRequestOptions = {}): Promise<GatewayResponse> {
  const { method = 'GET', headers = {}, body, signal, isSecure = false, from } = options;
  return new Promise((resolve, reject) => {
    const hasLength = body !== undefined && headers['transfer-encoding'] === undefined;
    const length = hasLength ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const request = (isSecure ? sendSecurely : send)({
      ...{ host: '127.0.0.1', port, path, method, headers: { ...headers, ...length }, agent: false, signal },
      ...{ rejectUnauthorized: false, ...(from !== undefined && { localAddress: from }) },
    });
    request.on('response', (response) => readResponse(response).then(resolve, reject));
    request.on('error', reject);
    request.end(body);
  });
}
