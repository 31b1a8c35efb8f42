// A gateway whose copy holds the records that a test gives it, in front of a CMS in memory, at a moment that stands still.

import type { CalendarRecord, ImageRecord } from '../../src/records.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, fakeCms } from './fake-cms.ts';

/** The moment at which the reference was observed: 2026-11-21T02:42Z, the evening before on the site's clock. */
export const NOW_MS = Date.UTC(2026, 10, 21, 2, 42);

export async function filledGateway(
  records: CalendarRecord[] = [],
  { nowMs = NOW_MS, perPage = 10, images = [] }: { nowMs?: number; perPage?: number; images?: ImageRecord[] } = {},
): Promise<GatewayUnderTest> {
  const upstream = fakeCms(() => nowMs);
  const gateway = await gatewayUnderTest({ upstream, service: AS.admin, as: AS, nowMs: () => nowMs, perPage });
  gateway.backing.replica.put(records, images);
  return gateway;
}
