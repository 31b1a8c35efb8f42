// The site's process: Payload on SQLite, its REST API on node:http. Settings come from the environment (`SITE_*`).
//
// Payload's own server is Next.js. `handleEndpoints` serves the same REST API for plain `Request` and `Response`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sqliteAdapter } from '@payloadcms/db-sqlite';
import { lexicalEditor } from '@payloadcms/richtext-lexical';
import { buildConfig, getPayload, handleEndpoints, type Payload, type SanitizedConfig } from 'payload';
import { calendarGateway } from '../../examples/payload/calendar-gateway.ts';
import { collections } from './collections.ts';

/** One user of the site. The API key is a UUID. */
interface SeedUser {
  role: string;
  email: string;
  password: string;
  apiKey: string;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}

const port = Number(setting('SITE_PORT'));
const users = JSON.parse(setting('SITE_USERS')) as SeedUser[];
const url = `http://127.0.0.1:${port}`;

const webhook = {
  webhookUrl: process.env.SITE_WEBHOOK_URL ?? '',
  webhookSecret: process.env.SITE_WEBHOOK_SECRET ?? '',
};

const config = await buildConfig({
  secret: setting('SITE_SECRET'),
  serverURL: url,
  telemetry: false,
  db: sqliteAdapter({
    client: { url: `file:${setting('SITE_DATABASE')}` },
    idType: setting('SITE_IDS') === 'uuid' ? 'uuid' : 'number',
    autoIncrement: true, // otherwise SQLite gives the id of a deleted record to the next one
    busyTimeout: 5000,
    wal: true,
    push: true,
  }),
  editor: lexicalEditor(),
  admin: { user: 'users' },
  collections: collections(setting('SITE_MEDIA')),
  plugins: webhook.webhookUrl === '' ? [] : [calendarGateway(webhook)],
  typescript: { autoGenerate: false },
});

const payload = await getPayload({ config });
await createUsers(payload);
const server = createServer((req, res) => {
  respond(config, req, res).catch((error: unknown) => {
    if (res.destroyed) return; // the client did not wait for the end
    console.error(error);
    if (!res.headersSent) res.writeHead(500);
    res.end();
  });
});
server.listen(port, '127.0.0.1', () => console.log(`listening on ${url}`));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    server.close(() => void payload.destroy().finally(() => process.exit(0)));
    server.closeAllConnections();
  });
}

async function createUsers(site: Payload): Promise<void> {
  for (const user of users) {
    const { totalDocs } = await site.count({ collection: 'users', where: { email: { equals: user.email } } });
    if (totalDocs > 0) continue;
    await site.create({ collection: 'users', data: { ...user, name: user.role, enableAPIKey: true } as never });
  }
}

async function respond(site: SanitizedConfig, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each);
  }
  const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
  const request = new Request(new URL(req.url ?? '/', url), {
    method: req.method ?? 'GET',
    headers,
    ...(hasBody ? { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' } : {}),
  } as RequestInit);
  const response = await handleEndpoints({ config: site, request });
  res.writeHead(response.status, [...response.headers].flat());
  if (response.body === null) res.end();
  else await pipeline(Readable.fromWeb(response.body as never), res);
}
