// A WordPress with a real plugin, set up as an operator does it: filled, `init`, companion plugin, `check`, `serve`.

import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { freePort } from '../free-port.ts';
import { type CliResult, runCli, settingsIn } from '../live/cli-process.ts';
import { basicAuth, sendJson, untilPolled } from '../live/json-client.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';
import type { PluginRequest, PluginSite, PluginTest, SiteOptions } from './plugin-test.ts';

export interface StartedSite extends PluginSite {
  close(): Promise<void>;
}

const POLL_S = 2;
const COMPANION_FILE = 'calendar-gateway-companion.php';
const READY_MS = 120_000;
/** The checks are about plugins, not about the speed of this machine. */
const PATIENCE = { CALENDAR_UPSTREAM_LIMITS_DEADLINE_MS: '90000' };

/** A classic theme with nothing but the loop. */
const CLASSIC_THEME: Readonly<Record<string, string>> = {
  'style.css': '/*\nTheme Name: Classic\n*/\n',
  'header.php':
    '<!DOCTYPE html><html <?php language_attributes(); ?>><head><?php wp_head(); ?></head><body <?php body_class(); ?>>\n',
  'footer.php': '<?php wp_footer(); ?></body></html>\n',
  'index.php':
    '<?php get_header(); while ( have_posts() ) { the_post(); the_title( "<h1>", "</h1>" ); the_content(); } get_footer();\n',
};

/**
 * Builds the site, and starts the gateway if `init` accepts the site. The caller closes it.
 * @param source the plugin's folder
 * @param fillFile the PHP file that fills the site
 */
