// `npm run sandbox`: starts the sandbox, prints its address and credentials, and runs until a signal.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { type PayloadSandboxOptions, startPayload } from './payload-site.ts';
import { mariaDbSocket } from './site.ts';
import { type SandboxOptions, startSandbox } from './start.ts';

const HELP = `npm run sandbox -- [options]: a real CMS to try the gateway against

  --cms NAME          wordpress (default) or payload
  --fresh             start over: remove the data folder's site first
  --port N            listen on this port (default: the last one, or 8881 or 8891; 0: any free one)
  --dir DIR           the data folder (default: .sandbox or .sandbox-payload)
  --json              print one line of JSON on standard output when ready
  --quiet             no progress on stderr
  --help              this

Only for Payload:
  --ids KIND          number (default) or uuid

Only for WordPress:
  --native            run it with the php of this machine (the default if that is suitable)
  --wasm              run it with PHP as WebAssembly (needs only npm)
  --mapping NAME      install the companion plugin of this mapping (default: wordpress-meta; none: none)
  --site FILE.php     install this PHP file as a must-use plugin too; may be repeated
  --database KIND     sqlite (default) or mariadb, a server for this sandbox (needs mariadb-server and php-mysql)
  --permalinks KIND   pretty or plain
  --timezone ZONE     the site's time zone, for instance Europe/Berlin
`;

type Options = { json: boolean } & (
  | { cms: 'wordpress'; site: SandboxOptions }
  | { cms: 'payload'; site: PayloadSandboxOptions }
);

/** A site that runs, and what to print about it. */
interface Started {
  stop: () => Promise<void>;
  ended: Promise<void>;
  dataDir: string;
  json: object;
  text: string;
}

const COMMON_OPTIONS = {
  cms: { type: 'string', default: 'wordpress' },
  fresh: { type: 'boolean', default: false },
  port: { type: 'string' },
  dir: { type: 'string' },
  json: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const WORDPRESS_OPTIONS = {
  native: { type: 'boolean', default: false },
  wasm: { type: 'boolean', default: false },
  mapping: { type: 'string' },
  site: { type: 'string', multiple: true, default: [] as string[] },
  database: { type: 'string' },
  permalinks: { type: 'string' },
  timezone: { type: 'string' },
} as const;

const PAYLOAD_OPTIONS = { ids: { type: 'string' } } as const;

function optionsFrom(argv: readonly string[]): Options | 'help' {
  const args = [...argv];
  // The CMS decides which other options there are.
  const { cms, help } = parseArgs({ args, options: COMMON_OPTIONS, strict: false }).values;
  if (help === true) return 'help';
  if (cms === 'wordpress') return wordPressOptions(args);
  if (cms === 'payload') return payloadOptions(args);
  throw new Error(`--cms is wordpress or payload, not "${cms}"`);
}

function payloadOptions(args: string[]): Options {
  const { values } = parseArgs({ args, options: { ...COMMON_OPTIONS, ...PAYLOAD_OPTIONS } });
  const { ids } = values;
  if (ids !== undefined && ids !== 'number' && ids !== 'uuid') {
    throw new Error(`--ids is number or uuid, not "${ids}"`);
  }
  return {
    cms: 'payload',
    json: values.json,
    site: { ...commonOptions(values), ...(ids === undefined ? {} : { ids }) },
  };
}

function wordPressOptions(args: string[]): Options {
  const { values } = parseArgs({ args, options: { ...COMMON_OPTIONS, ...WORDPRESS_OPTIONS } });
  if (values.native && values.wasm) throw new Error('--native and --wasm exclude each other');
  const { database, permalinks } = values;
  if (database !== undefined && database !== 'sqlite' && database !== 'mariadb') {
    throw new Error(`--database is sqlite or mariadb, not "${database}"`);
  }
  if (permalinks !== undefined && permalinks !== 'pretty' && permalinks !== 'plain') {
    throw new Error(`--permalinks is pretty or plain, not "${permalinks}"`);
  }
  return {
    cms: 'wordpress',
    json: values.json,
    site: {
      ...commonOptions(values),
      muPlugins: Object.fromEntries(values.site.map((file) => [basename(file), readFileSync(file, 'utf8')])),
      ...(values.native || values.wasm ? { phpRuntime: values.native ? 'native' : 'wasm' } : {}),
      ...(values.mapping === undefined ? {} : { mapping: values.mapping === 'none' ? false : values.mapping }),
      ...(database === undefined ? {} : { database }),
      ...(permalinks === undefined ? {} : { permalinks }),
      ...(values.timezone === undefined ? {} : { timezone: values.timezone }),
    },
  };
}

function commonOptions(values: { fresh: boolean; quiet: boolean; port?: string; dir?: string }) {
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new Error(`--port is a number from 0 to 65535, not "${values.port}"`);
  }
  return {
    fresh: values.fresh,
    quiet: values.quiet,
    ...(port === undefined ? {} : { port }),
    ...(values.dir === undefined ? {} : { dir: values.dir }),
  };
}

async function startWordPress(options: SandboxOptions): Promise<Started> {
  const { url, phpRuntime, database, dataDir, credentials, ended, stop } = await startSandbox(options);
  const users = Object.entries(credentials).map(([role, user]) => ({ role, ...user }));
  const rows = users.map(
    ({ user, password, applicationPassword }) => `  ${user.padEnd(12)} ${password.padEnd(18)} ${applicationPassword}`,
  );
  const text = [
    `WordPress   ${url}/`,
    `wp-admin    ${url}/wp-admin/`,
    `REST        ${url}/wp-json/`,
    `PHP         ${phpRuntime === 'native' ? 'native' : 'WebAssembly'}; the data folder is ${dataDir}`,
    `Database    ${database === 'mariadb' ? `MariaDB, socket ${mariaDbSocket(dataDir)}` : 'SQLite'}`,
    '',
    `  ${'user'.padEnd(12)} ${'password'.padEnd(18)} application password (for REST)`,
    ...rows,
  ].join('\n');
  return { stop, ended, dataDir, text, json: { url, php: phpRuntime, database, dataDir, users } };
}

async function startPayloadSite(options: PayloadSandboxOptions): Promise<Started> {
  const { url, ids, dataDir, credentials, ended, stop } = await startPayload(options);
  const users = Object.entries(credentials).map(([role, user]) => ({ role, ...user }));
  const rows = users.map(({ email, password, apiKey }) => `  ${email.padEnd(24)} ${password.padEnd(18)} ${apiKey}`);
  const text = [
    `REST        ${url}/api/`,
    `Database    SQLite, ${ids === 'uuid' ? 'UUIDs' : 'numbers'} as ids; the data folder is ${dataDir}`,
    '',
    `  ${'e-mail'.padEnd(24)} ${'password'.padEnd(18)} API key (Authorization: users API-Key ...)`,
    ...rows,
  ].join('\n');
  return { stop, ended, dataDir, text, json: { url, ids, dataDir, users } };
}

async function main(): Promise<void> {
  const options = optionsFrom(process.argv.slice(2));
  if (options === 'help') {
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
  const started = await (options.cms === 'payload' ? startPayloadSite(options.site) : startWordPress(options.site));
  stop = started.stop;
  process.stdout.write(
    options.json ? `${JSON.stringify(started.json)}\n` : `\n${started.text}\n\nCtrl-C stops it.\n\n`,
  );
  await started.ended;
  if (!stopping) {
    await stop();
    throw new Error(`the server exited: see ${started.dataDir}/server.log`);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
