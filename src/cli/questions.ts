// The questions of `init`, asked on a terminal only.

import { cancel, confirm, isCancel, password, select, text } from '@clack/prompts';
import { ConfigError } from '../errors.ts';
import { siteAddress } from './init-options.ts';
import type { TypeFacts } from './probe.ts';
import { shown } from './words.ts';

/** The answer; somebody who breaks off ends the command. Throws `ConfigError`. */
async function answered<T>(asked: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await asked;
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel('Nothing is written.');
  throw new ConfigError('init', 'broken off');
}

export interface Questions {
  url(): Promise<string>;
  /** `undefined` for none. */
  account(): Promise<{ user: string; password: string } | undefined>;
  password(user: string): Promise<string>;
  eventType(types: readonly TypeFacts[]): Promise<string>;
  /** A path of the type that holds the begin or end; `undefined` when there is none. */
  place(what: 'begin' | 'end', type: TypeFacts): Promise<string | undefined>;
  dateOrder(example: string): Promise<'dmy' | 'mdy'>;
  seconds(): Promise<'utc' | 'wall'>;
  write(folder: string): Promise<boolean>;
}

export const questions: Questions = {
  async url() {
    const given = await answered(
      text({
        message: 'Address of the WordPress site',
        placeholder: 'https://example.org',
        validate: (value) => (value === undefined || value.trim() === '' ? 'An address is needed.' : undefined),
      }),
    );
    return siteAddress(given.trim());
  },

  async account() {
    const has = await answered(
      confirm({
        message: 'Have you an application password for a service account (wp-admin > Users > Profile)?',
        initialValue: false,
      }),
    );
    if (!has) return undefined;
    const user = await answered(text({ message: 'User name' }));
    return { user, password: await questions.password(user) };
  },

  password: (user) => answered(password({ message: `Application password of ${user}` })),

  eventType: (types) =>
    answered(
      select({
        message: 'Which of these are the events?',
        options: types.map(({ base, label, total }) => ({
          value: base,
          label: base,
          hint: `${label}, ${total} records`,
        })),
      }),
    ),

  async place(what, type) {
    const options = type.places.map(({ path, values }) => ({
      value: path,
      label: path,
      hint: values.length > 0 ? shown(values[0]) : 'no value',
    }));
    const chosen = await answered(
      select({
        message: `Which field of ${type.base} holds the ${what} of an event?`,
        options: [...options, { value: '', label: 'none of them' }],
      }),
    );
    return chosen === '' ? undefined : chosen;
  },

  dateOrder: (example) =>
    answered(
      select({
        message: `How is ${example} meant?`,
        options: [
          { value: 'dmy' as const, label: 'day, month, year' },
          { value: 'mdy' as const, label: 'month, day, year' },
        ],
      }),
    ),

  seconds: () =>
    answered(
      select({
        message: 'The dates are seconds since 1970. Of which clock?',
        options: [
          { value: 'utc' as const, label: 'the instant itself (UTC)' },
          { value: 'wall' as const, label: 'the clock on the wall, counted as if it were in UTC' },
        ],
      }),
    ),

  write: (folder) => answered(confirm({ message: `Write this to ${folder}?` })),
};
