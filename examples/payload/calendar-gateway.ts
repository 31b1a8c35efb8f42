// A Payload plugin that tells calendar-gateway of every change, by a signed webhook. Copy this file next to payload.config.ts, and add there:
//
//   import { calendarGateway } from './calendar-gateway';
//
//   plugins: [calendarGateway({ webhookUrl: 'http://GATEWAY:3001/-/changes', webhookSecret: process.env.CALENDAR_WEBHOOK_SECRET! })],

import { createHmac } from 'node:crypto';
import type { CollectionAfterChangeHook, CollectionAfterDeleteHook, Payload, PayloadRequest, Plugin } from 'payload';

export interface CalendarGatewayOptions {
  /** Where the site reaches the gateway's admin port: `http://GATEWAY:3001/-/changes`. */
  webhookUrl: string;
  /** The gateway's `CALENDAR_WEBHOOK_SECRET`. */
  webhookSecret: string;
  /** Slugs of the collections that the gateway's mapping names, and that of the images. */
  collections?: readonly string[];
}

interface Change {
  collection: string;
  id: number | string;
}

/** A change, and the transaction that wrote it, if the database has transactions. */
interface PendingChange extends Change {
  transaction: number | string | undefined;
  sinceMs: number;
}

const COLLECTIONS = ['events', 'venues', 'organizers', 'categories', 'tags', 'media'];
/** Changes of this time go out together. */
const COLLECT_MS = 100;
/** Payload's hooks run before the commit. A longer transaction is reported early, and the gateway's next poll finds the rest. */
const MAX_TRANSACTION_MS = 10_000;
const MAX_CHANGES_PER_WEBHOOK = 500;
/** While the gateway does not answer. It polls when it is back, so nothing is lost. */
const MAX_PENDING = 10_000;
const TIMEOUT_MS = 5000;

/**
 * Saving does not wait for the gateway. A change that the gateway does not hear of, it finds by its next poll: while it is down, and on
 * platforms that stop the process after the response.
 */
export const calendarGateway = (options: CalendarGatewayOptions): Plugin => {
  const { webhookUrl, webhookSecret, collections: slugs = COLLECTIONS } = options;
  /** By collection and id: a record that changes twice is reported once. */
  const pending = new Map<string, PendingChange>();
  let isScheduled = false;

  async function report(collection: string, id: number | string, req: PayloadRequest): Promise<void> {
    if (pending.size >= MAX_PENDING) return;
    const transaction = await req.transactionID;
    pending.set(`${collection} ${id}`, { collection, id, transaction, sinceMs: Date.now() });
    schedule(req.payload);
  }

  function schedule(payload: Payload): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      sendCommitted(payload)
        .catch((error: unknown) => payload.logger.warn({ err: error }, 'calendar-gateway got no webhook'))
        .finally(() => {
          isScheduled = false;
          if (pending.size > 0) schedule(payload);
        });
    }, COLLECT_MS).unref();
  }

  async function sendCommitted(payload: Payload): Promise<void> {
    const changes: Change[] = [];
    for (const [key, { collection, id, transaction, sinceMs }] of pending) {
      const isOpen = transaction !== undefined && payload.db.sessions?.[transaction] !== undefined;
      if (isOpen && Date.now() - sinceMs < MAX_TRANSACTION_MS) continue;
      pending.delete(key);
      changes.push({ collection, id });
    }
    for (let from = 0; from < changes.length; from += MAX_CHANGES_PER_WEBHOOK) {
      await send(changes.slice(from, from + MAX_CHANGES_PER_WEBHOOK));
    }
  }

  async function send(changes: readonly Change[]): Promise<void> {
    const body = JSON.stringify({ changes });
    const seconds = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', webhookSecret).update(`${seconds}.${body}`).digest('hex');
    const response = await fetch(webhookUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-calendar-signature': `t=${seconds},v1=${signature}` },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the gateway responded ${response.status}`);
  }

  const afterChange: CollectionAfterChangeHook = async ({ collection, doc, req }) => {
    await report(collection.slug, doc.id, req);
    return doc;
  };
  const afterDelete: CollectionAfterDeleteHook = async ({ collection, id, req }) => {
    await report(collection.slug, id, req);
  };

  return (config) => ({
    ...config,
    collections: (config.collections ?? []).map((collection) => {
      if (!slugs.includes(collection.slug)) return collection;
      const { hooks } = collection;
      return {
        ...collection,
        hooks: {
          ...hooks,
          afterChange: [...(hooks?.afterChange ?? []), afterChange],
          afterDelete: [...(hooks?.afterDelete ?? []), afterDelete],
        },
      };
    }),
  });
};
