// A WordPress with the post types and data of a plugin, and a gateway with its mapping in front.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import type { Mapping } from '../../../src/mapping/mapping.ts';
import type { Kind } from '../../../src/model/records.ts';
import { type GatewayProcess, ROOT } from '../../start-gateway.ts';
import { basicAuth, type Json, type JsonResponse, sendJson, untilPolled } from '../json-client.ts';
import { startLiveGateway } from '../live-gateway.ts';
import { seedEvents } from './read-only-site.ts';

export type { Json, JsonResponse } from '../json-client.ts';

export interface TestSite {
  mapping: Mapping;
  /** The companion plugin is installed beside the plugin that owns the post types. */
  hasCompanionPlugin: boolean;
  hasClassicTheme: boolean;
  sandbox: Sandbox;
  gateway: GatewayProcess;
  /** Calls the gateway: reads anonymously, writes as the administrator. */
  request<T = Json>(
    path: string,
    options?: { method?: string; json?: unknown; gateway?: GatewayProcess },
  ): Promise<JsonResponse<T>>;
  /** Calls WordPress itself, as the administrator unless `anonymous`. */
  wordpress<T = Json>(
    path: string,
    options?: { method?: string; json?: unknown; anonymous?: boolean },
  ): Promise<JsonResponse<T>>;
  /** Creates a record through the gateway. */
  create(path: string, json: Json): Promise<Json>;
  /** Stores an event as the site's plugin does (sandbox/sites/seeding.php). Resolves with its id. */
  seed(event: Json): Promise<number>;
  /** Of a read-only site: the events before the initial sync. */
  seeded: { concert: number; fair: number };
  /** Deletes the records of `create` and `seed` for good, and waits for a poll. */
  deleteCreated(): Promise<void>;
  /** The titles of the events of a list. */
  titles(query: string): Promise<unknown[]>;
  /** Uploads an image. Resolves with its id. */
  upload(bytes: Uint8Array): Promise<number>;
  /** Waits until the gateway has polled the site after this call. */
  nextPoll(): Promise<void>;
  /** Starts another gateway with a new replica. */
  startSecondGateway(): Promise<GatewayProcess>;
  close(): Promise<void>;
}

const SITES = join(ROOT, 'sandbox/sites');
const CREATED_KINDS: Readonly<Record<string, Kind>> = { events: 'event', venues: 'venue', organizers: 'organizer' };

/** The must-use plugins of a site; none for the mapping whose companion plugin registers everything. */
function sitePlugins(plugin: string): Record<string, string> {
  const source = (name: string) => readFileSync(join(SITES, `${name}.php`), 'utf8');
  if (plugin === 'wordpress-meta') return {};
  const files = ['seeding', ...plugin.split('+')];
  return Object.fromEntries(files.map((name, index) => [`${index + 1}-${name}.php`, source(name)]));
}

/**
 * Starts the site of a plugin (by default the mapping's name; several files of `sandbox/sites/` with a `+`),
 * with some events if it is read-only.
 */
export async function startTestSite(name: string, plugin = name): Promise<TestSite> {
  const mapping = loadMapping(name);
  const dir = mkdtempSync(join(tmpdir(), 'calendar-site-'));
  const sandbox = await startSandbox({
    dir,
    port: 0,
    fresh: true,
    quiet: true,
    mapping: mapping.file.wordpress?.requiresCompanionPlugin ? name : false,
    muPlugins: sitePlugins(plugin),
  });
  const gateways: GatewayProcess[] = [];
  const close = async () => {
    for (const gateway of gateways) await gateway.stop();
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const authorization = basicAuth(sandbox.credentials.admin);
  const send = <T>(url: string, { signedIn, ...options }: { method?: string; json?: unknown; signedIn: boolean }) =>
    sendJson<T>(url, { ...options, authorization: signedIn ? authorization : undefined });

  const wordpress: TestSite['wordpress'] = (path, { anonymous = false, ...options } = {}) =>
    send(`${sandbox.url}/wp-json/${path}`, { ...options, signedIn: !anonymous });
  /** Path below `wp/v2` of each record to delete. */
  let created: string[] = [];
  async function seed(event: Json): Promise<number> {
    const { status, body } = await wordpress('sandbox/v1/events', { method: 'POST', json: event });
    if (status !== 200) throw new Error(`could not seed an event: ${status} ${JSON.stringify(body)}`);
    created.push(`${mapping.kinds.event.collection}/${body.id}`);
    return Number(body.id);
  }
  const start = async () => {
    const gateway = await startLiveGateway(sandbox, {
      service: true,
      mapping: name,
      config: { log: { level: 'warn' } },
    });
    gateways.push(gateway);
    return gateway;
  };

  try {
    const seeded = mapping.kinds.event.readOnly ? await seedEvents(seed) : { concert: 0, fair: 0 };
    created = [];
    const gateway = await start();
    const request: TestSite['request'] = (path, { gateway: target = gateway, ...options } = {}) =>
      send(`${target.url}/calendar/events/v1/${path}`, { ...options, signedIn: (options.method ?? 'GET') !== 'GET' });
    const nextPoll = () => untilPolled(gateway.adminUrl);
    return {
      mapping,
      sandbox,
      gateway,
      wordpress,
      seed,
      close,
      hasCompanionPlugin:
        mapping.file.wordpress?.requiresCompanionPlugin === true &&
        plugin !== 'wordpress-meta' &&
        mapping.file.wordpress.posts === undefined,
      hasClassicTheme: plugin.startsWith('classic-theme+'),
      request,
      async create(path, json) {
        const { status, body } = await request(path, { method: 'POST', json });
        if (status !== 201) throw new Error(`could not create ${path}: ${status} ${JSON.stringify(body)}`);
        const kind = CREATED_KINDS[path];
        if (kind) created.push(`${mapping.kinds[kind]?.collection}/${body.id}`);
        return body;
      },
      async titles(query) {
        return ((await request(`events?${query}`)).body.events as Json[]).map(({ title }) => title);
      },
      seeded,
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
      nextPoll,
      async deleteCreated() {
        for (const path of created) await wordpress(`wp/v2/${path}?force=true`, { method: 'DELETE' });
        created = [];
        await nextPoll();
      },
      startSecondGateway: start,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
