// WordPress as a CMS: implements the port by its REST API (wp/v2).

import { type CmsClientOptions, createCmsClient } from '../client.ts';
import type { Cms } from '../port.ts';
import { createCollections } from './collections.ts';
import { createMedia } from './media.ts';
import { WORDPRESS_RECORDS } from './record-form.ts';
import { createRestCall } from './rest-api.ts';
import { createSiteInfo } from './site-info.ts';

/** Creates the adapter. It calls the site only when used, so that the gateway can start while the site is down. */
export function createWordPress(options: CmsClientOptions): Cms {
  const client = createCmsClient(options);
  const call = createRestCall(client, new URL(options.url));
  return {
    recordForm: WORDPRESS_RECORDS,
    ...createSiteInfo(call),
    ...createCollections(call),
    ...createMedia(call),
    close: () => client.close(),
  };
}
