// The check of webhooks: `check --write` listens on the gateway's admin port for the webhooks that its writes cause.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Config } from '../../config-schema.ts';
import { createAdmin } from '../../http/admin.ts';
import type { Kind } from '../../model/records.ts';
import { type CheckContext, type Finding, fail, ok, type WebhookListener, warn } from './checks.ts';

export async function checkWebhooks({ config, pluginAdvice, webhooks }: CheckContext): Promise<Finding[]> {
  if (webhooks) return webhooks.findings();
  if (config.webhook.secret !== undefined) return [];
  return [
    warn(
      'webhooks',
      `none: the gateway sees a change made in the CMS within ${config.sync.intervalS} s`,
      'To see changes at once, set CALENDAR_WEBHOOK_SECRET, and make the plugin of the site with the same secret. ' +
        pluginAdvice(true),
    ),
  ];
}

const TIMEOUT_MS = 3000;
const POLL_MS = 50;

/**
 * Returns `undefined` if no secret is configured: the gateway then accepts no webhooks.
 * @param pluginAdvice how to make the plugin of the site
 */
export async function listenForWebhooks(
  { webhook, listen }: Config,
  pluginAdvice: string,
  wait: (ms: number) => Promise<unknown>,
): Promise<WebhookListener | undefined> {
  if (webhook.secret === undefined) return undefined;
  /** The collections in which `check` wrote a record, each with its kind. */
  const expected = new Map<string, Kind>();
  const received = new Set<string>(); // the collections that webhooks named
  const admin = createAdmin({
    registry: { contentType: '', metrics: async () => '' },
    status: () => ({}),
    isComplete: () => false,
    isLive: () => false,
    isDraining: () => false,
    onWebhook: async (changes) => {
      for (const { collection } of changes) received.add(collection);
    },
    webhookSecret: webhook.secret,
  });
  const server = createServer(admin);
  const port = listen.adminPort;
  const listening = once(server.listen(port, listen.adminHost), 'listening');
  const isListening = await listening.then(() => true).catch(() => false);
  const missing = () => [...expected.keys()].filter((collection) => !received.has(collection));
  async function judge(): Promise<Finding> {
    if (!isListening)
      return warn(
        'webhooks',
        `port ${port} is in use (by the gateway?): check cannot listen for webhooks`,
        'Stop the gateway while check --write runs, or look at its log while you change an event.',
      );
    for (let waitedMs = 0; missing().length > 0 && waitedMs < TIMEOUT_MS; waitedMs += POLL_MS) await wait(POLL_MS);
    const kinds = missing().map((collection) => `${expected.get(collection)} (${collection})`);
    if (kinds.length === 0)
      return ok('webhooks', `arrived for each kind that was written: ${[...expected.values()].join(', ')}`);
    return fail(
      'webhooks',
      `none arrived on port ${port} within ${TIMEOUT_MS / 1000} s for ${kinds.join(', ')}`,
      'Is the plugin on the site, made for this mapping and version, with this secret and the address ' +
        `http://GATEWAY:${port}/-/changes? Does the site reach that address (listen.adminHost is the ` +
        `loopback address by default)? ${pluginAdvice}`,
    );
  }
  return {
    expect: (kind, collection) => void expected.set(collection, kind),
    findings: async () => (isListening && expected.size === 0 ? [] : [await judge()]),
    close() {
      if (isListening) server.close();
      server.closeAllConnections();
    },
  };
}
