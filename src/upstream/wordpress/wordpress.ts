// WordPress as the CMS behind the port: its own REST API, wp/v2, over one client.

import type { Dispatcher } from 'undici';
import type { Observe } from '../../observe/events.ts';
import { type ClientLimits, createClient } from '../client.ts';
import type { Upstream } from '../port.ts';
import { createAccount } from './account.ts';
import { createCall } from './calls.ts';
import { createCollections } from './collections.ts';
import { createDiscovery } from './discovery.ts';
import { createMedia } from './media.ts';

export interface WordPressOptions {
  /** The site's address as a browser knows it; its REST API is found from there. */
  url: string | URL;
  observe: Observe;
  limits?: Partial<ClientLimits>;
  /** In place of the client's own connections. */
  dispatcher?: Dispatcher;
}

/** A WordPress site. Nothing is asked of it before the first call, so that it may be down when the gateway starts. */
export function createWordPress({ url: address, observe, limits = {}, dispatcher }: WordPressOptions): Upstream {
  const url = new URL(address);
  const client = createClient({ origin: url, observe, limits, ...(dispatcher ? { dispatcher } : {}) });
  const call = createCall(client, createDiscovery(client, url));
  return {
    ...createAccount(call),
    ...createCollections(call),
    ...createMedia(call),
    close: () => client.close(),
  };
}
