// WordPress as a CMS: implements the port by its REST API (wp/v2).

import type { Dispatcher } from 'undici';
import type { Observe } from '../../observability/observations.ts';
import { type CmsClientLimits, createCmsClient } from '../client.ts';
import type { Cms } from '../port.ts';
import { createCollections } from './collections.ts';
import { createMedia } from './media.ts';
import { WORDPRESS_RECORDS } from './record-form.ts';
import { createRestCall } from './rest-api.ts';
import { createSiteInfo } from './site-info.ts';

export interface WordPressOptions {
  /** The site's URL as browsers use it; the adapter discovers the REST API. */
  url: string | URL;
  observe: Observe;
  limits?: Partial<CmsClientLimits> | undefined;
  /** Replaces the client's own connections. */
  dispatcher?: Dispatcher | undefined;
}

/**
 * Creates the adapter. It calls the site only when used, so that the gateway can start while the site is
 * down.
 */
export function createWordPress({ url: address, observe, limits = {}, dispatcher }: WordPressOptions): Cms {
  const url = new URL(address);
  const client = createCmsClient({ origin: url, observe, limits, dispatcher });
  const call = createRestCall(client, url);
  return {
    recordForm: WORDPRESS_RECORDS,
    ...createSiteInfo(call),
    ...createCollections(call),
    ...createMedia(call),
    close: () => client.close(),
  };
}
