// A real Payload and a gateway in front of it, for the checks of this folder.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PayloadRole, PayloadSandbox } from '../../sandbox/payload-site.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { KINDS } from '../../src/model/records.ts';
import { type JsonResponse, sendJson } from '../live/json-client.ts';
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
  /** Default: the bundled one, with the addresses of pages. */
  mapping?: object;
}

/** The bundled mapping with the addresses of pages, which every site has to name (codec `link`). */
export function bundledMapping(siteUrl: string): object {
  const { file: source } = loadMapping('payload');
  const kinds = KINDS.map((kind) => {
    const { collection, fields } = source[kind]!;
    const url = { read: { at: 'slug', as: { link: `${siteUrl}/${collection}/{}` } } };
    return [kind, { collection, fields: { ...fields, url } }];
  });
  return { ...source, ...Object.fromEntries(kinds) };
}

function writeMapping(mapping: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-mapping-')), 'mapping.json');
  writeFileSync(file, JSON.stringify(mapping));
  return file;
}

/** Starts a gateway with the administrator as service account, and waits for its initial sync. */
export async function startPayloadGateway(
  { url, credentials }: Pick<PayloadSandbox, 'url' | 'credentials'>,
  { intervalS = 2, dataDir, ports, publicUrl, mapping = bundledMapping(url) }: PayloadGatewayOptions = {},
): Promise<GatewayProcess> {
  const gateway = await startGateway({
    transport: 'process',
    cmsUrl: url,
    service: { user: 'users', password: credentials.admin.apiKey },
    // The recorded site shows ten events per page; the tests exceed the rate limit of one address.
    config: { lists: { perPage: 10 }, limits: { requestsPerMinute: 1_000_000 } },
    env: {
      CALENDAR_MAPPING: writeMapping(mapping),
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

export type Answer = JsonResponse;

/** Sends a request as a role of the site, or anonymously; a body is sent as JSON. */
export const send = (
  site: Pick<PayloadSandbox, 'credentials'>,
  url: string,
  { as, ...request }: { as?: PayloadRole; method?: string; json?: unknown } = {},
): Promise<Answer> =>
  sendJson(url, {
    ...request,
    authorization: as && `users API-Key ${site.credentials[as].apiKey}`,
    headers: { connection: 'close' },
  });
