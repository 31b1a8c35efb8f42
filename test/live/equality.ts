// Whether a copy is the same as the site: every record and every image, as the site shows them now and as the copy holds them.

import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CalendarRecord } from '../../src/records.ts';
import { collectionsOf } from '../../src/replica/collections.ts';
import type { Query, Upstream } from '../../src/upstream/port.ts';
import type { GatewayHere } from '../replica/gateway-here.ts';

/** Every record that the account sees at the site now, and every image that they have, by kind and id. */
export async function recordsAt(upstream: Upstream, service: string): Promise<Map<string, unknown>> {
  const site = await upstream.site({ credentials: service });
  const records = new Map<string, unknown>();
  const images = new Set<number>();
  for (const collection of collectionsOf(loadMapping('wordpress-meta'), service)) {
    for (let page = 1; ; page += 1) {
      const query: Query = { ...collection.scope, per_page: 100, page, orderby: 'id', _fields: collection.select };
      const { items, total } = await upstream.list(collection.base, query, { credentials: service });
      for (const native of items) {
        const record: CalendarRecord = collection.read(native, site);
        records.set(`${record.kind} ${record.id}`, JSON.parse(JSON.stringify(record)));
        if ('image' in record && record.image > 0) images.add(record.image);
      }
      if (page * 100 >= total) break;
    }
  }
  for (const image of await upstream.images([...images], { credentials: service }))
    records.set(`image ${image.id}`, JSON.parse(JSON.stringify(image)));
  return records;
}

/** What a copy's file holds. */
export function recordsIn(file: string): Map<string, unknown> {
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

/** What a copy in this process holds. */
export function recordsOf({ replica, mapping, service }: GatewayHere): Map<string, unknown> {
  const records = new Map<string, unknown>();
  for (const { kind } of collectionsOf(mapping, service)) {
    const ids = replica.ids(kind).map(({ id }) => id);
    for (const [id, record] of replica.getMany(kind, ids))
      records.set(`${kind} ${id}`, JSON.parse(JSON.stringify(record)));
  }
  for (const [id, image] of replica.images(replica.imageIds(0, -1))) records.set(`image ${id}`, image);
  return records;
}

/** Names of what is not the same in both. */
export function differing(wanted: Map<string, unknown>, found: Map<string, unknown>): string[] {
  // An image may stay in the copy when the last record that showed it has gone.
  const names = new Set([...wanted.keys(), ...[...found.keys()].filter((name) => !name.startsWith('image '))]);
  return [...names].filter((name) => !isDeepStrictEqual(wanted.get(name), found.get(name)));
}
