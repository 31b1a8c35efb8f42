// Runs deploy/nginx.conf unchanged in a real nginx on loopback, with this machine's names, ports and folders.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { requireBrowser } from '../browser/harness.ts';
import { accepts, freePort } from '../free-port.ts';
import { type GatewayResponse, type HttpRequestOptions, sendRequest } from '../start-gateway.ts';
import { until } from '../until.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../deploy/nginx.conf');
const NGINX = process.env.NGINX ?? '/usr/sbin/nginx';

/** Before all checks of this folder. */
export function mochaGlobalSetup(): void {
  for (const [command, flag, debian] of [
    [NGINX, '-v', 'nginx'],
    ['openssl', 'version', 'openssl'],
  ] as const) {
    try {
      execFileSync(command, [flag], { stdio: 'ignore' });
    } catch {
      throw new Error(`no ${command}: apt-get install ${debian}`);
    }
  }
  requireBrowser();
}

export type RequestOptions = Omit<HttpRequestOptions, 'isSecure'>;

export interface RunningNginx {
  /** Without a trailing slash; includes the base path, if any. */
  url: string;
  plainPort: number;
  ask(path: string, options?: RequestOptions): Promise<GatewayResponse>;
  /** Sends the request over HTTP/2, with a body without a length. */
  ask2(path: string, options?: RequestOptions): Promise<GatewayResponse>;
  /** The contents of the cache folder. */
  stored(): string[];
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** Ports of the first gateway, and of a second one, whose line is then enabled. */
  gateways: [number] | [number, number];
  port: number;
  /** Uses the variant below /api. */
  below?: boolean;
  /** The admin port, to which nginx then forwards webhooks. */
  adminPort?: number;
}

/** Replaces text of the example; throws if the example does not contain it. */
function replaced(text: string, pattern: RegExp | string, by: string): string {
  if (typeof pattern === 'string' ? !text.includes(pattern) : !pattern.test(text)) {
    throw new Error(`deploy/nginx.conf has no ${pattern}`);
  }
  return text.replaceAll(pattern, by);
}

/** Removes the comment signs of these lines. */
function enabled(text: string, lines: RegExp): string {
  const found = lines.exec(text)?.[0];
  if (found === undefined) throw new Error(`deploy/nginx.conf has no ${lines}`);
  return text.replace(found, () => found.replace(/^( *)#/gm, '$1'));
}

/** Lines of the example that are commented out. */
const API_LINES = /(?: {2}#location (?:= )?\/api[^\n]*\n(?: {2}# [^\n]*\n)+ {2}#\}\n)+/;
const WEBHOOK_LINES = / {2}#location = \/-\/changes[^\n]*\n(?: {2}# [^\n]*\n)+ {2}#\}\n/;

function configuration({ gateways, port, below, adminPort }: NginxOptions, dir: string, plainPort: number): string {
  let text = readFileSync(EXAMPLE, 'utf8');
  text = replaced(text, '127.0.0.1:3000', `127.0.0.1:${gateways[0]}`);
  if (gateways[1] !== undefined) text = replaced(text, '#server 127.0.0.1:3010', `server 127.0.0.1:${gateways[1]}`);
  text = replaced(text, / *listen \[::\].*\n/g, '');
  text = replaced(text, /listen 80;/g, `listen 127.0.0.1:${plainPort};`);
  text = replaced(text, /listen 443 ssl http2;/g, `listen 127.0.0.1:${port} ssl http2;`);
  text = replaced(text, 'calendar.example.org;', '127.0.0.1;');
  text = replaced(text, /\/etc\/letsencrypt\/live\/[^;]*\//g, `${dir}/`);
  text = replaced(text, '/var/cache/nginx/calendar', join(dir, 'cache'));
  if (adminPort !== undefined) {
    text = enabled(text, WEBHOOK_LINES);
    text = replaced(text, '127.0.0.1:3001', `127.0.0.1:${adminPort}`);
  }
  if (!below) return text;
  return enabled(replaced(text, / {2}location \/ \{[^}]*\}\n/g, ''), API_LINES);
}

/** The rest of a complete configuration, as Debian's, with everything in one folder. */
function surroundings(dir: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    ...['daemon off;', 'worker_processes 1;', `pid ${dir}/pid;`, 'error_log stderr warn;', 'events {}'],
    ...['http {', 'access_log off;', 'gzip on;', ...temporary.map((name) => `${name}_temp_path ${dir}/${name};`)],
    ...[`include ${dir}/calendar.conf;`, '}', ''],
  ].join('\n');
}

/** Starts nginx and waits until it listens. */
export async function startNginx(options: NginxOptions): Promise<RunningNginx> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-nginx-'));
  const plainPort = await freePort();
  mkdirSync(join(dir, 'cache'));
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${dir}/privkey.pem`];
  const certificate = ['req', '-x509', '-subj', '/CN=127.0.0.1', '-days', '2', '-out', `${dir}/fullchain.pem`, ...key];
  execFileSync('openssl', certificate, { stdio: 'ignore' });
  writeFileSync(join(dir, 'calendar.conf'), configuration(options, dir, plainPort));
  writeFileSync(join(dir, 'nginx.conf'), surroundings(dir));
  const child = spawn(NGINX, ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += String(chunk);
  });
  const ended = once(child, 'close');
  await until(() => child.exitCode !== null || accepts(options.port), 'nginx listens');
  if (child.exitCode !== null) throw new Error(`nginx did not start: ${output}`);
  const base = options.below ? '/api' : '';
  return {
    url: `https://127.0.0.1:${options.port}${base}`,
    plainPort,
    ask: (path, request) => sendRequest(options.port, base + path, { ...request, isSecure: true }),
    ask2: (path, request) => ask2(options.port, base + path, request),
    stored: () =>
      globSync('cache/**', { cwd: dir, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
      if (/\[(alert|emerg|crit)\]/.test(output)) throw new Error(`nginx said: ${output}`);
    },
  };
}

/** Sends one request on its own HTTP/2 connection. */
async function ask2(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: RequestOptions = {},
): Promise<GatewayResponse> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  try {
    const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [{ ':status': status = 0, ...answered }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return {
      status: Number(status),
      headers: answered as GatewayResponse['headers'],
      text: Buffer.concat(chunks).toString(),
    };
  } finally {
    session.destroy();
  }
}
