// The command line of `init`: its options and help.

import { isWebAddress, readEnvironment, readSecretFile } from '../../config.ts';
import type { SourceSettings } from '../../config-schema.ts';
import { ConfigError } from '../../errors.ts';
import { FIELDS } from '../../interface/fields.ts';
import { parseDateFormat } from '../../mapping/date-format.ts';
import { mappingNames } from '../../mapping/load.ts';
import { KINDS, type Kind } from '../../model/records.ts';

export const INIT_OPTIONS = {
  user: { type: 'string' },
  'password-file': { type: 'string' },
  mapping: { type: 'string' },
  'event-type': { type: 'string' },
  field: { type: 'string', multiple: true },
  'date-format': { type: 'string' },
  seconds: { type: 'string' },
  'public-url': { type: 'string' },
  'webhook-url': { type: 'string' },
  deploy: { type: 'string' },
  out: { type: 'string' },
  force: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const;

export const INIT_HELP = `calendar-gateway init [URL] [options]

Looks at a WordPress site, decides on a mapping for its events, and writes the configuration. It says what it is not
sure of, and the option to decide that. For a Payload site it writes a copy of the mapping that comes with the gateway,
for you to edit. Without --yes it writes nothing.

Given the address of a calendar, it shows what the gateway would serve of it, and adds it to "sources" in the
config.json that an earlier init wrote, or in a new one without a CMS (docs/sources.md). Such an address ends with .ics
or events/v1, or asks for ical.

  URL                    the site's address, such as https://example.org; or that of a calendar
  --user NAME            the service account; without one only public records are readable. For Payload: the slug of
                         the collection that has the account, such as users
  --password-file FILE   a file with the account's application password; for Payload, with its API key. Or set
                         CALENDAR_UPSTREAM_PASSWORD or CALENDAR_UPSTREAM_PASSWORD_FILE in the environment
  --mapping NAME         use this mapping that comes with the gateway:
                         ${mappingNames().join(', ')}
  --event-type BASE      the collection of the events
  --field KIND.NAME=PATH the path of a field, such as event.start_date=meta.begin ("none": leave it out); may be
                         repeated. A date and a time of day in two fields:
                         event.start_date=meta.day,meta.time
  --date-format FORMAT   the form of dates that init does not find, or that may be read in two ways, as in PHP:
                         'd/m/Y H:i' (letters: docs/mapping.md, Dates)
  --seconds utc|wall     whether the site's seconds since 1970 are true instants (utc), or count its local time as if
                         that were UTC (wall)
  --public-url URL       the gateway's address for its callers
  --webhook-url URL      where the site reaches the gateway's admin port: the companion plugin sends webhooks there
  --deploy kubernetes    also write the secrets as a manifest, kubernetes-secret.json
  --out DIR              where to write config.json, secrets.env, and if needed mapping.json and
                         calendar-gateway-companion.php (default: calendar-gateway)
  --force                overwrite existing files
  --yes                  write what it proposes

  calendar-gateway init https://example.org                       shows what it would write
  calendar-gateway init https://example.org --yes                 writes it
  calendar-gateway init https://library.example/events.ics        shows a calendar to serve, beside it or alone
  calendar-gateway check --config calendar-gateway/config.json    is the next step

Exit code: 0 written, 1 nothing written, 2 a mistake in the options or a site that does not answer.
`;

export interface InitOptions {
  /** Of the site. */
  url?: string | undefined;
  /** The calendar, if the address is that of one: then there is no `url`. */
  source?: Omit<SourceSettings, 'name'> | undefined;
  user?: string | undefined;
  password?: string | undefined;
  /** Only if there is a password. */
  isPasswordFromEnvironment: boolean;
  userAgent?: string | undefined;
  /** The environment lets calendars be in private networks. */
  privateSources?: boolean;
  /** Name of a bundled mapping. */
  mapping?: string | undefined;
  /** The collection of the events. */
  eventType?: string | undefined;
  /** `event.start_date` -> path; `none` leaves the field out. */
  fields?: Record<string, string> | undefined;
  /** As in PHP's `date()`, for values whose form `init` does not find, or finds two of. */
  dateFormat?: string | undefined;
  /** Seconds since 1970 count the instant (`utc`), or the local time as if it were in UTC (`wall`). */
  seconds?: 'wall' | 'utc' | undefined;
  publicUrl?: string | undefined;
  webhookUrl?: string | undefined;
  deploy?: 'kubernetes' | undefined;
  out: string;
  force: boolean;
  yes: boolean;
}

type Values = { [K in keyof typeof INIT_OPTIONS]?: string | boolean | string[] | undefined };

/** Throws `ConfigError` for invalid values. */
export function parseInitOptions(values: Values, positionals: string[], env: NodeJS.ProcessEnv): InitOptions {
  if (positionals.length > 1) throw new ConfigError('command line', 'has more than one address', 'Try --help.');
  const text = (name: keyof Values): string | undefined => values[name] as string | undefined;
  const assignments = readEnvironment(env, () => undefined);
  const fromEnvironment = (key: string) => assignments.find((each) => each.key === key)?.value as string | undefined;
  const passwordFile = text('password-file');
  const password =
    passwordFile === undefined ? fromEnvironment('upstream.password') : readSecretFile(passwordFile, '--password-file');
  const source = parseSource(positionals[0] ?? '');
  const url = positionals[0] ?? (env.CALENDAR_UPSTREAM_URL || undefined);
  return {
    source,
    url: url === undefined || source ? undefined : parseSiteUrl(url),
    user: text('user') ?? fromEnvironment('upstream.user'),
    password,
    isPasswordFromEnvironment: passwordFile === undefined,
    userAgent: fromEnvironment('upstream.userAgent'),
    privateSources: assignments.some(({ key, value }) => key === 'sync.privateSources' && value === true),
    dateFormat: parseFormat(text('date-format')),
    seconds: parseChoice('--seconds', text('seconds'), ['utc', 'wall'] as const),
    mapping: parseChoice('--mapping', text('mapping'), mappingNames()),
    publicUrl: parseAddress('--public-url', text('public-url')),
    webhookUrl: parseAddress('--webhook-url', text('webhook-url')),
    deploy: parseChoice('--deploy', text('deploy'), ['kubernetes'] as const),
    eventType: text('event-type'),
    fields: parseFields((values.field as string[] | undefined) ?? []),
    out: text('out') ?? 'calendar-gateway',
    force: values.force === true,
    yes: values.yes === true,
  };
}

/** Removes what WordPress appends to the site's address. Throws `ConfigError`. */
export function parseSiteUrl(text: string): string {
  const url = parseUrl(text);
  return (url.origin + url.pathname).replace(/\/(wp-json|wp-admin|wp-login\.php)?\/?$/, '');
}

/**
 * The address that `init` got, with a scheme. Throws `ConfigError`, which does not quote it: it may hold a
 * password.
 */
function parseUrl(text: string): URL {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!isWebAddress(withScheme))
    throw new ConfigError('the address', 'is not a web address', 'Give one such as https://example.org.');
  return new URL(withScheme);
}

