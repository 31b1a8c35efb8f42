// Payload as a CMS: implements the port by its REST API (Payload 3).

import { CmsUnavailable, ConfigError } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { trimCharactersEnd } from '../../text/text.ts';
import { type CmsClientOptions, createCmsClient } from '../client.ts';
import type { IdMap } from '../id-map.ts';
import type { Cms, CollectionSpec, SiteSpec } from '../port.ts';
import { objectOf } from '../response.ts';
import { createAccounts } from './accounts.ts';
import { createCollections } from './collections.ts';
import { createIds } from './ids.ts';
import { createMedia } from './media.ts';
import { PAYLOAD_RECORDS } from './records.ts';
import { createRestCall } from './rest-calls.ts';

/** `url`: Payload's address, or that of its REST API if that is not at `/api`. */
interface PayloadOptions extends CmsClientOptions {
  site?: SiteSpec | undefined;
  specs: readonly CollectionSpec[];
  /** For sites whose ids are texts, closed with the adapter. Absent: these cannot be served. */
  idMap?: IdMap | undefined;
  nowMs?: (() => number) | undefined;
}

/** The `Authorization` header of an account of `users` with an API key. @throws ConfigError if no header can have it */
export function apiKeyLogin(users: string, key: string): string {
  // No header can have other characters, so that Payload has no such key.
  if (!/^[\x20-\x7e]+$/.test(users + key))
    throw new ConfigError(
      'API key',
      'it or its user has characters other than printable ASCII',
      'Copy the key from the admin panel again.',
    );
  return `${users} API-Key ${key}`;
}

/** Creates the adapter. It calls the site only when used, so that the gateway can start while the site is down. */
export function createPayload(options: PayloadOptions): Cms {
  const { site = {}, specs, idMap, nowMs = Date.now } = options;
  const address = new URL(options.url);
  const apiPath = apiPathOf(address);
  const { media = 'media', users = 'users', timezone = 'UTC', name = address.host, locale } = site;
  // `https://cms.example/blog` for the API at `https://cms.example/blog/api`.
  const siteUrl = trimCharactersEnd(site.url ?? `${address.origin}${apiPath.replace(/\/api$/, '')}`, '/');
  const client = createCmsClient(options);
  const call = createRestCall(client, apiPath);
  const ids = createIds(idMap);
  const recordQuery = locale === undefined ? {} : { locale };
  const parts = { ids, users, media, specs, siteUrl, recordQuery, nowMs };
  const accounts = createAccounts(call, parts);
  return {
    recordForm: PAYLOAD_RECORDS,
    // `readLogin`, `account`, `accountExists`, `collectionInfo`; then all calls for records; then all for images.
    ...accounts,
    ...createCollections(call, parts, accounts),
    ...createMedia(call, parts),

    async site(callOptions) {
      const access = objectOf(await call('GET', 'access', {}, callOptions));
      if (!isObject(access.collections))
        throw new CmsUnavailable('not-json', `${address.origin}${apiPath}/access is not that of a Payload site.`);
      return { url: siteUrl, name, timezone };
    },

    async close() {
      await client.close();
      idMap?.close();
    },
  };
}

/** `https://cms.example` -> `/api`; an address with a path that ends in `/api` is the API's own. */
export function apiPathOf({ pathname }: URL): string {
  const path = trimCharactersEnd(pathname, '/');
  return path.endsWith('/api') ? path : `${path}/api`;
}
