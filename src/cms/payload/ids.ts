// The ids of Payload's records in the gateway: integers with an offset for each collection, because Payload numbers the
// records of each collection separately; and numbers from the id map for records whose own ids are texts.

import { CmsUnavailable } from '../../errors.ts';
import { FIRST_ALLOCATED_ID, type KindOrImage, TERM_ID_OFFSET, TEXT_ID } from '../../model/records.ts';
import type { IdMap } from '../id-map.ts';

/** What an id belongs to: a record, an image or an account. */
export type IdSpace = KindOrImage | 'account';

/** A record's id in Payload: a number, or a text such as a UUID. */
export type PayloadId = number | string;

export type Ids = ReturnType<typeof createIds>;

/** Above Payload's own ids, and below those of occurrences. The distance is that of WordPress's terms. */
const OFFSETS: Partial<Readonly<Record<IdSpace, number>>> = {
  venue: TERM_ID_OFFSET,
  organizer: 2 * TERM_ID_OFFSET,
};

/** The greatest `integer` of Postgres. */
const MAX_INTEGER = 2_147_483_647;

const isInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_INTEGER;

/** @param map absent: ids that are texts cannot be served */
export function createIds(map?: IdMap) {
  return {
    /** True if the site's ids are texts, as far as is known. Their order says nothing about the time of the create. */
    areTexts: (): boolean => map?.isUsed() ?? false,
    /** Undefined for a value that is not an id. A text that is new gets the next number of the id map. */
    toGateway(space: IdSpace, cmsId: unknown): number | undefined {
      if (isInteger(cmsId)) return cmsId + (OFFSETS[space] ?? 0);
      if (typeof cmsId !== 'string' || !TEXT_ID.test(cmsId)) return undefined;
      if (!map)
        throw new CmsUnavailable(
          'incomplete',
          'The ids of this site are texts, which gateways with a common Redis cannot number: run one ' +
            'gateway without redisUrl.',
        );
      return FIRST_ALLOCATED_ID + map.numberOf(space, cmsId);
    },
    /** Undefined for an id that no record of Payload has: Payload answers such ids with 500. */
    toPayload(space: IdSpace, id: number): PayloadId | undefined {
      if (id > FIRST_ALLOCATED_ID) return map?.cmsIdOf(space, id - FIRST_ALLOCATED_ID);
      const cmsId = id - (OFFSETS[space] ?? 0);
      return isInteger(cmsId) ? cmsId : undefined;
    },
    /** Runs work that converts many ids. */
    batch: <T>(work: () => T): T => (map ? map.batch(work) : work()),
  };
}
