// Checks whether webhooks arrive: while `check --write` writes, it listens on the gateway's admin port.

import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import { createAdmin } from '../../http/admin.ts';
import { advise } from './advice.ts';
import { fail, ok, type WebhookListener, warn } from './checks.ts';

const TIMEOUT_MS = 3000;
const POLL_MS = 50;

/** Returns `undefined` if no secret is configured: the gateway then accepts no webhooks. */
export async function listenForWebhooks({ webhook, listen }: Config): Promise<WebhookListener | undefined> {
  const { secret } = webhook;
  if (secret === undefined) return undefined;
  let received = 0;
  let refused = 0;
  const admin = createAdmin({
    metrics: { contentType: '', text: async () => '' },
    status: () => ({}),
    isComplete: () => false,
    isInSync: () => false,
    onWebhook: async (changes) => {
      received += changes.length;
    },
    webhookSecret: secret,
  });
  const server = createServer((request, response) => {
    response.once('finish', () => {
      if (response.statusCode === 401) refused += 1;
    });
    admin.listener(request, response);
  });
  const port = listen.adminPort;
  const isListening = await tryListen(server, port, listen.adminHost);
  return {
    async finding() {
      if (!isListening)
        return warn(
          `port ${port} is in use (by the gateway?): check cannot listen for webhooks`,
          advise('port-in-use'),
        );
      for (let waitedMs = 0; received + refused === 0 && waitedMs < TIMEOUT_MS; waitedMs += POLL_MS)
        await sleep(POLL_MS);
      if (received > 0) return ok(`${received} signed changes arrived`);
      if (refused > 0) return fail('arrived with a wrong signature', advise('webhook-signature'));
      return fail(`none arrived on port ${port} within ${TIMEOUT_MS / 1000} s`, advise('webhook-missing', port));
    },
    close() {
      if (isListening) server.close();
      server.closeAllConnections();
    },
  };
}

function tryListen(server: Server, port: number, host: string): Promise<boolean> {
  return new Promise((settle) => {
    server.once('error', () => settle(false));
    server.listen(port, host, () => settle(true));
  });
}
