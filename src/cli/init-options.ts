// What `init` can be told on the command line: every question it may ask is here as well.

import { readFileSync } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { FIELDS } from '../mapping/fields.ts';
import { mappingNames } from '../mapping/load.ts';
import { KINDS, type Kind } from '../records.ts';
import type { Decisions } from './propose.ts';
import { wrapped } from './table.ts';

export const INIT_OPTIONS = {
  user: { type: 'string' },
  'password-file': { type: 'string' },
  anonymous: { type: 'boolean' },
  mapping: { type: 'string' },
  'event-type': { type: 'string' },
  'venue-type': { type: 'string' },
  'organizer-type': { type: 'string' },
  'category-type': { type: 'string' },
  'tag-type': { type: 'string' },
  field: { type: 'string', multiple: true },
  'date-order': { type: 'string' },
  seconds: { type: 'string' },
  'public-url': { type: 'string' },
  'notice-url': { type: 'string' },
  out: { type: 'string' },
  force: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

export const INIT_HELP = `calendar-gateway init [URL] [options]

Looks at a WordPress site, proposes how its events are read and written, shows three of them as the interface would answer, and
writes the configuration. Asks what it cannot find out; each question has an option, and where no terminal is nothing is asked.

  URL                    the site's address, such as https://example.org
  --user NAME            the service account; without one only public records are seen
  --password-file FILE   its application password (or CALENDAR_UPSTREAM_PASSWORD in the environment)
  --anonymous            no service account, and no question about it
  --mapping NAME         take this mapping that comes with the gateway:
                         ${wrapped(mappingNames().join(', '), 90).join(`\n${' '.repeat(25)}`)}
  --event-type BASE      the collection of the events; so --venue-type, --organizer-type, --category-type, --tag-type ("none": has none)
  --field KIND.NAME=PATH where a field lies, such as event.start_date=meta.begin ("none": leave it out); may be repeated
  --date-order dmy|mdy   how 01/02/2027 is meant
  --seconds utc|wall     whether seconds since 1970 count the instant, or the clock on the wall as if it were in UTC
  --public-url URL       the address that the gateway will have for its callers
  --notice-url URL       where the site reaches the gateway's second port: change notices go into the PHP file
  --out DIR              where config.json, secrets.env, and where needed mapping.json and calendar-gateway.php go (default: calendar-gateway)
  --force                overwrite files that are there
  --yes                  take what is proposed, and write

  calendar-gateway init https://example.org                       asks what it needs
  calendar-gateway init https://example.org --anonymous --yes     asks nothing: what is public, as proposed
  calendar-gateway check --config calendar-gateway/config.json    is what to do next

Exit code: 0 written, 1 nothing written, 2 a mistake in the options or a site that does not answer.
`;

export interface InitOptions extends Decisions {
  url?: string;
  user?: string;
  password?: string;
  anonymous: boolean;
  publicUrl?: string;
  noticeUrl?: string;
  out: string;
  force: boolean;
  yes: boolean;
}

type Values = { [K in keyof typeof INIT_OPTIONS]?: string | boolean | string[] | undefined };

/** The options in the program's own words. Throws `ConfigError` for values that cannot be. */
export function initOptions(values: Values, positionals: string[], env: NodeJS.ProcessEnv): InitOptions {
  const text = (name: keyof Values): string | undefined => values[name] as string | undefined;
  if (positionals.length > 1) throw new ConfigError('command line', 'has more than one address', 'Try --help.');
  const url = positionals[0] ?? (env.CALENDAR_UPSTREAM_URL || undefined);
  const user = text('user') ?? (env.CALENDAR_UPSTREAM_USER || undefined);
  const password =
    text('password-file') === undefined
      ? env.CALENDAR_UPSTREAM_PASSWORD || undefined
      : secretIn(text('password-file')!);
  const dateOrder = oneOf('--date-order', text('date-order'), ['dmy', 'mdy'] as const);
  const seconds = oneOf('--seconds', text('seconds'), ['utc', 'wall'] as const);
  const mapping = oneOf('--mapping', text('mapping'), mappingNames());
  const collections = Object.fromEntries(
    KINDS.flatMap((kind) => {
      const base = text(`${kind}-type` as keyof Values);
      return base === undefined ? [] : [[kind, base]];
    }),
  ) as NonNullable<Decisions['collections']>;
  return {
    ...(url === undefined ? {} : { url: siteAddress(url) }),
    ...(user === undefined || values.anonymous === true ? {} : { user }),
    ...(password === undefined || values.anonymous === true ? {} : { password }),
    ...(dateOrder ? { dateOrder } : {}),
    ...(seconds ? { seconds } : {}),
    ...(mapping ? { mapping } : {}),
    ...(text('public-url') === undefined ? {} : { publicUrl: text('public-url')! }),
    ...(text('notice-url') === undefined ? {} : { noticeUrl: text('notice-url')! }),
    collections,
    fields: fieldsOf((values.field as string[] | undefined) ?? []),
    anonymous: values.anonymous === true,
    out: text('out') ?? 'calendar-gateway',
    force: values.force === true,
    yes: values.yes === true,
  };
}

/** The address with a scheme; what WordPress adds behind it is cut off. Throws `ConfigError`. */
export function siteAddress(text: string): string {
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(whole)) throw new ConfigError(text, 'is no web address', 'Give one such as https://example.org.');
  const url = new URL(whole);
  if (url.username !== '' || url.password !== '')
    throw new ConfigError('the address', 'holds credentials', 'Give them as --user and --password-file.');
  return (url.origin + url.pathname).replace(/\/(wp-json|wp-admin|wp-login\.php)?\/?$/, '');
}

function secretIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      '--password-file',
      `cannot be read (${code ?? 'unknown reason'})`,
      'It holds the application password and nothing else.',
    );
  }
}

function oneOf<T extends string>(option: string, given: string | undefined, choices: readonly T[]): T | undefined {
  if (given === undefined) return undefined;
  const found = choices.find((choice) => choice === given);
  if (found === undefined)
    throw new ConfigError(option, `"${given}" is none of them`, `There are ${choices.join(', ')}.`);
  return found;
}

function fieldsOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const [, kind = '', field = '', path = ''] = /^([a-z]+)\.([a-z_]+)=(\S+)$/.exec(each) ?? [];
      const names = Object.keys(FIELDS[kind as Kind] ?? {});
      if (!names.includes(field))
        throw new ConfigError(
          `--field ${each}`,
          'is not KIND.NAME=PATH of a field of the interface',
          names.length > 0 ? `Its names are ${names.join(', ')}.` : `Kinds are ${KINDS.join(', ')}.`,
        );
      return [`${kind}.${field}`, path];
    }),
  );
}
