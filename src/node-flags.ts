// Node's flags of a gateway. They bound its memory, and `serve` and `init` apply them themselves: however
// they are started, the figures in docs/figures.md hold.

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

/** `--no-allocation_site_pretenuring` -> `allocation-site-pretenuring` */
const nameOf = (flag: string): string =>
  flag
    .replace(/=.*/, '')
    .replaceAll('_', '-')
    .replace(/^--(no-)?/, '');

/**
 * The flags that are not set yet. What the operator sets, even to another value, stays.
 * @param execArgv Node's flags of this process, as in `process.execArgv`
 * @param nodeOptions the variable NODE_OPTIONS
 */
export function missingFlags(execArgv: readonly string[], nodeOptions = ''): string[] {
  const given = new Set([...execArgv, ...nodeOptions.split(/\s+/)].map(nameOf));
  return NODE_FLAGS.filter((flag) => !given.has(nameOf(flag)));
}

/**
 * Replaces this process by one with all flags: V8 takes most of them only at its start. The process id and
 * the terminal stay, so a supervisor does not notice. Returns if no flag is missing, or where a process
 * cannot be replaced (Windows).
 */
export function restartWithFlags(): void {
  const { execPath, execArgv, argv, env } = process;
  const missing = missingFlags(execArgv, env.NODE_OPTIONS);
  if (missing.length === 0 || !process.execve || process.platform === 'win32') return;
  process.execve(execPath, [execPath, ...missing, ...execArgv, ...argv.slice(1)], { ...MEMORY_ENVIRONMENT, ...env });
}
