// The command line of a script for developers: its options, its --help, and one line for a mistake.

import { flag, type Option, optionsHelp, parseOptions } from '../src/cli/command-line.ts';
import { ConfigError } from '../src/errors.ts';

/** The value of one that is called `N` or `S` (seconds) must be a number. */
interface ScriptOption extends Option {
  /** The values that it takes; absent: any. */
  choices?: readonly string[];
  /** It takes several of `choices`, with commas. */
  isList?: true;
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

/** What is wrong with the value of an option. Undefined: nothing. */
function mistakeIn(name: string, text: string, { value, choices, isList }: ScriptOption): string | undefined {
  if (value === 'N' || value === 'S')
    return /^\d+(\.\d+)?$/.test(text) ? undefined : `--${name} takes a number, not "${text}"`;
  const unknown = (isList ? text.split(',') : [text]).find((word) => choices?.includes(word) === false);
  return unknown === undefined ? undefined : `--${name} takes ${choices?.join(', ')}, not "${unknown}"`;
}

function parseScript<T extends Record<string, ScriptOption>>(about: string, options: T, allowWords: boolean) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${about.trimEnd()}\n\n${optionsHelp({ ...options, help: flag('this') })}\n`);
    process.exit(0);
  }
  const parsed = parsedOrEnd(() => parseOptions(args, options, allowWords));
  for (const [name, text] of Object.entries(parsed.values)) {
    const mistake = typeof text === 'string' ? mistakeIn(name, text, options[name]!) : undefined;
    if (mistake !== undefined) endWithMistake(`${mistake}. Try --help.`);
  }
  return parsed;
}

function parsedOrEnd<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return endWithMistake(error.message.replaceAll(/\.?\s*\n\s*/g, '. '));
  }
}

function endWithMistake(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
