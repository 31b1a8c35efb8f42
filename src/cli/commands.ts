// The operator's commands: the options and the help of each, and the function that runs it.

import { adminUrl, loadConfig, SETTINGS, settingsWithoutSecrets } from '../config.ts';
import { loadMapping, mappingNames } from '../mapping/load.ts';
import { flag, optionsHelp, parseOptions, textOption } from './command-line.ts';
import { INIT_HELP, INIT_OPTIONS, parseInitOptions, parseWebhookUrl } from './init/options.ts';
import { columns } from './table.ts';

export interface Command {
  summary: string;
  help: string;
  /** Resolves with the exit code. */
  run(args: string[]): Promise<number>;
}

const CONFIG = { config: textOption('FILE', 'settings; those of the environment win, see serve --help') } as const;

const CHECK_OPTIONS = {
  ...CONFIG,
  write: flag('also try each field on a draft: write it, read it back, clear it; then delete the draft for good'),
  json: flag('machine-readable: {"ok", "counts", "rows": [{"area", "name", "state", "message", "advice"}]}'),
} as const;

const PLUGIN_OPTIONS = {
  config: textOption('FILE', 'take the mapping and the webhook secret from the configuration and the environment'),
  mapping: textOption('NAME', 'one that comes with the gateway, or the path of a file (default: wordpress-meta)'),
  'webhook-url': textOption('URL', "where the site reaches the gateway's admin port: http://GATEWAY:3001/-/changes"),
  'webhook-secret': textOption('TEXT', 'signs the webhooks of WordPress; not needed with --config'),
} as const;

const HEALTH_TIMEOUT_MS = 3000;

/** Each imports its code when it runs: `serve` would keep that of the others in memory. */
export const commands: Record<string, Command> = {
  init: {
    summary: 'probe a site, propose a mapping, write the configuration',
    help: INIT_HELP,
    async run(args) {
      const { values, positionals } = parseOptions(args, INIT_OPTIONS, true);
      const { init } = await import('./init/init.ts');
      return init(parseInitOptions(values, positionals, process.env));
    },
  },
  check: {
    summary: 'verify configuration, mapping and site, with advice on each problem',
    help: `calendar-gateway check [--config FILE] [--write] [--json]

Verifies that the site, the service account and the mapping fit together, and reads each source. It takes the same
configuration as serve.

${optionsHelp(CHECK_OPTIONS)}

  calendar-gateway check --config calendar-gateway/config.json --write   after init, with secrets.env in the environment

Exit code: 0 nothing failed (there may be warnings), 1 something failed, 2 the checks could not run: a mistake in the
configuration, or a site that does not answer or refuses the account.
`,
    async run(args) {
      const { values } = parseOptions(args, CHECK_OPTIONS);
      const { check } = await import('./check/check.ts');
      return check(values);
    },
  },
  serve: {
    summary: 'serve the calendar API',
    help: `calendar-gateway serve [--config FILE]

Serves calendar/events/v1 in front of the site in the configuration. Settings come from FILE (or CALENDAR_CONFIG) and
from the environment, which wins. Their defaults are in docs/configuration.md.

${columns(SETTINGS.map(({ variable, description }) => [`  ${variable}`, description])).join('\n')}

User, password, webhook secret and Redis URL may each be in a file: CALENDAR_UPSTREAM_PASSWORD_FILE names it.

SIGTERM or SIGINT finishes requests in flight and exits with 0; a second one exits immediately. Exit code 2: a mistake
in the configuration.
`,
    async run(args) {
      const { values } = parseOptions(args, CONFIG);
      const { serve } = await import('./serve.ts');
      return serve(values.config);
    },
  },
  config: {
    summary: 'print the settings that serve would use',
    help: `calendar-gateway config [--config FILE]

Prints the effective settings as JSON: the defaults, FILE (or CALENDAR_CONFIG), and the environment, which wins. A
secret is shown as "(secret)".

Exit code: 0 printed, 2 a mistake in the configuration.
`,
    async run(args) {
      const { values } = parseOptions(args, CONFIG);
      const warn = (message: string) => process.stderr.write(`${message}\n`);
      const config = loadConfig({ file: values.config, env: process.env, warn });
      process.stdout.write(`${JSON.stringify(settingsWithoutSecrets(config), null, 2)}\n`);
      return 0;
    },
  },
  health: {
    summary: 'ask a running gateway whether it is ready',
    help: `calendar-gateway health [--config FILE]

Asks /ready on the admin port of the gateway with the same configuration, on this machine or in this container, and
prints the answer.

Exit code: 0 ready, 1 not ready or no answer within three seconds, 2 a mistake in the configuration.
`,
    async run(args) {
      const { values } = parseOptions(args, CONFIG);
      // `loadConfig` demands the address of a site, or sources. `health` asks neither, so that any address will do.
      const env = { ...process.env, CALENDAR_UPSTREAM_URL: 'http://localhost' };
      const url = adminUrl(loadConfig({ file: values.config, env }).listen, '/ready');
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
        process.stdout.write(await response.text());
        return response.ok ? 0 : 1;
      } catch (error) {
        const { message, cause } = error as Error;
        const reason = cause instanceof Error ? cause.message : message;
        process.stdout.write(
          `${url} does not answer: ${reason}\n  Start the gateway, or give the configuration that it ` +
            'runs with: --config, CALENDAR_ADMIN_HOST, CALENDAR_ADMIN_PORT.\n',
        );
        return 1;
      }
    },
  },
  plugin: {
    summary: 'print the plugin that a site needs for a mapping',
    help: `calendar-gateway plugin [--config FILE | --mapping NAME] [--webhook-url URL [--webhook-secret SECRET]]

Prints the plugin to standard output: redirect it into a file, as below. For WordPress it is one PHP file for
wp-content/mu-plugins/, which registers the types and fields of the mapping; for Payload one TypeScript file, whose
first lines say how to add it. With a webhook URL the site tells the gateway of every change immediately.

${optionsHelp(PLUGIN_OPTIONS)}

Mappings: ${mappingNames().join(', ')}

  calendar-gateway plugin --mapping wordpress-meta > calendar-gateway-companion.php
  calendar-gateway plugin --mapping payload > calendar-gateway.ts
`,
    async run(args) {
      const { values } = parseOptions(args, PLUGIN_OPTIONS);
      const { SITE_PLUGINS } = await import('./plugin/companion-plugin.ts');
      const config = values.config === undefined ? undefined : loadConfig({ file: values.config, env: process.env });
      const mapping = loadMapping(values.mapping ?? config?.mapping ?? 'wordpress-meta');
      const webhookSecret = values['webhook-secret'] ?? config?.webhook.secret;
      const options = { webhookUrl: parseWebhookUrl(values['webhook-url']), webhookSecret };
      process.stdout.write(SITE_PLUGINS[mapping.cms].text(mapping, options));
      return 0;
    },
  },
};

export function usage(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`);
  return `calendar-gateway COMMAND [options]

${lines.join('\n')}

  COMMAND --help tells more, --version prints the version. init, check and serve lead from a site's address to a
  gateway in front of it: see docs/setup.md. If the site needs a plugin, init writes it too.
`;
}
