// How many of the CMS's records of each kind a replica has.

import { KINDS, type Kind } from '../../src/model/records.ts';
import type { Database } from '../../src/store/database.ts';
import { recordCount } from '../../src/store/records.ts';

export const recordCounts = (db: Database): Record<Kind, number> =>
  Object.fromEntries(KINDS.map((kind) => [kind, recordCount(db, kind)])) as Record<Kind, number>;
