// Starts nginx with a one-second cache in front of raw node:http, if nginx is installed.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../test/until.ts';
import { endProcess, processTree, SERVER_CORE, type Server, START_MS, untilListening } from './processes.ts';

/** If root starts nginx, its workers run as a user who cannot read root's folders. */
const USER = process.getuid?.() === 0 ? 'user root;' : '';

const configuration = (dir: string, port: number, origin: number) => `
${USER} daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 1024; }
http {
  access_log ${dir}/access.log combined buffer=64k flush=1s;
  keepalive_requests 1000000000;
  proxy_cache_path ${dir}/cache keys_zone=micro:10m inactive=60s;
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
  upstream origin { server 127.0.0.1:${origin}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache micro; proxy_cache_valid 200 1s; proxy_cache_lock on; proxy_cache_use_stale updating;
      proxy_ignore_headers Cache-Control Vary;
    }
  }
}
`;

const isWorker = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker');

const PLACES = ['nginx', '/usr/sbin/nginx'];

/** Undefined if nginx is not installed. */
export async function startMicrocache(origin: number, port: number, dir: string): Promise<Server | undefined> {
  const command = PLACES.find((path) => spawnSync(path, ['-v']).status === 0);
  if (!command) return undefined;
  const prefix = join(dir, 'nginx');
  mkdirSync(prefix, { recursive: true });
  const file = join(prefix, 'nginx.conf');
  writeFileSync(file, configuration(prefix, port, origin));
  const child = spawn('taskset', ['-c', SERVER_CORE, command, '-c', file, '-p', prefix], { stdio: 'ignore' });
  await untilListening(port, child);
  // The other processes are the master, which listens before it starts the worker, and the cache loader, which exits.
  const workers = () => processTree(child.pid!).filter(isWorker);
  await until(() => workers().length > 0, 'nginx has started its worker', START_MS);
  return { name: 'nginx', port, pids: workers(), stop: () => endProcess(child) };
}
