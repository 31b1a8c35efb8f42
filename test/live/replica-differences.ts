// Compares a replica with its site: every record and every image.

import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Cms, ListRequest } from '../../src/cms/port.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CalendarRecord } from '../../src/model/records.ts';
import { getImages, getRecords, imageIds } from '../../src/store/records.ts';
import { collectionsOf } from '../../src/sync/collections.ts';
import type { TestGateway } from '../start-gateway.ts';
import { recordIds } from '../store/record-counts.ts';

/** Every record of the site that visitors see, and the images that the account may read, by kind and id. */
export async function recordsOfSite(cms: Cms, service: string): Promise<Map<string, unknown>> {
  const site = await cms.site();
  const records = new Map<string, unknown>();
  const images = new Set<number>();
  for (const collection of collectionsOf(loadMapping('wordpress-meta'))) {
    for (let page = 1; ; page += 1) {
      const request: ListRequest = { view: 'public', limit: 100, page, order: 'id', detail: 'mapped' };
      const { records: items, total } = await cms.list(collection, request);
      for (const cmsRecord of items) {
        const record: CalendarRecord = collection.read(cmsRecord, site);
        records.set(`${record.kind} ${record.id}`, JSON.parse(JSON.stringify(record)));
        if ('image' in record && record.image > 0) images.add(record.image);
      }
      if (page * 100 >= total) break;
    }
  }
  for (const image of await cms.images([...images], { credentials: service }))
    records.set(`image ${image.id}`, JSON.parse(JSON.stringify(image)));
  return records;
}

/** Every record in a replica file. */
export function recordsOfFile(file: string): Map<string, unknown> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db
      .prepare(
        "SELECT kind, id, record FROM post UNION ALL SELECT kind, id, record FROM term UNION ALL SELECT 'image', id, record FROM image",
      )
      .all() as { kind: string; id: number; record: string }[];
    return new Map(rows.map(({ kind, id, record }) => [`${kind} ${id}`, JSON.parse(record)]));
  } finally {
    db.close();
  }
}

/** Every record in the replica of a gateway in this process. */
export function recordsOfGateway({ replica, mapping }: TestGateway): Map<string, unknown> {
  const records = new Map<string, unknown>();
  for (const { kind } of collectionsOf(mapping)) {
    const ids = recordIds(replica.db, kind);
    for (const [id, record] of getRecords(replica.db, kind, ids))
      records.set(`${kind} ${id}`, JSON.parse(JSON.stringify(record)));
  }
  for (const [id, image] of getImages(replica.db, imageIds(replica.db, 0, -1))) records.set(`image ${id}`, image);
  return records;
}

/** Keys of the records that differ. */
export function differences(expected: Map<string, unknown>, actual: Map<string, unknown>): string[] {
  // The replica may keep an image after the deletion of the last record that used it.
  const names = new Set([...expected.keys(), ...[...actual.keys()].filter((name) => !name.startsWith('image '))]);
  return [...names].filter((name) => !isDeepStrictEqual(expected.get(name), actual.get(name)));
}
