// Starts a gateway with given records in its replica, in front of the fake CMS, with a stopped clock.

import type { CalendarRecord, ImageRecord } from '../../src/model/records.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { type MemoryOptions, startGateway, type TestGateway } from '../start-gateway.ts';

/** When The Events Calendar's responses were recorded: the evening of the day before on the site's clock. */
export const NOW_MS = Date.UTC(2026, 10, 21, 2, 42);

interface SeedOptions extends Pick<MemoryOptions, 'cache' | 'pages' | 'limits' | 'maxPerPage' | 'mapping'> {
  nowMs?: number;
  perPage?: number;
  images?: ImageRecord[];
}

export async function seededGateway(
  records: CalendarRecord[] = [],
  { nowMs = NOW_MS, perPage = 10, images = [], ...options }: SeedOptions = {},
): Promise<TestGateway> {
  const cms = createFakeCms(() => nowMs);
  const gateway = await startGateway({
    cms,
    service: CREDENTIALS.admin,
    as: CREDENTIALS,
    nowMs: () => nowMs,
    perPage,
    ...options,
  });
  gateway.services.replica.upsert(records, images);
  return gateway;
}
