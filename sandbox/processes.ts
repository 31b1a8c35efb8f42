// Child processes that never outlive this one: each is its own process group, ended as a whole.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** A running process group. */
export interface Group {
  readonly pid: number;
  /** The exit code once the group's first process has ended (null when a signal ended it); undefined while it runs. */
  exitCode(): number | null | undefined;
  /** Settles when the group's first process has ended. */
  ended: Promise<void>;
  /** Ends every process of the group: asks, and after five seconds does not ask. */
  stop(): Promise<void>;
}

// The shell keeps our end of a pipe as its descriptor 3. When this process ends in any way, even by SIGKILL, the pipe
// closes, `cat` ends, and the whole group is told to stop: PHP's worker processes would otherwise stay behind.
const GUARD = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & child=$!',
  '(cat <&3 >/dev/null; kill -TERM 0) &',
  'wait $child; code=$?',
  "trap '' TERM; kill -TERM 0; exit $code",
].join('\n');

const running = new Set<ChildProcess>();
const errands = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
  for (const child of errands) child.kill();
});

/**
 * Starts a command in a process group of its own; its output goes to the end of a log file.
 * @param logFile an absolute path
 */
export function startGroup(
  command: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; logFile: string },
): Group {
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
  child.stdin?.on('error', () => {}); // the group may be gone before the pipe is closed

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

/** Signals a whole group; a group that is gone already is no error. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // nobody is left in the group
  }
}

/**
 * Runs a command to its end and gives its standard output.
 * @throws Error with the command's standard error (or output) when it fails
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
        errands.delete(child);
        if (error === null) return resolve(stdout);
        const said = (stderr.trim() || stdout.trim() || error.message).slice(-4000);
        // of a Node program that ended by an uncaught error, the line that says so is enough
        const reason = /^\w*Error: .*$/m.exec(said)?.[0] ?? said;
        reject(new Error(`${[basename(file), ...args].slice(0, 4).join(' ')} failed: ${reason}`, { cause: error }));
      },
    );
    errands.add(child);
  });
}

/** An environment whose `node` is the one that runs this process. */
export function ownNodeFirst(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` };
}
