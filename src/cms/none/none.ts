// No CMS, if all events are of sources: to other files a CMS without accounts or records, whose site is the gateway.

import { setTimeout as sleep } from 'node:timers/promises';
import { siteUrlOf } from '../../config.ts';
import type { Config } from '../../config-schema.ts';
import { CmsRejected } from '../../errors.ts';
import { PLURALS, type Site } from '../../model/records.ts';
import type { Cms } from '../port.ts';

/** For the log, `/status` and `check`. */
export const NO_CMS = 'no CMS (upstream.url is not set): every event comes from the sources, and nobody can write';

const SOURCES_PAUSE_MS = 100;

/** In the time zone of this machine: an operator sets another one by the variable `TZ`. */
export const siteWithoutCms = (config: Config): Site => ({
  url: siteUrlOf(config),
  name: config.pages.name ?? '',
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** @param wereSourcesTried until then the initial sync waits in `site`: it would call an empty calendar complete */
export function createNoCms(site: Site, wereSourcesTried: () => boolean): Cms {
  const findNothing = async () => undefined;
  const refuse = async () => {
    throw new CmsRejected('not-found', 'There is no CMS.');
  };
  return {
    isReadOnly: true,
    maxPageSize: 100,
    recordForm: { certainPaths: () => [], hasPath: () => true },
    async site({ signal } = {}) {
      while (!wereSourcesTried()) await sleep(SOURCES_PAUSE_MS, undefined, { signal });
      return site;
    },
    readLogin: () => undefined,
    accountExists: async () => false,
    collectionInfo: async () => ({ permissions: undefined, writableFields: undefined }),
    hasCollection: async () => true,
    apiUrl: ({ url }, { kind, collection }, id) =>
      `${url}/calendar/events/v1/${kind ? PLURALS[kind] : collection}${id === undefined ? '' : `/${id}`}`,
    gatewayId: () => 0,
    list: async () => ({ records: [], total: 0, cmsTimeMs: Date.now() }),
    images: async () => [],
    isIdTaken: async () => false,
    findImage: findNothing,
    findCreated: findNothing,
    ...{ account: refuse, read: refuse, create: refuse, update: refuse, trash: refuse, delete: refuse, upload: refuse },
    close: async () => {},
  };
}
