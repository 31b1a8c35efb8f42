#!/usr/bin/env node

// Entry point: runs the command of the command line. A ConfigError becomes one clear message and exit code 2.

import { printable } from './cli/table.ts';
import { ConfigError } from './errors.ts';
import { restartWithFlags } from './node-flags.ts';
import { VERSION } from './version.ts';

/**
 * Older versions lack `node:sqlite` or cannot strip types. `engines` in package.json says the same. Node 23 never had
 * all that later 22 versions got. Runs before any import that would fail.
 */
function checkNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major >= 24 || (major === 22 && minor >= 20)) return;
  throw new ConfigError(
    'Node.js',
    `${process.versions.node} is not supported`,
    'Use 22.20 or a newer 22, or 24 or newer; the tests run with 22, 24 and 26.',
  );
}

async function run([name = 'help', ...args]: string[]): Promise<number> {
  checkNode();
  const isHelp = args.includes('--help') || args.includes('-h');
  // `init` and `check` load node:sqlite too, with the id map of Payload sites: Node 22 would warn about it.
  if (['serve', 'init', 'check'].includes(name) && !isHelp) restartWithFlags();
  if (['--version', '-v', 'version'].includes(name)) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const { commands, usage } = await import('./cli/commands.ts');
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command && !isHelp) return command.run(args);
  if (!command && !['help', '--help', '-h'].includes(name))
    throw new ConfigError(name, 'there is no such command', usage());
  process.stdout.write(command ? command.help : usage());
  return 0;
}

/** Prints the error and exits, whatever handles are still open. With its stack for a bug report. */
function fail(error: unknown): never {
  const isConfigError = error instanceof ConfigError;
  const stack = error instanceof Error ? error.stack : String(error);
  const message = isConfigError ? error.message : `unexpected error: ${stack}`;
  process.stderr.write(`calendar-gateway: ${printable(message)}\n`);
  process.exit(isConfigError ? 2 : 1);
}

// After EPIPE (`| head`) a command runs on without its output: it writes its files, and has its own exit code.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') fail(error);
});

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  fail(error);
}
