// Starts a gateway with given records in its replica, and unpublished ones in the fake CMS in front of it, with a stopped
// clock.

import type { Mapping } from '../../src/mapping/mapping.ts';
import { type CalendarRecord, type ImageRecord, isTermRecord, type PostRecord } from '../../src/model/records.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { postFields } from '../cms/fake-responses.ts';
import { type MemoryOptions, startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';

/** When The Events Calendar's responses were recorded: the evening of the day before on the site's clock. */
export const NOW_MS = Date.UTC(2026, 10, 21, 2, 42);

interface SeedOptions
  extends Pick<MemoryOptions, 'allowedOrigins' | 'mcp' | 'cache' | 'pages' | 'limits' | 'maxPerPage' | 'mapping'> {
  nowMs?: number | (() => number);
  perPage?: number;
  images?: ImageRecord[];
}

export async function seededGateway(
  records: CalendarRecord[] = [],
  { nowMs = NOW_MS, perPage = 10, images = [], ...options }: SeedOptions = {},
): Promise<TestGateway> {
  const clockMs = typeof nowMs === 'number' ? () => nowMs : nowMs;
  const cms = createFakeCms(clockMs);
  const gateway = await startGateway({
    cms,
    service: CREDENTIALS.admin,
    as: CREDENTIALS,
    nowMs: clockMs,
    perPage,
    ...options,
  });
  const isPublic = (record: CalendarRecord) => isTermRecord(record) || record.status === 'publish';
  upsert(gateway.services.replica, records.filter(isPublic), images);
  for (const record of records) if (!isPublic(record)) addUnpublished(cms, gateway.mapping, record as PostRecord);
  return gateway;
}

/** Puts the record where the gateway reads it with a caller's credentials. */
export function addUnpublished(cms: FakeCms, mapping: Mapping, record: PostRecord): void {
  const { collection, write } = mapping.kinds[record.kind]!;
  const { dateUtc: _, ...fields } = record;
  const { id, author, status, slug, modifiedUtc, image } = record;
  const body = write(fields as typeof record, { site: cms.siteFacts });
  const times = { modifiedS: Date.parse(`${modifiedUtc.replace(' ', 'T')}Z`) / 1000 };
  cms.createPost(collection, {
    ...postFields(body, cms.siteFacts),
    ...times,
    id,
    author,
    status,
    slug,
    featured: image,
  });
}
