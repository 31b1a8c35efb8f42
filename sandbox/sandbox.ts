// `npm run sandbox`: starts the sandbox, prints its address and credentials, and runs until a signal.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { mariaDbSocket } from './site.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from './start.ts';

const HELP = `npm run sandbox -- [options]: a real WordPress to try the gateway against

  --native            run it with the php of this machine (the default if that is suitable)
  --wasm              run it with PHP as WebAssembly (needs only npm)
  --fresh             start over: remove the data folder's site first
  --port N            listen on this port (default: the last one, or 8881; 0: any free one)
  --dir DIR           the data folder (default: .sandbox)
  --mapping NAME      install the companion plugin of this mapping (default: wordpress-meta; none: none)
  --site FILE.php     install this PHP file as a must-use plugin too; may be repeated
  --database KIND     sqlite (default) or mariadb, a server for this sandbox (needs mariadb-server and php-mysql)
  --permalinks KIND   pretty or plain
  --timezone ZONE     the site's time zone, for instance Europe/Berlin
  --json              print one line of JSON on standard output when ready
  --quiet             no progress on stderr
  --help              this
`;

function optionsFrom(argv: readonly string[]): { help: boolean; json: boolean; sandbox: SandboxOptions } {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      native: { type: 'boolean', default: false },
      wasm: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      port: { type: 'string' },
      dir: { type: 'string' },
      mapping: { type: 'string' },
      site: { type: 'string', multiple: true, default: [] },
      database: { type: 'string' },
      permalinks: { type: 'string' },
      timezone: { type: 'string' },
      json: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.native && values.wasm) throw new Error('--native and --wasm exclude each other');
  const { database, permalinks } = values;
  if (database !== undefined && database !== 'sqlite' && database !== 'mariadb') {
    throw new Error(`--database is sqlite or mariadb, not "${database}"`);
  }
  if (permalinks !== undefined && permalinks !== 'pretty' && permalinks !== 'plain') {
    throw new Error(`--permalinks is pretty or plain, not "${permalinks}"`);
  }
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new Error(`--port is a number from 0 to 65535, not "${values.port}"`);
  }
  return {
    help: values.help,
    json: values.json,
    sandbox: {
      fresh: values.fresh,
      quiet: values.quiet,
      muPlugins: Object.fromEntries(values.site.map((file) => [basename(file), readFileSync(file, 'utf8')])),
      ...(values.native || values.wasm ? { phpRuntime: values.native ? 'native' : 'wasm' } : {}),
      ...(port === undefined ? {} : { port }),
      ...(values.dir === undefined ? {} : { dir: values.dir }),
      ...(values.mapping === undefined ? {} : { mapping: values.mapping === 'none' ? false : values.mapping }),
      ...(database === undefined ? {} : { database }),
      ...(permalinks === undefined ? {} : { permalinks }),
      ...(values.timezone === undefined ? {} : { timezone: values.timezone }),
    },
  };
}

function asJson(sandbox: Sandbox): string {
  const users = Object.entries(sandbox.credentials).map(([role, credentials]) => ({ role, ...credentials }));
  return `${JSON.stringify({ url: sandbox.url, php: sandbox.phpRuntime, database: sandbox.database, dataDir: sandbox.dataDir, users })}\n`;
}

function asText(sandbox: Sandbox): string {
  const rows = Object.values(sandbox.credentials).map(
    ({ user, password, applicationPassword }) => `  ${user.padEnd(12)} ${password.padEnd(18)} ${applicationPassword}`,
  );
  return [
    '',
    `WordPress   ${sandbox.url}/`,
    `wp-admin    ${sandbox.url}/wp-admin/`,
    `REST        ${sandbox.url}/wp-json/`,
    `PHP         ${sandbox.phpRuntime === 'native' ? 'native' : 'WebAssembly'}; the data folder is ${sandbox.dataDir}`,
    `Database    ${sandbox.database === 'mariadb' ? `MariaDB, socket ${mariaDbSocket(sandbox.dataDir)}` : 'SQLite'}`,
    '',
    `  ${'user'.padEnd(12)} ${'password'.padEnd(18)} application password (for REST)`,
    ...rows,
    '',
    'Ctrl-C stops it.',
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const { help, json, sandbox: options } = optionsFrom(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return;
  }
  let stopping = false;
  let stop = async (): Promise<void> => {}; // until it runs, exiting this process stops its children
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping = true;
      void stop().then(() => process.exit(0));
    });
  }
  const sandbox = await startSandbox(options);
  stop = sandbox.stop;
  process.stdout.write(json ? asJson(sandbox) : asText(sandbox));
  await sandbox.ended;
  if (!stopping) {
    await stop();
    throw new Error(`the server exited: see ${sandbox.dataDir}/server.log`);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
