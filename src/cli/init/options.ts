// The command line of `init`: its options, its help, and the values that the other files of this folder work with.

import { isWebAddress, readEnvironment, readSecretFile } from '../../config.ts';
import type { SourceSettings } from '../../config-schema.ts';
import { ConfigError } from '../../errors.ts';
import { FIELDS } from '../../interface/fields.ts';
import { parseDateFormat } from '../../mapping/date-format.ts';
import { mappingNames } from '../../mapping/load.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { flag, optionsHelp, type parseOptions, textOption } from '../command-line.ts';

export const INIT_OPTIONS = {
  user: textOption('NAME', 'the service account; for Payload, the slug of the collection that has it, such as users'),
  'password-file': textOption('FILE', 'its application password; for Payload, its API key'),
  mapping: textOption('NAME', 'a mapping that comes with the gateway'),
  'event-type': textOption('BASE', 'the collection of the events'),
  field: {
    ...textOption('KIND.NAME=PATH', 'where a field is, such as event.cost=meta.fee (none: nowhere); may be repeated'),
    multiple: true,
  },
  'date-format': textOption('FORMAT', "of dates that init does not find, or that may be read in two ways: 'd/m/Y H:i'"),
  seconds: textOption('utc|wall', 'what seconds since 1970 count: true instants, or local time as if that were UTC'),
  'public-url': textOption('URL', "the gateway's address for its callers"),
  'webhook-url': textOption('URL', "where the site reaches the gateway's admin port: its plugin sends webhooks there"),
  out: { ...textOption('DIR', 'where to write'), default: 'calendar-gateway' },
  force: flag('overwrite existing files'),
  yes: flag('write what it proposes'),
} as const;

export const INIT_HELP = `calendar-gateway init [URL] [options]

Looks at a WordPress site, decides on a mapping for its events, and writes the configuration: config.json, secrets.env,
and if needed mapping.json and the plugin of the site. It says what it is not sure of, and the option to decide that.
For a Payload site it writes a copy of the mapping that comes with the gateway, for you to edit. Without --yes it writes
nothing.

Given the address of a calendar, it shows what the gateway would serve of it, and adds it to "sources" in the
config.json that an earlier init wrote, or in a new one without a CMS (docs/sources.md). Such an address ends with .ics
or events/v1, or asks for ical.

${optionsHelp(INIT_OPTIONS)}

Without an account only public records are readable. Instead of --password-file you may set CALENDAR_UPSTREAM_PASSWORD
or CALENDAR_UPSTREAM_PASSWORD_FILE in the environment. Letters of --date-format: docs/mapping.md, Dates. Mappings:
${mappingNames().join(', ')}

  calendar-gateway init https://example.org                       shows what it would write
  calendar-gateway init https://example.org --yes                 writes it
  calendar-gateway init https://example.org --field event.start_date=meta.day,meta.time    a day and a time of day
  calendar-gateway init https://library.example/events.ics        shows a calendar to serve, beside it or alone
  calendar-gateway check --config calendar-gateway/config.json    is the next step

Exit code: 0 written, 1 nothing written, 2 a mistake in the options or a site that does not answer.
`;

/** What the command line gave: each option as text, before it is checked. */
type Values = Partial<ReturnType<typeof parseOptions<typeof INIT_OPTIONS>>['values']>;

export type InitOptions = ReturnType<typeof parseInitOptions>;
/** What a step of init needs of the options: `SomeOptions<'out' | 'force'>`. */
export type SomeOptions<Name extends keyof InitOptions> = { [N in Name]?: InitOptions[N] | undefined };

