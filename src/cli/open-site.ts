// A connection to a site for the commands: the CMS adapter, and single REST calls for what the adapter does not offer.

import { type CmsClientOptions, createCmsClient, type RestCall } from '../cms/client.ts';
import { IdMap } from '../cms/payload/id-map.ts';
import { apiPathOf, createPayload } from '../cms/payload/payload.ts';
import { createRestCall as createPayloadCall } from '../cms/payload/rest-calls.ts';
import type { Cms, Credentials } from '../cms/port.ts';
import { createRestCall } from '../cms/wordpress/rest-api.ts';
import { createWordPress } from '../cms/wordpress/wordpress.ts';
import { CmsRejected } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Site } from '../model/records.ts';
import { trimCharactersEnd } from '../text/text.ts';
import { isAccessRefused } from './advice.ts';

export interface SiteConnection {
  /** Without a slash at the end. */
  url: string;
  credentials: Credentials;
  cms: Cms;
  /** Calls a route of the REST API, by default with the connection's credentials. */
  call: RestCall;
  close(): Promise<void>;
}

/** Those of the settings `upstream`. */
type CallSettings = Partial<Pick<CmsClientOptions, 'limits' | 'userAgent'>>;

/**
 * Sends no request before the first call. `url` is the site's address in a browser.
 * @param mapping for Payload, whose adapter needs to know the mapped collections; absent: WordPress
 */
export function openSite(
  url: string,
  credentials: Credentials,
  mapping?: Mapping,
  { limits, userAgent }: CallSettings = {},
): SiteConnection {
  const address = new URL(url);
  const observe = () => undefined;
  const options = { limits, userAgent };
  const client = createCmsClient({ url, observe, ...options });
  const [cms, call] =
    mapping?.cms === 'payload'
      ? [openPayload(url, mapping, options), createPayloadCall(client, apiPathOf(address))]
      : [createWordPress({ url, observe, ...options }), createRestCall(client, address)];
  return {
    url: trimCharactersEnd(url, '/'),
    credentials,
    cms,
    call: (method, route, parts, options = {}) => call(method, route, parts, { credentials, ...options }),
    async close() {
      await Promise.all([cms.close(), client.close()]);
    },
  };
}

/** Numbers of ids that are texts are forgotten at the end. */
function openPayload(url: string, { source, kinds }: Mapping, options: CallSettings): Cms {
  const idMap = new IdMap();
  const specs = Object.values(kinds);
  const cms = createPayload({ url, site: source.payload, specs, idMap, observe: () => undefined, ...options });
  const close = async () => {
    await cms.close();
    idMap.close();
  };
  return { ...cms, close };
}

/**
 * Reads the site's own description; with the service account if the site refuses anonymous readers. Throws
 * `CmsRejected` and `CmsUnavailable`.
 */
export async function readSite({ cms, credentials }: Pick<SiteConnection, 'cms' | 'credentials'>): Promise<Site> {
  try {
    return await cms.site();
  } catch (error) {
    if (credentials === undefined || !isAccessRefused(error)) throw error;
    return cms.site({ credentials });
  }
}

/** Resolves with `fallback` if the CMS rejects the call (404, 401 ...). Other errors are thrown. */
export async function orIfRefused<T, F>(response: Promise<T>, fallback: F): Promise<T | F> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof CmsRejected) return fallback;
    throw error;
  }
}

/** The `Authorization` header for a user and an application password. */
export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