export async function startPluginSite(
  source: string,
  slug: string,
  plugin: PluginTest,
  options: SiteOptions,
  fillFile: string,
): Promise<StartedSite> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-plugin-'));
  let sandbox: Sandbox | undefined;
  let gateway: GatewayProcess | undefined;
  const close = async () => {
    await gateway?.stop();
    await sandbox?.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    // Real plugins use SQL that only a real database understands.
    sandbox = await startSandbox({
      dir: join(dir, 'site'),
      port: 0,
      fresh: true,
      quiet: true,
      mapping: false,
      database: 'mariadb',
    });
    const { wp, credentials } = sandbox;
    const root = join(sandbox.dataDir, 'wordpress');
    const url = sandbox.url + (options.folder ?? '');
    if (options.folder !== undefined) {
      symlinkSync('.', join(root, options.folder));
      const config = join(root, 'wp-config.php');
      writeFileSync(config, readFileSync(config, 'utf8').replaceAll(`'${sandbox.url}'`, `'${url}'`));
    }
    const runPhpFile = async <T>(file: string): Promise<T> => {
      const output = await wp(['eval-file', file, '--user=admin']);
      const [last = ''] = output.trimEnd().split('\n').slice(-1);
      try {
        return JSON.parse(last) as T;
      } catch {
        throw new Error(`${file} printed no JSON: ${output.slice(-1000)}`);
      }
    };
    const php = async <T>(body: string): Promise<T> => {
      const file = join(dir, 'call.php');
      writeFileSync(
        file,
        `<?php\n$result = ( static function () {\nglobal $wpdb;\n${body}\n} )();\necho "\\n", wp_json_encode( $result );\n`,
      );
      return runPhpFile<T>(file);
    };

    if (options.theme === 'classic') {
      const theme = join(root, 'wp-content/themes/classic');
      mkdirSync(theme, { recursive: true });
      for (const [name, text] of Object.entries(CLASSIC_THEME)) writeFileSync(join(theme, name), text);
      await wp(['theme', 'activate', 'classic']);
    }
    const folder = join(root, 'wp-content/plugins', slug);
    cpSync(source, folder, { recursive: true });
    plugin.prepare?.(folder);
    await wp(['plugin', 'activate', slug]);
    for (const command of plugin.setup ?? []) await wp([...command]);
    const ids = await runPhpFile<Record<string, number>>(fillFile);
    await wp(['rewrite', 'flush']);

    const adminPort = await freePort();
    const { user, applicationPassword } = credentials.admin;
    const out = join(dir, 'calendar-gateway');
    writeFileSync(join(dir, 'application-password'), applicationPassword);
    const runInit = (...more: string[]): Promise<CliResult> =>
      runCli(
        ['init', url, '--user', user, '--password-file', 'application-password', '--yes', '--out', out].concat(
          ['--webhook-url', `http://127.0.0.1:${adminPort}/-/changes`],
          more,
        ),
        { cwd: dir },
      );
    const setCompanionPlugin = (isInstalled: boolean): void => {
      const target = join(root, 'wp-content/mu-plugins', COMPANION_FILE);
      if (isInstalled) copyFileSync(join(out, COMPANION_FILE), target);
      else rmSync(target, { force: true });
    };
    let init = await runInit();
    let check: CliResult | undefined;
    if (init.code === 0) {
      if (existsSync(join(out, COMPANION_FILE))) setCompanionPlugin(true);
      if (init.text.includes('run the same init with --force')) {
        // With the companion plugin, init sees the values.
        const again = await runInit('--force');
        init = { ...again, text: `${init.text}\n${again.text}` };
        setCompanionPlugin(true);
      }
      const settings = { ...settingsIn(join(out, 'secrets.env')), ...PATIENCE, CALENDAR_ADMIN_PORT: String(adminPort) };
      const isReadOnly = loadMapping(configIn(out).mapping).kinds.event.readOnly;
      const args = ['check', '--config', join(out, 'config.json'), '--json', ...(isReadOnly ? [] : ['--write'])];
      if (options.isChecked !== false) check = await runCli(args, { cwd: dir, env: settings });
    }
    const start = async (intervalS: number, env: Readonly<Record<string, string>> = {}): Promise<void> => {
      gateway = await startGateway({
        transport: 'process',
        cmsUrl: url,
        config: { ...configIn(out), log: { level: 'warn' }, limits: { requestsPerMinute: 1_000_000 } },
        env: {
          ...settingsIn(join(out, 'secrets.env')),
          ...PATIENCE,
          CALENDAR_ADMIN_PORT: String(adminPort),
          CALENDAR_SYNC_INTERVAL: String(intervalS),
          CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
          ...env,
        },
      });
      await gateway.untilReady(READY_MS);
    };
    if (init.code === 0) await start(POLL_S);

    const runningGateway = (): GatewayProcess => {
      if (gateway === undefined) throw new Error('init refused the site: there is no gateway');
      return gateway;
    };
    const authorize = (as: PluginRequest['as']) =>
      as === undefined || as === 'anonymous' ? undefined : basicAuth(credentials[as]);
    return {
      options,
      url,
      ids,
      init,
      check,
      php,
      setCompanionPlugin,
      close,
      get gateway() {
        return runningGateway();
      },
      request(path, { as, mount = '/calendar/events/v1', ...rest } = {}) {
        const actor = as ?? ((rest.method ?? 'GET') === 'GET' ? 'anonymous' : 'admin');
        const target = `${runningGateway().url}${mount}/${path}`;
        return sendJson(target, { ...rest, authorization: authorize(actor) });
      },
      wordpress: (path, { as = 'admin', ...rest } = {}) =>
        sendJson(`${url}/wp-json/${path}`, { ...rest, authorization: authorize(as) }),
      async page(path) {
        const response = await fetch(`${url}${path}`);
        return { status: response.status, text: visibleText(await response.text()) };
      },
      rows: (postId) =>
        php(
          `return $wpdb->get_results( 'SELECT meta_key, meta_value FROM ' . $wpdb->postmeta . ' WHERE post_id = ${postId} ORDER BY meta_key, meta_id', ARRAY_N );`,
        ),
      nextPoll: () => untilPolled(runningGateway().adminUrl),
      async restartGateway(intervalS = POLL_S, env) {
        await gateway?.stop();
        await start(intervalS, env);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The configuration that `init` wrote. */
function configIn(out: string): { mapping: string } {
  const config = JSON.parse(readFileSync(join(out, 'config.json'), 'utf8')) as { mapping: string };
  return { ...config, mapping: config.mapping.endsWith('.json') ? join(out, config.mapping) : config.mapping };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#039': "'", nbsp: ' ' };

/** Without scripts, styles and tags, on one line. */
function visibleText(html: string): string {
  return html
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}
