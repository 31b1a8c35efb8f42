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
  text(message: string): Promise<string>;
  password(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
}

export interface Terminal {
  print(line: string): void;
  /** Absent without a terminal to answer at. */
  ask?: Questions | undefined;
}

export const questions: Questions = {
  async text(message) {
    const validate = (value = '') => (value.trim() === '' ? 'Enter an answer.' : undefined);
    return (await orCancel(text({ message, validate }))).trim();
  },
  password: (message) => orCancel(password({ message })),
  confirm: (message) => orCancel(confirm({ message, initialValue: false })),
};
