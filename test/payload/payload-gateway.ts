// A real Payload and a gateway in front of it, for the checks of this folder.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PayloadRole, PayloadSandbox } from '../../sandbox/payload-site.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { KINDS } from '../../src/model/records.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';

const READY_TIMEOUT_MS = 120_000;
export const WEBHOOK_SECRET = 'payload-suite';

export interface PayloadGatewayOptions {
  /** Poll interval in seconds. Default 2. */
  intervalS?: number;
  dataDir?: string;
  ports?: { port: number; adminPort: number };
  /** Default: the gateway's own. */
  publicUrl?: string;
}

/** The bundled mapping with the addresses of pages, which every site has to name (codec `link`). */
function writeMapping(siteUrl: string): string {
  const { source } = loadMapping('payload');
  const kinds = KINDS.map((kind) => {
    const { collection, fields } = source[kind]!;
    const url = { read: { at: 'slug', as: { link: `${siteUrl}/${collection}/{}` } } };
    return [kind, { collection, fields: { ...fields, url } }];
  });
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-mapping-')), 'mapping.json');
  writeFileSync(file, JSON.stringify({ ...source, ...Object.fromEntries(kinds) }));
  return file;
}

/** Starts a gateway with the administrator as service account, and waits for its initial sync. */
export async function startPayloadGateway(
  { url, credentials }: Pick<PayloadSandbox, 'url' | 'credentials'>,
  { intervalS = 2, dataDir, ports, publicUrl }: PayloadGatewayOptions = {},
): Promise<GatewayProcess> {
  const gateway = await startGateway({
    transport: 'process',
    cmsUrl: url,
    service: { user: 'users', password: credentials.admin.apiKey },
    // The recorded site shows ten events per page; the tests exceed the rate limit of one address.
    config: { lists: { perPage: 10 }, limits: { requestsPerMinute: 1_000_000 } },
    env: {
      CALENDAR_MAPPING: writeMapping(url),
      CALENDAR_SYNC_INTERVAL: String(intervalS),
      CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
      CALENDAR_WEBHOOK_SECRET: WEBHOOK_SECRET,
      ...(dataDir === undefined ? {} : { CALENDAR_DATA_DIR: dataDir }),
      ...(publicUrl === undefined ? {} : { CALENDAR_PUBLIC_URL: publicUrl }),
      ...(ports && { CALENDAR_PORT: String(ports.port), CALENDAR_ADMIN_PORT: String(ports.adminPort) }),
    },
  });
  await gateway.untilReady(READY_TIMEOUT_MS);
  return gateway;
}

type Json = Record<string, unknown>;

export interface Answer {
  status: number;
  body: Json;
}

/** Sends a request as a role of the site, or anonymously; a body is sent as JSON. */
export async function send(
  site: Pick<PayloadSandbox, 'credentials'>,
  url: string,
  { as, method = 'GET', json }: { as?: PayloadRole; method?: string; json?: unknown } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(as && { authorization: `users API-Key ${site.credentials[as].apiKey}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      connection: 'close',
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}
