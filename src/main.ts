// The process: finds the command, runs it, and turns the operator's mistakes into one clear line and exit code 2.

import { commands, usage } from './cli/commands.ts';
import { ConfigError } from './errors.ts';

// Date texts are read on the site's clock, never on this machine's; locutus reads the process's zone.
process.env.TZ = 'UTC';

const [name = 'help', ...args] = process.argv.slice(2);
const command = commands[name];

try {
  if (name === 'help' || name === '--help' || name === '-h') process.stdout.write(usage());
  else if (!command) throw new ConfigError(name, 'there is no such command', usage());
  else if (args.includes('--help') || args.includes('-h')) process.stdout.write(command.help);
  else process.exitCode = await command.run(args);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`calendar-gateway: ${error.message}\n`);
  process.exitCode = 2;
}
