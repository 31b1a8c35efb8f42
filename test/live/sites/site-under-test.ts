// One kind of site for the contract: a WordPress that is set up as the plugin leaves it, and the gateway with its mapping in front.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import type { Mapping } from '../../../src/mapping/mapping.ts';
import { type GatewayProcess, ROOT, startGateway } from '../gateway-process.ts';

export type Json = Record<string, unknown>;

export interface Answered<T = Json> {
  status: number;
  headers: Headers;
  body: T;
}

export interface SiteUnderTest {
  mapping: Mapping;
  /** The companion PHP file stands beside a plugin whose types these are. */
  hasCompanion: boolean;
  sandbox: Sandbox;
  gateway: GatewayProcess;
  /** Asks the gateway: reads as nobody, writes as the administrator. */
  ask<T = Json>(
    path: string,
    how?: { method?: string; json?: unknown; gateway?: GatewayProcess },
  ): Promise<Answered<T>>;
  /** Asks WordPress itself, as the administrator unless `anonymous`. */
  native<T = Json>(path: string, how?: { method?: string; json?: unknown; anonymous?: boolean }): Promise<Answered<T>>;
  /** Puts an event in as the site's own plugin would (sandbox/sites/seeding.php); its id. */
  seed(event: Json): Promise<number>;
  /** The id of an image of the site. */
  upload(bytes: Uint8Array): Promise<number>;
  /** Waits until the gateway has gone round once more since now. */
  afterRound(): Promise<void>;
  /** Another gateway, which copies the site anew. */
  anotherGateway(): Promise<GatewayProcess>;
  close(): Promise<void>;
}

const SITES = join(ROOT, 'sandbox/sites');
const ROUND_LIMIT_MS = 60_000;

/** The plugin of a kind of site; none for the mapping whose snippet is the whole site. */
function pluginsOf(plugin: string): Record<string, string> {
  const source = (name: string) => readFileSync(join(SITES, `${name}.php`), 'utf8');
  if (plugin === 'wordpress-meta') return {};
  return { '1-seeding.php': source('seeding'), '2-site.php': source(plugin) };
}

/** Starts the site of a plugin (by default the mapping's name); `prepare` fills it before the gateway copies it. */
export async function siteUnderTest(
  name: string,
  prepare: (site: Pick<SiteUnderTest, 'native' | 'seed' | 'mapping'>) => Promise<void>,
  plugin = name,
): Promise<SiteUnderTest> {
  const mapping = loadMapping(name);
  // The Events Calendar can be read without it, but for what it hides.
  const companion = mapping.requiresHelper || name === 'tribe-events-native';
  const dir = mkdtempSync(join(tmpdir(), 'calendar-kind-'));
  const sandbox = await startSandbox({
    ...{ dir, port: 0, fresh: true, quiet: true },
    mapping: companion ? name : false,
    muPlugins: pluginsOf(plugin),
  });
  const gateways: GatewayProcess[] = [];
  const close = async () => {
    for (const gateway of gateways) await gateway.stop();
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const { user, applicationPassword } = sandbox.credentials.admin;
  const authorization = `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`;

  async function send<T>(
    url: string,
    { method = 'GET', json, signedIn }: { method?: string; json?: unknown; signedIn: boolean },
  ): Promise<Answered<T>> {
    const response = await fetch(url, {
      method,
      headers: {
        ...(signedIn ? { authorization } : {}),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as T };
  }

  const native: SiteUnderTest['native'] = (path, { anonymous = false, ...how } = {}) =>
    send(`${sandbox.url}/wp-json/${path}`, { ...how, signedIn: !anonymous });
  async function seed(event: Json): Promise<number> {
    const { status, body } = await native('sandbox/v1/events', { method: 'POST', json: event });
    if (status !== 200) throw new Error(`the site could not be filled: ${status} ${JSON.stringify(body)}`);
    return Number(body.id);
  }
  const start = async () => {
    const gateway = await startGateway(sandbox, { service: true, mapping: name, config: { log: { level: 'warn' } } });
    gateways.push(gateway);
    return gateway;
  };

  try {
    await prepare({ native, seed, mapping });
    const gateway = await start();
    return {
      ...{ mapping, sandbox, gateway, native, seed, close },
      hasCompanion: companion && plugin !== 'wordpress-meta' && mapping.source.wordpress?.posts === undefined,
      ask: (path, { gateway: asked = gateway, ...how } = {}) =>
        send(`${asked.url}/calendar/events/v1/${path}`, { ...how, signedIn: (how.method ?? 'GET') !== 'GET' }),
      async upload(bytes) {
        const response = await fetch(`${sandbox.url}/wp-json/wp/v2/media`, {
          method: 'POST',
          headers: {
            authorization,
            'content-type': 'image/png',
            'content-disposition': 'attachment; filename="harbour.png"',
          },
          body: bytes as Uint8Array<ArrayBuffer>,
        });
        return Number(((await response.json()) as Json).id);
      },
      async afterRound() {
        const nowMs = Date.now();
        const lastInStepMs = async () =>
          ((await (await fetch(`${gateway.adminUrl}/status`)).json()) as { lastInStepMs?: number }).lastInStepMs ?? 0;
        // Twice: a round that was under way had looked at some collections already.
        for (let after = nowMs, left = 2; left > 0; ) {
          const last = await lastInStepMs();
          if (last > after) [after, left] = [last, left - 1];
          else if (Date.now() - nowMs > ROUND_LIMIT_MS) throw new Error('the gateway does not go round');
          else await new Promise((done) => setTimeout(done, 100));
        }
      },
      anotherGateway: start,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
