// Checks whether webhooks arrive for each kind: while `check --write` writes, it listens on the gateway's admin port.

import { createServer, type Server } from 'node:http';
import type { Config } from '../../config-schema.ts';
import { createAdmin } from '../../http/admin.ts';
import type { Kind } from '../../model/records.ts';
import { type Check, type CmsWords, fail, ok, type WebhookListener, warn } from './checks.ts';

export const WEBHOOK_CHECK: Check = {
  area: 'gateway',
  name: 'webhooks',
  async run({ config, pluginOptions, cms: { words }, webhooks }) {
    if (webhooks) return webhooks.finding();
    if (config.webhook.secret !== undefined) return [];
    return warn(
      `none: the gateway sees a change made in the CMS within ${config.sync.intervalS} s`,
      'To see changes at once, set CALENDAR_WEBHOOK_SECRET, and make the plugin of the site with the same secret. ' +
        `${words.plugin(`${pluginOptions} --webhook-url http://GATEWAY:${config.listen.adminPort}/-/changes`)}`,
    );
  },
};

const TIMEOUT_MS = 3000;
const POLL_MS = 50;

/**
 * Returns `undefined` if no secret is configured: the gateway then accepts no webhooks.
 * @param pluginOptions options of `plugin`, for the advice
 */
export async function listenForWebhooks(
  { webhook, listen }: Config,
  words: CmsWords,
  pluginOptions: string,
  wait: (ms: number) => Promise<unknown>,
): Promise<WebhookListener | undefined> {
  const { secret } = webhook;
  if (secret === undefined) return undefined;
  /** Kinds by the collection in which `check` wrote a record, and the collections that webhooks named. */
  const written = new Map<string, Kind>();
  const received = new Set<string>();
  const admin = createAdmin({
    metrics: { contentType: '', text: async () => '' },
    status: () => ({}),
    isComplete: () => false,
    isLive: () => false,
    onWebhook: async (changes) => {
      for (const { collection } of changes) received.add(collection);
    },
    webhookSecret: secret,
  });
  const server = createServer(admin.listener);
  const port = listen.adminPort;
  const isListening = await tryListen(server, port, listen.adminHost);
  return {
    wrote(kind, collection) {
      written.set(collection, kind);
    },
    async finding() {
      if (!isListening)
        return warn(
          `port ${port} is in use (by the gateway?): check cannot listen for webhooks`,
          'Stop the gateway while check --write runs, or look at its log while you change an event.',
        );
      if (written.size === 0) return [];
      const missing = () => [...written.keys()].filter((collection) => !received.has(collection));
      for (let waitedMs = 0; missing().length > 0 && waitedMs < TIMEOUT_MS; waitedMs += POLL_MS) await wait(POLL_MS);
      const kinds = missing().map((collection) => `${written.get(collection)} (${collection})`);
      if (kinds.length === 0) return ok(`arrived for each kind that was written: ${[...written.values()].join(', ')}`);
      return fail(
        `none arrived on port ${port} within ${TIMEOUT_MS / 1000} s for ${kinds.join(', ')}`,
        'Is the plugin on the site, made for this mapping and version, with this secret and the address ' +
          `http://GATEWAY:${port}/-/changes? Does the site reach that address (listen.adminHost is the ` +
          `loopback address by default)? ${words.plugin(pluginOptions)}`,
      );
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
