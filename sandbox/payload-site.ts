// Starts a real Payload: installs its packages if needed, runs the site of `payload/`, and waits until it answers.

import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { choosePort, lockDataDir } from './data-dir.ts';
import { ensurePackages } from './packages.ts';
import { defaultDataDir, PAYLOAD_ROOT } from './paths.ts';
import { type ProcessGroup, startGroup } from './processes.ts';
import { noProgress, type Progress, printProgress } from './progress.ts';

export const PAYLOAD_ROLES = ['admin', 'editor', 'author', 'subscriber'] as const;
export type PayloadRole = (typeof PAYLOAD_ROLES)[number];

/** The password is for `POST /api/users/login`, the API key for `Authorization: users API-Key ...`. */
export interface PayloadCredentials {
  email: string;
  password: string;
  apiKey: string;
}

/**
 * `number`: counted by the database; `uuid`: as on MongoDB or with `idType: 'uuid'`, the gateway must number
 * the records.
 */
export type PayloadIds = 'number' | 'uuid';

export interface PayloadSandboxOptions {
  /** Default: the port of the last start or 8891, or another one if that is in use. 0: any free port. */
  port?: number;
  /** The data folder; default `.sandbox-payload/` of the project. */
  dir?: string;
  /** Removes the folder's site first. */
  fresh?: boolean;
  /** Default: that of the site, or `number`. */
  ids?: PayloadIds;
  /** Where the site sends webhooks; default: nowhere. */
  webhook?: { url: string; secret: string };
  /** No progress on stderr. */
  quiet?: boolean;
  /** Receives the progress instead of stderr. */
  onProgress?: Progress;
}

export interface PayloadSandbox {
  /** Without a trailing slash. The REST API is below `/api`. */
  url: string;
  ids: PayloadIds;
  dataDir: string;
  credentials: Record<PayloadRole, PayloadCredentials>;
  /** Settles when the server has exited, for whatever reason. */
  ended: Promise<void>;
  /** Stops the server. Keeps the data. */
  stop(): Promise<void>;
}

/** What a site keeps between starts. */
interface SiteState {
  port: number;
  ids: PayloadIds;
  secret: string;
  users: Record<PayloadRole, PayloadCredentials>;
}

const FIRST_PORT = 8891;
const READY_TIMEOUT_MS = 180_000;
const STATE_FILE = 'site.json';
const DATABASE_FILE = 'payload.db';

/**
 * Starts the site of a data folder, or a new one with the users {@link PAYLOAD_ROLES}.
 * @throws Error if a download fails, the port or folder is in use, or Payload does not answer
 */
export async function startPayload(options: PayloadSandboxOptions = {}): Promise<PayloadSandbox> {
  const progress = options.onProgress ?? (options.quiet ? noProgress : printProgress());
  const dataDir = resolve(options.dir ?? defaultDataDir('payload'));
  const before = options.fresh ? undefined : readState(dataDir);
  const ids = options.ids ?? before?.ids ?? 'number';
  if (before !== undefined && ids !== before.ids) {
    throw new Error(`the site in ${dataDir} has no ${ids} ids: start over with --fresh, or name another folder`);
  }
  const unlock = lockDataDir(dataDir, () => {
    if (before === undefined) removeSite(dataDir);
  });
  try {
    await ensurePackages('payload', progress);
    const state: SiteState = {
      port: await choosePort(options.port, before?.port ?? FIRST_PORT),
      ids,
      secret: before?.secret ?? randomBytes(24).toString('base64url'),
      users: before?.users ?? newUsers(),
    };
    writeFileSync(join(dataDir, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    progress('starting Payload');
    const server = startServer(dataDir, state, options.webhook);
    const url = `http://127.0.0.1:${state.port}`;
    try {
      await untilReady(url, server, dataDir);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return {
      url,
      ids,
      dataDir,
      credentials: state.users,
      ended: server.ended,
      async stop() {
        await server.stop();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function readState(dataDir: string): SiteState | undefined {
  const file = join(dataDir, STATE_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SiteState) : undefined;
}

/** Removes a site with all its data, but no folder with other contents, such as a mistyped one. */
function removeSite(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  if (!existsSync(join(dataDir, STATE_FILE)) && readdirSync(dataDir).length > 0) {
    throw new Error(`${dataDir} has other contents than a sandbox: name another folder`);
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

function newUsers(): Record<PayloadRole, PayloadCredentials> {
  const users = PAYLOAD_ROLES.map((role): [PayloadRole, PayloadCredentials] => {
    const password = randomBytes(12).toString('base64url');
    return [role, { email: `${role}@example.com`, password, apiKey: randomUUID() }];
  });
  return Object.fromEntries(users) as Record<PayloadRole, PayloadCredentials>;
}

function startServer(
  dataDir: string,
  { port, ids, secret, users }: SiteState,
  webhook: PayloadSandboxOptions['webhook'],
): ProcessGroup {
  const seedUsers = Object.entries(users).map(([role, user]) => ({ role, ...user }));
  return startGroup([process.execPath, 'server.ts'], {
    cwd: PAYLOAD_ROOT,
    logFile: join(dataDir, 'server.log'),
    env: {
      ...process.env,
      NODE_ENV: 'development', // in production Payload does not create the tables
      NEXT_TELEMETRY_DISABLED: '1',
      SITE_PORT: String(port),
      SITE_DATABASE: join(dataDir, DATABASE_FILE),
      SITE_MEDIA: join(dataDir, 'media'),
      SITE_IDS: ids,
      SITE_SECRET: secret,
      SITE_USERS: JSON.stringify(seedUsers),
      ...(webhook === undefined ? {} : { SITE_WEBHOOK_URL: webhook.url, SITE_WEBHOOK_SECRET: webhook.secret }),
    },
  });
}

async function untilReady(url: string, server: ProcessGroup, dataDir: string): Promise<void> {
  const log = (): string => readFileSync(join(dataDir, 'server.log'), 'utf8').trim().split('\n').slice(-8).join('\n');
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    if (server.exitCode() !== undefined) throw new Error(`the server exited: ${log()}`);
    const response = await fetch(`${url}/api/events?limit=1`).catch(() => undefined);
    if (response?.ok) return;
    await pause(100);
  }
  throw new Error(`Payload did not answer within ${READY_TIMEOUT_MS / 1000} s: ${log()}`);
}
