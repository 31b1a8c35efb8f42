// All settings: type, limits, default and meaning of each, as JSON Schema. The type of the configuration, the
// environment variables, docs/configuration.md and config/schema.json follow from here.

import { LIMITS } from './fixed-limits.ts';
import { merged } from './model/json.ts';

/** The pages exist in these; `http/pages/texts/` has a file for each. */
export const PAGE_LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl'] as const;

/** Of the API, as WordPress names one. Its path is always served, beside the configured mounts. */
export const NAMESPACE = 'calendar/events/v1';

const INT32_MAX = 2_147_483_647;

const section = <const Properties>(description: string, properties: Properties) =>
  ({ type: 'object', default: {}, additionalProperties: false, description, properties }) as const;

const integer = (limits: { default: number; minimum: number; maximum?: number }, description: string) =>
  ({ type: 'integer', maximum: INT32_MAX, ...limits, description }) as const;

const flag = (byDefault: boolean, description: string) =>
  ({ type: 'boolean', default: byDefault, description }) as const;

/** With the rule `writeOnly` a credential: it may also come from a file, and no message shows it. */
const text = <const Rules>(rules: Rules, description: string) => ({ type: 'string', ...rules, description }) as const;

const word = <const Words extends readonly string[]>(words: Words, byDefault: Words[number], description: string) =>
  ({ type: 'string', enum: words, default: byDefault, description }) as const;

const list = <const Item>(maxItems: number, items: Item, description: string) =>
  ({ type: 'array', default: [], uniqueItems: true, maxItems, items, description }) as const;

