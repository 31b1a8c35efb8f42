// Changes of a replica, as tests make them.

import type { CalendarRecord, ImageRecord, KindOrImage } from '../../src/model/records.ts';
import type { Replica } from '../../src/store/replica.ts';

/** Both return how many records and images changed. */
export const upsert = (replica: Replica, upserts: readonly CalendarRecord[], images: readonly ImageRecord[] = []) =>
  replica.apply({ upserts, images });

export const remove = (replica: Replica, kind: KindOrImage, ids: readonly number[]) =>
  replica.apply({ deletes: [{ kind, ids }] });