/** Throws `ConfigError` for invalid values. */
export function parseInitOptions(values: Values, positionals: string[], env: NodeJS.ProcessEnv) {
  if (positionals.length > 1) throw new ConfigError('command line', 'has more than one address', 'Try --help.');
  const assignments = readEnvironment(env, () => undefined);
  const fromEnvironment = (key: string) => assignments.find((each) => each.key === key)?.value as string | undefined;
  const passwordFile = values['password-file'];
  const source = parseSource(positionals[0] ?? '');
  const url = positionals[0] ?? fromEnvironment('upstream.url');
  return {
    /** Of the site. */
    url: url === undefined || source ? undefined : parseSiteUrl(url),
    /** The calendar, if the address is that of one: then there is no `url`. */
    source,
    user: values.user ?? fromEnvironment('upstream.user'),
    password:
      passwordFile === undefined
        ? fromEnvironment('upstream.password')
        : readSecretFile(passwordFile, '--password-file'),
    isPasswordFromFile: passwordFile !== undefined,
    userAgent: fromEnvironment('upstream.userAgent'),
    /** The environment lets calendars be in private networks. */
    privateSources: assignments.some(({ key, value }) => key === 'sync.privateSources' && value === true),
    mapping: values.mapping,
    eventType: values['event-type'],
    fields: parseFields(values.field ?? []),
    dateFormat: parseFormat(values['date-format']),
    seconds: parseSeconds(values.seconds),
    publicUrl: parseAddress('--public-url', values['public-url'], 'https://calendar.example.org'),
    webhookUrl: parseWebhookUrl(values['webhook-url']),
    out: values.out ?? INIT_OPTIONS.out.default,
    force: values.force === true,
    yes: values.yes === true,
  };
}

/** Removes what WordPress appends to the site's address. Throws `ConfigError`. */
export function parseSiteUrl(text: string): string {
  const url = parseUrl(text);
  return (url.origin + url.pathname).replace(/\/(wp-json|wp-admin|wp-login\.php)?\/?$/, '');
}

/** The address that `init` got, with a scheme. The `ConfigError` does not quote it: it may hold a password. */
function parseUrl(text: string): URL {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!isWebAddress(withScheme))
    throw new ConfigError('the address', 'is not a web address', 'Give one such as https://example.org.');
  return new URL(withScheme);
}

/** Undefined: the address is that of a site. Calendar programs call the same addresses `webcal:`. */
function parseSource(text: string): Omit<SourceSettings, 'name'> | undefined {
  if (text === '') return undefined;
  const url = parseUrl(text.replace(/^webcal:/i, 'https:'));
  if (/\/events\/v1\/?$/.test(url.pathname)) return { events: url.origin + url.pathname };
  return /\.ics$/i.test(url.pathname) || url.searchParams.has('ical') ? { icalendar: url.href } : undefined;
}

/** The address in an option. Throws `ConfigError` for anything else: files of code and configuration will hold it. */
function parseAddress(option: string, text: string | undefined, example: string): string | undefined {
  if (text !== undefined && !isWebAddress(text))
    throw new ConfigError(option, 'is not a web address', `Write all of it, such as ${example}.`);
  return text;
}

export function parseWebhookUrl(text: string | undefined): string | undefined {
  const example = 'http://10.0.0.5:3001/-/changes';
  const url = parseAddress('--webhook-url', text, example);
  if (url !== undefined && new URL(url).pathname === '/')
    throw new ConfigError('--webhook-url', 'has no path', `The gateway takes webhooks at /-/changes: ${example}.`);
  return url;
}

function parseFormat(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const format = parseDateFormat(text);
  const fault = typeof format === 'string' ? format : format.whyWriteOnly;
  if (fault !== undefined) throw new ConfigError('--date-format', fault, 'Write it as in docs/mapping.md, Dates.');
  return text;
}

function parseSeconds(text: string | undefined): 'utc' | 'wall' | undefined {
  if (text === undefined || text === 'utc' || text === 'wall') return text;
  throw new ConfigError('--seconds', `"${text}" is not one of the choices`, 'They are utc, wall.');
}

/** `event.start_date` -> path; `none` leaves the field out. */
function parseFields(options: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    options.map((option) => {
      const [, kind = '', field = '', path = ''] = /^([a-z]+)\.([a-z_]+)=(\S+)$/.exec(option) ?? [];
      const fields = FIELDS[kind as Kind] ?? {};
      const isDate = kind === 'event' && /^(start|end)_date$/.test(field);
      const isPath = (isDate ? /^[^,]+(,[^,]+)?$/ : /^[^,]+$/).test(path);
      const leavesOutRequired = path === 'none' && fields[field]?.required;
      if (!Object.hasOwn(fields, field) || !isPath || leavesOutRequired)
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
