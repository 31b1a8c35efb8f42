#!/usr/bin/env -S node --max-semi-space-size=4 --heap-growing-percent=25 --v8-pool-size=1 --no-parallel-scavenge
// The process: finds the command, runs it, and turns the operator's mistakes into one clear line and exit code 2.

import { ConfigError } from './errors.ts';

// Date texts are read on the site's clock, never on this machine's; locutus reads the process's zone.
process.env.TZ = 'UTC';

const OLDEST_NODE = [22, 20] as const;

/** Older versions lack what the copy is kept with (`node:sqlite`) or do not read these sources: said before anything is loaded. */
function checkNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new ConfigError(
    'Node.js',
    `${process.versions.node} is too old`,
    `Use ${OLDEST_NODE.join('.')} or newer; 24 is what this is tested with.`,
  );
}

async function run([name = 'help', ...args]: string[]): Promise<number> {
  checkNode();
  const { commands, usage } = await import('./cli/commands.ts');
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command && !args.includes('--help') && !args.includes('-h')) return command.run(args);
  if (!command && !['help', '--help', '-h'].includes(name))
    throw new ConfigError(name, 'there is no such command', usage());
  process.stdout.write(command ? command.help : usage());
  return 0;
}

/** One line without a stack, which does not help an operator; the first place in the sources helps a developer who gets the report. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const at = error.stack?.split(/[\s()]+/).find((word) => /^(?:file:|\/)/.test(word) && /:\d+:\d+$/.test(word));
  return `${error.name}: ${error.message.replaceAll('\n', ' ')}${at === undefined ? '' : ` (${at})`}`;
}

/** Says why the process ends, and ends it: nothing that is still open keeps it. */
function fail(error: unknown): never {
  const isMistake = error instanceof ConfigError;
  process.stderr.write(`calendar-gateway: ${isMistake ? error.message : `unexpected error: ${describe(error)}`}\n`);
  process.exit(isMistake ? 2 : 1);
}

// The reader of the output has closed it (`| head`): a gateway goes on without output, and a command has printed what was wanted.
process.stderr.on('error', () => undefined);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  fail(error);
});
process.on('uncaughtException', (error) => {
  // `serve` has its own way to end.
  if (process.listenerCount('uncaughtException') === 1) fail(error);
});

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  fail(error);
}
