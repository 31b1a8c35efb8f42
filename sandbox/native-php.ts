// Runs a site with the PHP of this machine and its built-in server, four requests at a time.

import { join } from 'node:path';
import { PHP_SOURCES } from './paths.ts';
import { type ProcessGroup, run, startGroup } from './processes.ts';
import { documentRoot } from './site.ts';
import type { DatabaseKind } from './wp-config.ts';

export interface PhpRunner {
  /** Starts the web server, which is not ready immediately. */
  serve(port: number): ProcessGroup;
  /** Runs a PHP file of the document root. Resolves with its output. */
  runPhp(fileInRoot: string): Promise<string>;
  /** Runs WP-CLI. Resolves with its output. */
  wp(args: readonly string[]): Promise<string>;
}

/** Why this machine's PHP cannot run the site; undefined if it can. */
export async function nativePhpProblem(database: DatabaseKind = 'sqlite'): Promise<string | undefined> {
  const extension = database === 'mariadb' ? 'mysqli' : 'pdo_sqlite';
  const probe = `echo json_encode([PHP_VERSION, PHP_VERSION_ID, extension_loaded("${extension}")]);`;
  try {
    const [version, id, loaded] = JSON.parse(await run(['php', '-r', probe])) as [string, number, boolean];
    if (id < 80100) return `php is ${version}, older than 8.1`;
    return loaded ? undefined : `php ${version} has no ${extension}`;
  } catch {
    return 'there is no php on the path';
  }
}

/** Overrides the machine's php.ini. */
function settings(dataDir: string): string[] {
  const values = {
    'opcache.enable': '1',
    'opcache.enable_cli': '1',
    'opcache.memory_consumption': '96',
    'opcache.max_accelerated_files': '8000',
    'opcache.validate_timestamps': '1',
    'opcache.revalidate_freq': '1',
    display_errors: '0',
    log_errors: '1',
    error_log: join(dataDir, 'php.log'),
    memory_limit: '512M',
    upload_max_filesize: '64M',
    post_max_size: '64M',
    max_execution_time: '120',
    'date.timezone': 'UTC',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
}

export function nativePhpRunner(dataDir: string, wpCli: string): PhpRunner {
  const root = documentRoot(dataDir);
  const options = settings(dataDir);
  return {
    serve: (port) =>
      startGroup(['php', ...options, '-S', `127.0.0.1:${port}`, '-t', root, join(PHP_SOURCES, 'router.php')], {
        cwd: root,
        env: { ...process.env, PHP_CLI_SERVER_WORKERS: '4' },
        logFile: join(dataDir, 'server.log'),
      }),
    runPhp: (file) => run(['php', ...options, join(root, file)], { cwd: root }),
    wp: (args) => run(['php', ...options, wpCli, '--allow-root', `--path=${root}`, ...args], { cwd: root }),
  };
}
