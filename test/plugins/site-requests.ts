// What the checks of many plugins do: write through the gateway, and wait for what a webhook tells it.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { until } from '../until.ts';
import type { PluginSite } from './plugin-test.ts';

/** What the gateway says of whether and how an event takes place; the properties that it leaves out are absent. */
export function stateOf(body: Json): Json {
  const names = ['event_status', 'event_status_reason', 'attendance_mode', 'online_url'];
  return Object.fromEntries(names.filter((name) => name in body).map((name) => [name, body[name]]));
}

/** The gateway does not poll: only the webhook can bring the change. */
const WEBHOOK_MS = 30_000;

/** Writes as the administrator, and expects this status. */
export async function write(site: PluginSite, path: string, json: Json, status = 200): Promise<Json> {
  const response = await site.request(path, { method: 'POST', json });
  expect(response.status, JSON.stringify(response.body)).to.equal(status);
  return response.body;
}

export const untilWebhook = (hasArrived: () => Promise<boolean>, what: string): Promise<void> =>
  until(hasArrived, what, WEBHOOK_MS);

/** Waits until the gateway's response shows a change. */
export const arrives = (
  site: PluginSite,
  path: string,
  isThere: (body: Json, status: number) => boolean,
): Promise<void> =>
  untilWebhook(async () => {
    const { body, status } = await site.request(path);
    return isThere(body, status);
  }, `${path} follows the plugin`);