/** A setting without a default is absent unless an operator sets it. */
export const CONFIG_SCHEMA = section("Keys of an operator's configuration file. The file may leave out every key.", {
  upstream: section('The CMS behind the gateway.', {
    url: text(
      { minLength: 1, format: 'base-address' },
      'URL of the site, such as https://www.example.org; its REST API is discovered. Required if there are no sources.',
    ),
    user: text(
      { minLength: 1, pattern: '^[^:]+$', writeOnly: true },
      'User name, without a colon, of a service account: it reads images uploaded to a draft, and with readAs all.',
    ),
    password: text(
      { minLength: 1, writeOnly: true },
      "The service account's application password (WordPress: Users > Profile), or its API key (Payload).",
    ),
    readAs: word(
      ['visitor', 'account'],
      'visitor',
      'Whose view everybody gets: account only for a site that shows its visitors nothing.',
    ),
    userAgent: text(
      { default: 'calendar-gateway', maxLength: 200, pattern: '^[ -~]*calendar-gateway[ -~]*$' },
      'User-Agent of calls to the CMS, with calendar-gateway in it, if a firewall lets only certain ones through.',
    ),
    limits: section('Limits of calls to the CMS.', {
      connections: integer(
        { default: 8, minimum: 1, maximum: 256 },
        'Concurrent calls to the CMS. From four on, anonymous lookups, logins, callers and the sync have a share each.',
      ),
      deadlineMs: integer(
        { default: 15_000, minimum: 1, maximum: 600_000 },
        'Timeout for one call to the CMS with queueing and retries, in milliseconds. Raise it for a slow site.',
      ),
    }),
  }),
  mapping: text(
    { default: 'wordpress-meta', minLength: 1 },
    'How the CMS stores the records: a name in mappings/, or the path of your own file.',
  ),
  listen: section('Addresses and ports of the gateway.', {
    host: text(
      { default: '0.0.0.0', minLength: 1 },
      'Address to listen on; 0.0.0.0 is every IPv4 address of this machine.',
    ),
    port: integer(
      { default: 3000, minimum: 0, maximum: 65_535 },
      'Port of the API and the pages; 0 takes any free port.',
    ),
    adminHost: text(
      { default: '127.0.0.1', minLength: 1 },
      'Address of the admin port. Leave it at loopback unless a firewall protects the other address.',
    ),
    adminPort: integer(
      { default: 3001, minimum: 0, maximum: 65_535 },
      'Port for health, metrics and webhooks; 0 takes any free port.',
    ),
    trustProxies: {
      type: ['boolean', 'array'],
      default: false,
      description:
        'Proxies whose X-Forwarded-For counts: none, every peer (true), or these. Behind others all clients are one.',
      items: text({ format: 'network' }, 'An address or a network such as 10.0.0.0/8 or ::1.'),
      uniqueItems: true,
      maxItems: 100,
    },
  }),
  publicUrl: text(
    { minLength: 1, format: 'base-address' },
    'Public base URL of the gateway, used in links; http://localhost:PORT if absent.',
  ),
  mounts: list(
    20,
    text(
      // Not a path of the gateway itself.
      { pattern: '^(?!/(docs|mcp)$)(/[A-Za-z0-9_~][A-Za-z0-9._~-]*)+$' },
      'A path such as /wp-json/tribe/events/v1.',
    ),
    `Path prefixes under which the API is served, in addition to /${NAMESPACE}.`,
  ),
  allowedOrigins: list(
    100,
    text(
      { pattern: '^https?://[a-z0-9.:\\[\\]-]+$' },
      'An origin in lower case such as https://www.example.org, without a path.',
    ),
    'Sites whose scripts may read responses; empty: all, as in WordPress. Name those where staff log in.',
  ),
  mcp: word(
    ['off', 'read', 'write'],
    'read',
    'Tools for AI assistants at /mcp: none, those that read, or also those that write (docs/agents.md).',
  ),
  dataDir: text(
    { minLength: 1 },
    'Directory that keeps the replica across restarts; absent: a temporary replica, synced at every start.',
  ),
  sync: section('How the replica follows the CMS.', {
    intervalS: { type: 'number', default: 10, description: 'Poll interval in seconds.', minimum: 0.1, maximum: 86_400 },
    sourcesIntervalS: integer(
      { default: 900, minimum: 60, maximum: 86_400 },
      'Interval in seconds at which each source is read. Their servers belong to others: be sparing.',
    ),
    privateSources: flag(false, 'Whether sources may be in private networks; without it none reaches them.'),
  }),
  // A feed's address may be a secret of its own, as the private address of a Google calendar.
  sources: {
    type: 'array',
    default: [],
    writeOnly: true,
    description: 'Read-only calendars whose events are served too (docs/sources.md). The variable takes JSON.',
    maxItems: 100,
    items: {
      type: 'object',
      description: 'A name, and the address of one calendar.',
      additionalProperties: false,
      required: ['name'],
      oneOf: [{ required: ['icalendar'] }, { required: ['events'] }],
      properties: {
        name: text(
          { pattern: '^[a-z0-9-]{1,40}$' },
          'What events name as their source. Their ids derive from it: another name makes other events.',
        ),
        icalendar: text(
          { minLength: 1, maxLength: 2000, format: 'web-address' },
          'Address of an iCalendar file, such as https://library.example/events.ics.',
        ),
        events: text(
          { minLength: 1, maxLength: 2000, format: 'web-address' },
          'Address of an events/v1 API, such as https://theatre.example/wp-json/tribe/events/v1.',
        ),
        categories: {
          type: 'array',
          description: 'Names of categories that every event of this source gets, besides its own.',
          uniqueItems: true,
          maxItems: 20,
          items: text({ minLength: 1, maxLength: 200 }, 'A name, such as Library.'),
        },
        merge: {
          type: 'boolean',
          description: 'False: the events of this source are never taken for those of another one.',
        },
      },
    },
  },
  lists: section('Page sizes of lists.', {
    // A greater one raises `maxPerPage` (`loadConfig`).
    perPage: integer({ default: 4, minimum: 1, maximum: 500 }, 'Default of per_page.'),
    maxPerPage: integer(
      { default: 50, minimum: 1, maximum: 500 },
      'Maximum of per_page, up to 500; larger values are clamped. 500 take six times as long as 50.',
    ),
  }),
  cache: section('Caching of responses.', {
    maxAgeS: integer({ default: 5, minimum: 0 }, 'max-age of public responses, in seconds.'),
  }),
  limits: section('Limits for one client.', {
    requestsPerMinute: integer(
      { default: 6000, minimum: 1 },
      'Requests per minute from one IP address (an IPv6 /48). A large uncached list or feed counts as several.',
    ),
  }),
  cost: section('Currency of costs without one, on a site whose event plugin has none in its settings.', {
    symbol: text({ default: '$', maxLength: 10 }, 'Currency symbol.'),
    position: word(['prefix', 'postfix'], 'prefix', 'Position of the symbol beside the amount.'),
    code: text(
      { default: '', pattern: '^([A-Z]{3})?$' },
      'ISO code, such as EUR, if the symbol means several currencies.',
    ),
  }),
  pages: section('HTML pages.', {
    landing: flag(true, 'Landing page at /: the calendar.'),
    name: text({ minLength: 1, maxLength: 100 }, "Name of the calendar on the pages; the site's name if absent."),
    logo: text(
      { maxLength: 2000, format: 'web-address' },
      "URL of a logo beside the name, on any host; the gateway's own icon if absent.",
    ),
    accent: text(
      { maxLength: 7, pattern: '^#[0-9a-fA-F]{6}$' },
      'Colour of links and buttons on light screens, such as #1d4ed8, with a contrast of at least 4.5 to #f6f7fb.',
    ),
    locale: text(
      { maxLength: 5, pattern: `^(${PAGE_LANGUAGES.join('|')})(-[A-Z]{2})?$` },
      `Language of the page, ${PAGE_LANGUAGES.join(', ')}, such as de-AT; absent: that of each visitor.`,
    ),
  }),
  webhook: section('Webhooks, by which the CMS notifies the gateway of changes.', {
    secret: text(
      { minLength: 8, writeOnly: true },
      'Secret with which the companion plugin signs its webhooks, at least eight characters; absent: no webhooks.',
    ),
  }),
  push: {
    type: 'array',
    writeOnly: true,
    description:
      'Receivers of outgoing webhooks (docs/webhooks.md). As JSON in the variable, or in one line of the file.',
    maxItems: 20,
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      oneOf: [{ required: ['secret'] }, { required: ['quietS'] }],
      dependencies: { method: ['quietS'] },
      description: 'One receiver: url with secret, for signed messages, or with quietS, for a build hook.',
      properties: {
        url: text({ maxLength: 2000, format: 'web-address' }, 'Address, which may hold a secret in its path.'),
        secret: text(
          { pattern: '^whsec_([A-Za-z0-9+/]{4}){7,21}[A-Za-z0-9+/]{2}([A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$' },
          'Secret that signs each message: whsec_ and 24 to 64 random bytes in base64.',
        ),
        kinds: {
          type: 'array',
          description: 'Kinds of records whose changes it gets; absent: all.',
          minItems: 1,
          items: { type: 'string', enum: ['event', 'venue', 'organizer', 'category', 'tag'] },
        },
        quietS: {
          type: 'integer',
          description: 'Makes it a build hook: one empty request once nothing has changed for so many seconds.',
          minimum: 1,
          maximum: 86_400,
        },
        method: { type: 'string', enum: ['GET', 'POST'], description: 'Of a build hook alone; POST if absent.' },
        allowPrivate: { type: 'boolean', description: 'Whether the address may be in a private network.' },
      },
    },
  },
  redisUrl: text(
    { minLength: 1, format: 'redis-address', writeOnly: true },
    'Redis or Valkey of several gateways of one site (docs/scaling.md), such as redis://cache:6379.',
  ),
  log: section('Logging.', {
    level: word(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'info',
      'Minimum level of log lines; warn leaves out requests below status 500.',
    ),
  }),
});

