// Owns what is too large for one response of the CMS: a page is read in parts, and a record that is too large
// alone is reduced to its stamp.

import type { CmsRecord } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';

/** Key of a record of which only the stamp could be read. */
const TOO_LARGE = 'calendar_gateway_too_large';

export const isTooLarge = (record: CmsRecord): boolean => record[TOO_LARGE] === true;

export const asTooLarge = (stamp: CmsRecord): CmsRecord => ({ ...stamp, [TOO_LARGE]: true });

/** True if the response exceeded the limit of bytes (`upstream.limits.maxBytes`). */
export const isTooLargeError = (error: unknown): boolean =>
  error instanceof CmsUnavailable && error.reason === 'too-large';

/**
 * Reads records whose common response was too large, in halves. `readPart` resolves with undefined if its
 * response is too large or does not hold all of these records. A record that is too large alone comes as its
 * stamp, for which {@link isTooLarge} is true. Throws what `readPart` throws.
 */
export async function readInParts(
  stamps: readonly CmsRecord[],
  readPart: (stamps: readonly CmsRecord[]) => Promise<readonly CmsRecord[] | undefined>,
): Promise<CmsRecord[]> {
  const half = Math.ceil(stamps.length / 2);
  const records: CmsRecord[] = [];
  for (const part of [stamps.slice(0, half), stamps.slice(half)]) {
    if (part.length === 0) continue;
    const read = await readPart(part);
    records.push(...(read ?? (part.length > 1 ? await readInParts(part, readPart) : part.map(asTooLarge))));
  }
  return records;
}
