// The command line of a script for developers: its options, its --help, and one line for a mistake.

import type { ParseArgsOptionDescriptor } from 'node:util';
import { parseOptions } from '../src/cli/commands.ts';
import { columns } from '../src/cli/table.ts';
import { ConfigError } from '../src/errors.ts';

interface ScriptOption extends ParseArgsOptionDescriptor {
  /** The word for the value in --help; an option of type `boolean` has none. */
  value?: string;
  help: string;
}

/** What --help prints: `about`, then each option with its default. */
function helpText(about: string, options: Readonly<Record<string, ScriptOption>>): string {
  const rows = Object.entries(options).map(([name, { value, help, default: preset }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    preset === undefined ? help : `${help} (default: ${preset})`,
  ]);
  return `${[about.trimEnd(), '', ...columns([...rows, ['  --help', 'this']])].join('\n')}\n`;
}

/** Values of the options in the command line. Ends the process after --help, and with exit code 2 after a mistake. */
export const scriptOptions = <T extends Record<string, ScriptOption>>(about: string, options: T) =>
  parseScript(about, options, false).values;

/**
 * The words in the command line of a script without options. Ends the process as `scriptOptions` does.
 * @param known the words that it takes; absent: any
 */
export function scriptWords(about: string, known?: readonly string[]): string[] {
  const words = parseScript(about, {}, true).positionals;
  const unknown = words.filter((word) => known?.includes(word) === false);
  if (unknown.length > 0) endWithMistake(`there is no ${unknown.join(', ')}. The names are: ${known?.join(', ')}`);
  return words;
}

function parseScript<T extends Record<string, ScriptOption>>(about: string, options: T, allowWords: boolean) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText(about, options));
    process.exit(0);
  }
  try {
    return parseOptions(args, options, allowWords);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return endWithMistake(error.message.replaceAll(/\.?\s*\n\s*/g, '. '));
  }
}

function endWithMistake(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
