// `node test/live/image.ts [STORAGE]`: builds deploy/Dockerfile and runs the image in front of a fake
// WordPress, with docker, or without it with buildah (as root, a chroot instead of a container). STORAGE: a
// folder of images for buildah, where node:24-slim may be put beforehand.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { freePorts } from '../free-port.ts';
import { scriptWords } from '../script-options.ts';
import { ROOT, sendRequest } from '../start-gateway.ts';
import { until } from '../until.ts';

const IMAGE = 'calendar-gateway:test';
const DOCKERFILE = join(ROOT, 'deploy/Dockerfile');
const START_MS = 60_000;
/** As in docs/operations.md, where `init` works in a mounted folder: not the folder of the program. */
const WORKING_DIRECTORY = '/tmp';

/** What the script needs of a container tool. `start` runs the image's own command, `run` another one to its end. */
interface ContainerTool {
  build(): void;
  run(args: readonly string[], env: Record<string, string>): { status: number | null; stdout: string };
  start(env: Record<string, string>): ChildProcess;
  /** Sends SIGTERM to the first process of the container. */
  terminate(child: ChildProcess): void;
  remove(): void;
  /** What the engine's own health check says; undefined without an engine. */
  health?(): string;
}

const options = (env: Record<string, string>, flag: string) =>
  Object.entries(env).flatMap(([name, value]) => [flag, `${name}=${value}`]);

function docker(): ContainerTool {
  const name = `calendar-gateway-${process.pid}`;
  const command = (env: Record<string, string>) => [
    ...['run', '--rm', '--network', 'host', '--workdir', WORKING_DIRECTORY],
    ...options(env, '--env'),
  ];
  return {
    build: () => execFileSync('docker', ['build', '-f', DOCKERFILE, '-t', IMAGE, ROOT], { stdio: 'inherit' }),
    run: (args, env) => spawnSync('docker', [...command(env), IMAGE, ...args], { encoding: 'utf8' }),
    start: (env) => spawn('docker', [...command(env), '--name', name, IMAGE], { stdio: 'inherit' }),
    terminate: () => execFileSync('docker', ['kill', '--signal', 'TERM', name]),
    remove: () => undefined,
    health: () =>
      execFileSync('docker', ['inspect', '--format', '{{.State.Health.Status}}', name], { encoding: 'utf8' }).trim(),
  };
}

function buildah(storage: string | undefined): ContainerTool {
  const store = storage === undefined ? [] : ['--root', `${storage}/store`, '--runroot', `${storage}/run`];
  const buildah = (...args: string[]) => ['--storage-driver', 'vfs', ...store, ...args];
  const own = ['--isolation', 'chroot', '--network', 'host'];
  const list = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(readFileSync(DOCKERFILE, 'utf8'))![1]!);
  let container = '';
  const command = (args: readonly string[], env: Record<string, string>) =>
    buildah(
      'run',
      ...own,
      '--workingdir',
      WORKING_DIRECTORY,
      ...options(env, '--env'),
      container,
      '--',
      ...list('ENTRYPOINT'),
      ...args,
    );
  return {
    build() {
      const args = ['bud', ...own, '--format', 'docker', '--pull', '-f', DOCKERFILE, '-t', IMAGE, ROOT];
      execFileSync('buildah', buildah(...args), { stdio: 'inherit' });
      container = execFileSync('buildah', buildah('from', '--pull-never', IMAGE), { encoding: 'utf8' }).trim();
    },
    run: (args, env) => spawnSync('buildah', command(args, env), { encoding: 'utf8' }),
    start: (env) => spawn('buildah', command(list('CMD'), env), { stdio: 'inherit' }),
    terminate(child) {
      const processes = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
      let pid = child.pid!;
      for (let next: number | undefined = pid; next !== undefined; ) {
        pid = next;
        const line = processes.find((each) => Number(each.trim().split(/\s+/)[1]) === pid);
        next = line === undefined ? undefined : Number(line.trim().split(/\s+/)[0]);
      }
      process.kill(pid, 'SIGTERM');
    },
    remove: () => execFileSync('buildah', buildah('rm', container)),
  };
}

const hasCompose = () => spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' }).status === 0;
const hasDocker = spawnSync('docker', ['version'], { stdio: 'ignore' }).status === 0;
const [storage] = scriptWords(`node test/live/image.ts [DIR]

Builds the container image with docker, or else with buildah, and runs its commands and the gateway in it, in front of a fake WordPress.
DIR: a folder of images for buildah, where node:24-slim may be put beforehand.`);
const tool = hasDocker ? docker() : buildah(storage);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
let passed = 0;
const holds = (what: string, condition: boolean) => {
  assert.ok(condition, what);
  passed++;
};

tool.build();
const wordpress = await startFakeWordPress();
try {
  const [port, adminPort] = await freePorts();
  const env = {
    CALENDAR_UPSTREAM_URL: wordpress.url.href,
    CALENDAR_UPSTREAM_USER: 'admin',
    CALENDAR_UPSTREAM_PASSWORD: PASSWORD,
    CALENDAR_PORT: String(port),
    CALENDAR_ADMIN_PORT: String(adminPort),
  };
  if (hasDocker && hasCompose()) {
    const args = ['compose', '-f', join(ROOT, 'deploy/compose.yaml'), 'config', '--quiet'];
    holds('compose accepts deploy/compose.yaml', spawnSync('docker', args, { stdio: 'inherit' }).status === 0);
  }
  holds('--version', tool.run(['--version'], {}).stdout === `${version}\n`);
  holds('plugin prints PHP', tool.run(['plugin'], {}).stdout.startsWith('<?php'));
  holds('health fails before the start', tool.run(['health'], env).status === 1);
  const gateway = tool.start(env);
  const exited = once(gateway, 'exit');
  const ready = async () => (await sendRequest(adminPort, '/ready').catch(() => undefined))?.status === 200;
  try {
    await until(ready, 'the gateway in the container is ready', START_MS);
    holds('the health check of the image', tool.run(['health'], env).status === 0);
    const url = `http://127.0.0.1:${port}`;
    for (const path of ['/', '/docs', '/calendar/events/v1/events', '/calendar/events/v1/doc'])
      holds(path, (await fetch(url + path)).status === 200);
    if (tool.health) await until(async () => tool.health!() === 'healthy', 'the engine says healthy', START_MS);
  } finally {
    tool.terminate(gateway);
  }
  const [code] = await exited;
  holds('exits with 0 on SIGTERM', code === 0);
} finally {
  await wordpress.close();
  tool.remove();
}
console.log(`${passed} passed, 0 failed (${hasDocker ? 'docker' : 'buildah'})`);
