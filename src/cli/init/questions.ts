// The questions that `init` asks on a terminal.

import { cancel, confirm, isCancel, password, select, text } from '@clack/prompts';
import { ConfigError } from '../../errors.ts';
import { formatSample } from '../field-samples.ts';
import { parseSiteUrl } from './options.ts';
import type { ProbedType } from './probe.ts';

/** Throws `ConfigError` if the operator cancels. */
async function orCancel<T>(prompt: Promise<T>): Promise<Exclude<T, symbol>> {
  const result = await prompt;
  if (!isCancel(result)) return result as Exclude<T, symbol>;
  cancel('Nothing is written.');
  throw new ConfigError('init', 'cancelled');
}

export interface Questions {
  url(): Promise<string>;
  /** `undefined` for none. */
  account(): Promise<{ user: string; password: string } | undefined>;
  password(user: string): Promise<string>;
  eventType(types: readonly ProbedType[]): Promise<string>;
  /** Resolves with the path of the start or end; `undefined` if no field of the type holds it. */
  field(what: 'start' | 'end', type: ProbedType): Promise<string | undefined>;
  dateOrder(example: string): Promise<'dmy' | 'mdy'>;
  seconds(): Promise<'utc' | 'wall'>;
  /** The name of the calendar. `usual` counts if there is no answer. */
  name(usual: string): Promise<string | undefined>;
  write(folder: string): Promise<boolean>;
}

export interface Terminal {
  print(line: string): void;
  /** Absent without a terminal to answer at. */
  ask?: Questions | undefined;
}

export const questions: Questions = {
  async url() {
    const url = await orCancel(
      text({
        message: 'Address of the site',
        placeholder: 'https://example.org',
        validate: (value) => (value === undefined || value.trim() === '' ? 'Enter an address.' : undefined),
      }),
    );
    return parseSiteUrl(url.trim());
  },

  async account() {
    const has = await orCancel(
      confirm({
        message: 'Do you have an application password for a service account (wp-admin > Users > Profile)?',
        initialValue: false,
      }),
    );
    if (!has) return undefined;
    const user = await orCancel(text({ message: 'User name' }));
    return { user, password: await questions.password(user) };
  },

  password: (user) => orCancel(password({ message: `Application password of ${user}` })),

  eventType: (types) =>
    orCancel(
      select({
        message: 'Which of these are the events?',
        options: types.map(({ base, label, total }) => ({
          value: base,
          label: base,
          hint: `${label}, ${total} records`,
        })),
      }),
    ),

  async field(what, type) {
    const options = type.fields.map(({ path, values }) => ({
      value: path,
      label: path,
      hint: values.length > 0 ? formatSample(values[0]) : 'no value',
    }));
    const chosen = await orCancel(
      select({
        message: `Which field of ${type.base} holds the ${what} of an event?`,
        options: [...options, { value: '', label: 'none of them' }],
      }),
    );
    return chosen === '' ? undefined : chosen;
  },

  dateOrder: (example) =>
    orCancel(
      select({
        message: `In which order is ${example}?`,
        options: [
          { value: 'dmy' as const, label: 'day, month, year' },
          { value: 'mdy' as const, label: 'month, day, year' },
        ],
      }),
    ),

  seconds: () =>
    orCancel(
      select({
        message: 'The dates are seconds since 1970. What do they count?',
        options: [
          { value: 'utc' as const, label: 'the instant itself (UTC)' },
          { value: 'wall' as const, label: 'the local time, as if it were in UTC' },
        ],
      }),
    ),

  async name(usual) {
    const answer = await orCancel(text({ message: 'Name of the calendar', placeholder: usual, defaultValue: '' }));
    return answer.trim() === '' ? undefined : answer.trim();
  },

  write: (folder) => orCancel(confirm({ message: `Write this to ${folder}?` })),
};