/** Undefined: the address is that of a site. Calendar programs call the same addresses `webcal:`. */
function parseSource(text: string): InitOptions['source'] {
  if (text === '') return undefined;
  const url = parseUrl(text.replace(/^webcal:/i, 'https:'));
  if (/\/events\/v1\/?$/.test(url.pathname)) return { events: url.origin + url.pathname };
  return /\.ics$/i.test(url.pathname) || url.searchParams.has('ical') ? { icalendar: url.href } : undefined;
}

/**
 * The address in an option, as sent. Throws `ConfigError` for anything else: files of code and configuration will hold
 * it.
 */
export function parseAddress(option: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isWebAddress(text))
    throw new ConfigError(option, 'is not a web address', 'Write all of it, such as http://10.0.0.5:3001.');
  return text;
}

function parseFormat(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const format = parseDateFormat(text);
  const fault = typeof format === 'string' ? format : format.writeOnly;
  if (fault !== undefined) throw new ConfigError('--date-format', fault, 'Write it as in docs/mapping.md, Dates.');
  return text;
}

function parseChoice<T extends string>(
  option: string,
  value: string | undefined,
  choices: readonly T[],
): T | undefined {
  const choice = choices.find((each) => each === value);
  if (value !== undefined && choice === undefined)
    throw new ConfigError(option, `"${value}" is not one of the choices`, `They are ${choices.join(', ')}.`);
  return choice;
}

function parseFields(options: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    options.map((option) => {
      const [, kind = '', field = '', path = ''] = /^([a-z]+)\.([a-z_]+)=(\S+)$/.exec(option) ?? [];
      const fields = FIELDS[kind as Kind] ?? {};
      const isDate = kind === 'event' && /^(start|end)_date$/.test(field);
      const isPath =
        (isDate ? /^[^,]+(,[^,]+)?$/ : /^[^,]+$/).test(path) && !(path === 'none' && fields[field]?.required);
      if (!Object.hasOwn(fields, field) || !isPath)
        throw new ConfigError(
          `--field ${option}`,
          'is not KIND.NAME=PATH of a field of the API',
          `Kinds are ${KINDS.join(', ')}; names of an event are ${Object.keys(FIELDS.event).join(', ')}. ` +
            'Only its start or end may be in two paths, a date and a time of day ' +
            '(event.start_date=meta.day,meta.time), and neither may be none.',
        );
      return [`${kind}.${field}`, path];
    }),
  );
}
