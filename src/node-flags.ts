// Node's flags of a gateway. They bound its memory, and `serve` applies them itself: however it is started, the
// figures in docs/figures.md hold.

/** Each was measured alone, beside the same gateway without it. */
export const NODE_FLAGS: readonly string[] = [
  // Memory of new objects. V8's default takes a hundred megabytes more.
  '--max-semi-space-size=8',
  // How far the heap grows until it is collected. V8's default takes seventy megabytes more while the replica is built.
  '--heap-growing-percent=50',
  // V8 may otherwise decide in the first seconds that objects of requests live long, and collects them at
  // three times the cost.
  '--no-allocation-site-pretenuring',
  // node:sqlite works in each supported version; Node 22 still warns about it.
  '--disable-warning=ExperimentalWarning',
];

/** Of glibc, for the process: it returns freed memory, and has one arena for all threads instead of eight per core. */
export const MEMORY_ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * Replaces this process by one with all flags: V8 takes most of them only at its start. The process id and
 * the terminal stay, so a supervisor does not notice. Returns if the process has them, or where a process
 * cannot be replaced (Windows).
 */
export function restartWithFlags(): void {
  const { execPath, execArgv, argv, env } = process;
  const hasFlags = NODE_FLAGS.every((flag) => execArgv.includes(flag));
  if (hasFlags || !process.execve || process.platform === 'win32') return;
  // What the operator gives on the command line comes last: of two values V8 takes that.
  const flags = [...NODE_FLAGS, ...execArgv];
  process.execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...MEMORY_ENVIRONMENT, ...env });
}
