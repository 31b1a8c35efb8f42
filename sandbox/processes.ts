// Child processes that never outlive this one: each is a process group of its own, which is stopped as a whole.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** A running process group. */
export interface ProcessGroup {
  readonly pid: number;
  /** Of the group's first process; null after a signal, undefined while it runs. */
  exitCode(): number | null | undefined;
  /** Settles when the group's first process has exited. */
  ended: Promise<void>;
  /** Sends SIGTERM to the group, and SIGKILL after five seconds. */
  stop(): Promise<void>;
}

// The shell has a pipe from this process as descriptor 3. When this process exits, even by SIGKILL, the pipe
// closes, `cat` exits, and the shell stops the whole group: PHP's worker processes would otherwise keep
// running.
const GUARD = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & child=$!',
  '(cat <&3 >/dev/null; kill -TERM 0) &',
  'wait $child; code=$?',
  "trap '' TERM; kill -TERM 0; exit $code",
].join('\n');

const running = new Set<ChildProcess>();
const shortCommands = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
  for (const child of shortCommands) child.kill();
});

/**
 * Starts a command in a process group of its own, and appends its output to a log file.
 * @param logFile an absolute path
 */
export function startGroup(
  command: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; logFile: string },
): ProcessGroup {
  const log = openSync(options.logFile, 'a');
  const child = spawn('/bin/sh', ['-c', GUARD, 'sandbox', ...command], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  let exitCode: number | null | undefined;
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => {
      exitCode = -1;
      resolve();
    });
    child.once('exit', (code) => {
      exitCode = code;
      resolve();
    });
  });
  running.add(child);
  void ended.then(() => running.delete(child));
  child.stdin?.on('error', () => {}); // the group may exit before the pipe is closed

  return {
    pid: child.pid ?? -1,
    exitCode: () => exitCode,
    ended,
    async stop() {
      if (exitCode === undefined) signalGroup(child, 'SIGTERM');
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), 5000);
      await ended;
      clearTimeout(timer);
      signalGroup(child, 'SIGKILL'); // members that ignored the first signal
    },
  };
}

/** Signals a whole group. An exited group is not an error. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // all processes of the group have exited
  }
}

/**
 * Runs a command. Resolves with its standard output.
 * @throws Error with the command's standard error (or output) if it fails
 */
export function run(
  command: readonly [string, ...string[]],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number } = {},
): Promise<string> {
  const [file, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      {
        cwd: options.cwd,
        env: options.env ?? process.env,
        timeout: options.timeoutMs ?? 0,
        maxBuffer: 256 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        shortCommands.delete(child);
        if (error === null) return resolve(stdout);
        const output = (stderr.trim() || stdout.trim() || error.message).slice(-4000);
        // for an uncaught error in a Node program its first line is enough
        const reason = /^\w*Error: .*$/m.exec(output)?.[0] ?? output;
        reject(new Error(`${[basename(file), ...args].slice(0, 4).join(' ')} failed: ${reason}`, { cause: error }));
      },
    );
    shortCommands.add(child);
  });
}

/** An environment with the `node` of this process first on the PATH. */
export function ownNodeFirst(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` };
}
