// The questions that `init` asks on a terminal. Each has an option.

import { cancel, confirm, isCancel, password, text } from '@clack/prompts';
import { ConfigError } from '../../errors.ts';

/** Throws `ConfigError` if the operator cancels. */
async function orCancel<T>(prompt: Promise<T>): Promise<Exclude<T, symbol>> {
  const result = await prompt;
  if (!isCancel(result)) return result as Exclude<T, symbol>;
  cancel('Nothing is written.');
  throw new ConfigError('init', 'cancelled');
}

export interface Questions {
  /** `usual` counts if there is no answer. */
  text(message: string, usual?: string): Promise<string>;
  password(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
}

export interface Terminal {
  print(line: string): void;
  /** Absent without a terminal to answer at. */
  ask?: Questions | undefined;
}

export const questions: Questions = {
  async text(message, usual) {
    const validate = (value = '') => (value.trim() === '' && usual === undefined ? 'Enter an answer.' : undefined);
    const options = usual === undefined ? { message, validate } : { message, placeholder: usual, defaultValue: '' };
    return (await orCancel(text(options))).trim();
  },
  password: (message) => orCancel(password({ message })),
  confirm: (message) => orCancel(confirm({ message, initialValue: false })),
};
