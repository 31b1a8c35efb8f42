// The options of a command: one table, from which Node parses them and --help explains them.

import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util';
import { ConfigError } from '../errors.ts';
import { columns } from './table.ts';

export interface Option extends ParseArgsOptionDescriptor {
  /** The word for the value in --help; an option of type `boolean` has none. */
  value?: string;
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** `--user NAME`. */
export const textOption = (value: string, help: string) => ({ type: 'string', value, help }) as const;

/** `--yes`. */
export const flag = (help: string) => ({ type: 'boolean', help }) as const;

/** Throws `ConfigError` for unknown options, and for other arguments unless `allowPositionals` is true. */
export function parseOptions<T extends Options>(args: string[], options: T, allowPositionals = false) {
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    // After the first sentence Node advises on positional arguments, which most of these commands do not have.
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('. ');
    throw new ConfigError('command line', reason, 'Try --help.');
  }
}

/** A line for each option, with its default. */
export function optionsHelp(options: Options): string {
  const rows = Object.entries(options).map(([name, { value, help, default: preset }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    preset === undefined ? help : `${help} (default: ${preset})`,
  ]);
  return columns(rows).join('\n');
}