/** What a schema accepts: of `{ type: 'integer' }` number, of `{ enum: ['off', 'read'] }` these two words. */
type ValueOf<Schema> = Schema extends { properties: infer Properties }
  ? SectionOf<Properties> & RequiredOf<Properties, Schema>
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { type: 'integer' | 'number' }
      ? number
      : Schema extends { type: 'boolean' }
        ? boolean
        : Schema extends { type: 'array'; items: infer Item }
          ? ValueOf<Item>[]
          : Schema extends { type: readonly ['boolean', 'array'] }
            ? boolean | string[]
            : string;

/** Of `pages`: `{ landing: boolean; name?: string }`. Keys with a default are there, the others may be absent. */
type SectionOf<Properties> = {
  [Key in keyof Properties as Properties[Key] extends HasDefault ? Key : never]: ValueOf<Properties[Key]>;
} & { [Key in keyof Properties as Properties[Key] extends HasDefault ? never : Key]?: ValueOf<Properties[Key]> };

type HasDefault = { default: unknown };

/** Of an item of `push`, which requires `url`: `{ url: string }`. Its `SectionOf` has `url?: string`. */
type RequiredOf<Properties, Schema> = Schema extends { required: readonly (infer Key extends keyof Properties)[] }
  ? { [Name in Key]: ValueOf<Properties[Name]> }
  : unknown;

type Settings = ValueOf<typeof CONFIG_SCHEMA>;
/** The configuration with all defaults. Without `upstream.url` there is no CMS: `loadConfig` requires sources then. */
export type Config = Settings & typeof LIMITS;
/** The schema requires the name and one of the two addresses, `icalendar` or `events`. */
export type SourceSettings = Settings['sources'][number];

/** The values of all settings that have a default, and the fixed limits beside them. */
export const DEFAULTS: Config = merged(LIMITS, defaultsOf(CONFIG_SCHEMA) as Settings);

function defaultsOf(schema: { properties?: object; default?: unknown }): unknown {
  const { properties, default: value } = schema;
  if (properties === undefined) return value;
  const values = Object.entries(properties).map(([key, below]) => [key, defaultsOf(below)]);
  return Object.fromEntries(values.filter(([, below]) => below !== undefined));
}
