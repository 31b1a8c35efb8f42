// The ids of Payload's records in the gateway. Payload numbers the records of each collection separately, while
// events, venues and organizers of the API share one id space.

import type { Kind } from '../../model/records.ts';

/** What an id belongs to: a record, an image or an account. */
export type IdSpace = Kind | 'image' | 'account';

/** A record's id in Payload: a number, or a text such as a UUID. */
export type OwnId = number | string;

export interface Ids {
  /** Undefined for a value that is no id. */
  toGateway(space: IdSpace, ownId: unknown): number | undefined;
  /** Undefined for an id that no record of Payload has: Payload answers such ids with 500. */
  toOwn(space: IdSpace, id: number): OwnId | undefined;
}

/** Above the ids of Payload's own records and of each other, below those of occurrences and embedded records. */
const OFFSETS: Partial<Readonly<Record<IdSpace, number>>> = {
  venue: 1_000_000_000_000,
  organizer: 2_000_000_000_000,
};

/** The greatest `integer` of Postgres. */
const MAX_INTEGER = 2_147_483_647;

const isInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_INTEGER;

/** For databases whose ids are integers. */
export const integerIds: Ids = {
  toGateway(space, ownId) {
    const number = typeof ownId === 'string' && /^\d{1,10}$/.test(ownId) ? Number(ownId) : ownId;
    return isInteger(number) ? number + (OFFSETS[space] ?? 0) : undefined;
  },
  toOwn(space, id) {
    const ownId = id - (OFFSETS[space] ?? 0);
    return isInteger(ownId) ? ownId : undefined;
  },
};
