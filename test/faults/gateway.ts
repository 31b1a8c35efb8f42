// The whole gateway as `serve` builds it, in this process and with its own ports, and what it told its log.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { loadConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { createLog } from '../../src/observe/log.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { refuseSecrets } from './spoken.ts';

export const MOUNT = '/calendar/events/v1';

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  /** Unpacked. */
  text: string;
}

export interface RunningGateway {
  port: number;
  adminPort: number;
  /** Everything that was logged, at the level debug. */
  log(): string;
  /** A request to a path below the mount. */
  ask(path: string, sent?: Sent): Promise<Answered>;
  admin(path: string): Promise<Answered>;
  stop(): Promise<void>;
}

/** What would get in the way of tests that ask often or wrongly. */
const GENEROUS = { requestsPerMinute: 1_000_000, failedLoginsPerAddress: 1_000_000, failedLoginsPerUser: 1_000_000 };

/** Keys of the configuration, as in a file. */
export type Settings = Record<string, Record<string, unknown> | string>;

/** A machine that is busy with other things copies slowly. */
const START_MS = 45_000;

/** Starts it and waits for the first copy. */
export async function startGateway(
  upstreamUrl: string,
  settings: Settings = {},
  service: { user: string; password: string } | undefined = undefined,
): Promise<RunningGateway> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-gateway-')), 'config.json');
  const { limits, upstream, listen, ...others } = settings as Record<string, Record<string, unknown>>;
  const config = {
    publicUrl: 'https://calendar.example',
    ...others,
    upstream: { url: upstreamUrl, ...service, ...upstream },
    listen: { host: '127.0.0.1', port, adminPort, ...listen },
    limits: { ...GENEROUS, ...limits },
  };
  writeFileSync(file, JSON.stringify(config));
  const lines: string[] = [];
  const log = createLog({
    ...{ level: 'debug', requests: true, pretty: false },
    stream: { write: (text) => lines.push(text) },
  });
  const gateway = createGateway(loadConfig({ file, env: {} }), log);
  await gateway.start();
  const admin = (path: string) => exchange(adminPort, path);
  await until(async () => (await admin('/ready')).status === 200, 'the first copy is complete', START_MS);
  return {
    ...{ port, adminPort, admin },
    log: () => lines.join(''),
    ask: (path, sent) => exchange(port, MOUNT + path, sent),
    async stop() {
      const { text: metrics } = await admin('/metrics');
      const { text: status } = await admin('/status');
      await gateway.stop();
      refuseSecrets('the log, the metrics or the status of a gateway', `${lines.join('')}\n${metrics}\n${status}`);
    },
  };
}

const UNPACK: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Reads it to its end and unpacks it. Rejects where it is cut off. */
export async function answered(response: IncomingMessage): Promise<Answered> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const unpack = UNPACK[response.headers['content-encoding'] ?? ''];
  const text = (unpack && bytes.length > 0 ? unpack(bytes) : bytes).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** One request on a connection of its own; a body goes out with any method. */
export function exchange(port: number, path: string, sent: Sent = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body, signal } = sent;
  return new Promise((resolve, reject) => {
    const isCounted = body !== undefined && headers['transfer-encoding'] === undefined;
    const length = !isCounted ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { host: '127.0.0.1', port, path, method, headers: { ...headers, ...length }, agent: false };
    const request = send({ ...options, ...(signal ? { signal } : {}) }, (response) => {
      answered(response).then(resolve, reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
