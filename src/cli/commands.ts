// The operator's commands: what each is for, its help, and what runs it.

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ConfigError } from '../errors.ts';
import { loadMapping, mappingNames } from '../mapping/load.ts';
import { CHECK_HELP, CHECK_OPTIONS } from './check-options.ts';
import { INIT_HELP, INIT_OPTIONS, initOptions } from './init-options.ts';
import { wrapped } from './table.ts';

export interface Command {
  about: string;
  help: string;
  /** Runs it; resolves with the exit code, or never for what stays up. */
  run(args: string[]): Promise<number>;
}

/** Options of a command. Throws `ConfigError` for unknown ones. */
export function optionsOf<T extends NonNullable<ParseArgsConfig['options']>>(args: string[], options: T) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // Node's advice on positional arguments, which follows the first sentence, does not fit these commands.
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('. ');
    throw new ConfigError('command line', reason, 'Try --help.');
  }
}

/** Each loads what it alone needs when it runs: `serve` keeps all that is loaded in memory for good. */
export const commands: Record<string, Command> = {
  init: {
    about: 'look at a site, propose a mapping, write the configuration',
    help: INIT_HELP,
    async run(args) {
      const { values, positionals } = optionsOf(args, INIT_OPTIONS);
      const { init } = await import('./init.ts');
      return init(initOptions(values, positionals, process.env));
    },
  },
  check: {
    about: 'verify configuration, mapping and site, and say what to do',
    help: CHECK_HELP,
    async run(args) {
      const { values } = optionsOf(args, CHECK_OPTIONS);
      const { check } = await import('./check.ts');
      return check(values);
    },
  },
  serve: {
    about: 'serve the calendar interface',
    help: `calendar-gateway serve [--config FILE]

Serves calendar/events/v1 in front of the site that the configuration names. Settings come from config/default.json, then from
FILE, then from the environment; the last one counts.

  CALENDAR_UPSTREAM_URL        the site's address, such as https://example.org
  CALENDAR_UPSTREAM_USER       a service account, so that non-public records are copied too
  CALENDAR_UPSTREAM_PASSWORD   its application password
  CALENDAR_MAPPING             a name in mappings/ or a path
  CALENDAR_HOST, CALENDAR_PORT             where to listen (port 3000)
  CALENDAR_ADMIN_HOST, CALENDAR_ADMIN_PORT /live, /ready, /metrics, /status, change notices (127.0.0.1, port 3001)
  CALENDAR_PUBLIC_URL                      the address that answers name
  CALENDAR_MOUNTS                          further prefixes, separated by commas
  CALENDAR_DATA_DIR                        keep the copy in a file here, for a start without waiting
  CALENDAR_SYNC_INTERVAL                   seconds between two looks at the site (10)
  CALENDAR_NOTICE_SECRET                   shared with the snippet's change notices
  CALENDAR_REDIS_URL                       a Redis or Valkey, where several gateways stand before one site

SIGTERM or SIGINT finishes what is under way and ends with 0; a second one ends at once. Exit code 2: a mistake in the configuration.
`,
    async run(args) {
      const { values } = optionsOf(args, { config: { type: 'string' } });
      const { serve } = await import('./serve.ts');
      return serve(values.config);
    },
  },
  snippet: {
    about: 'print the PHP file that a WordPress site needs for a mapping',
    help: `calendar-gateway snippet [--mapping NAME] [--notice-url URL --notice-secret SECRET]

Prints one PHP file for wp-content/mu-plugins/ that registers the post types, taxonomies and fields of the mapping. With a notice
URL (http://GATEWAY:3001/-/changes) and the secret that the gateway has in CALENDAR_NOTICE_SECRET, the site also tells the
gateway of every change at once.

  --mapping NAME        one that comes with the gateway, or the path of a file (default: wordpress-meta):
                        ${wrapped(mappingNames().join(', '), 90).join(`\n${' '.repeat(24)}`)}
  --notice-url URL      where the site reaches the gateway's second port
  --notice-secret TEXT  what both know

  calendar-gateway snippet --mapping wordpress-meta > calendar-gateway.php
`,
    async run(args) {
      const { values } = optionsOf(args, {
        mapping: { type: 'string', default: 'wordpress-meta' },
        'notice-url': { type: 'string' },
        'notice-secret': { type: 'string' },
      });
      const notices = {
        ...(values['notice-url'] === undefined ? {} : { noticeUrl: values['notice-url'] }),
        ...(values['notice-secret'] === undefined ? {} : { noticeSecret: values['notice-secret'] }),
      };
      const { snippet } = await import('./snippet.ts');
      process.stdout.write(snippet(loadMapping(values.mapping), notices));
      return 0;
    },
  },
};

/** What `--help` prints: the commands, in the order in which an operator needs them. */
export function usage(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  return `calendar-gateway COMMAND [options]\n\n${lines.join('\n')}\n\n  COMMAND --help tells more. In this order they lead from a site's address to a gateway in front of it; docs/setup.md goes through it.\n`;
}
