// Owns what a response about one record shows of others: the public ones, and for staff also drafts and images that
// only they see.

import type { CallOptions } from '../cms/port.ts';
import { kindMappingOf } from '../mapping/mapping.ts';
import type {
  CalendarRecord,
  ImageRecord,
  Kind,
  LinkedKind,
  PostKind,
  PostRecord,
  RecordOf,
} from '../model/records.ts';
import { getImage, getImages, getRecords } from '../store/records.ts';
import { callOptions } from './cms-records.ts';
import { isStaff, permissionsFor, type UnpublishedParts, unpublishedParts } from './permissions.ts';
import type { RequestContext } from './request-context.ts';
import { type Shown, shownIn } from './serializer.ts';
import type { Services } from './services.ts';

type Reader = Pick<Services, 'replica' | 'cms' | 'mapping' | 'permissions' | 'sync' | 'site'>;

/** Whether the actor may see more of any of these kinds than the public. */
export async function seesUnpublished(
  services: Pick<Services, 'permissions'>,
  kinds: readonly PostKind[],
  { actor }: Pick<RequestContext, 'actor'>,
): Promise<boolean> {
  if (!actor.account) return false;
  for (const kind of kinds) if (isStaff(actor, await permissionsFor(services, kind, actor))) return true;
  return false;
}

const LINKED = [
  ['venue', 'venues'],
  ['organizer', 'organizers'],
] as const;

/**
 * What the replica lacks comes from the CMS, with the caller's credentials. What the CMS does not send at once is left
 * out: the response is about another record.
 */
export async function shownWith(services: Reader, record: PostRecord, request: RequestContext): Promise<Shown> {
  const { replica, cms } = services;
  if (!(await seesUnpublished(services, ['event', 'venue', 'organizer'], request))) return shownIn(replica.db);
  const more = new Map<string, CalendarRecord>();
  if (record.kind === 'event') {
    const parts = await unpublishedParts(services, ['venue', 'organizer'], request).catch((): UnpublishedParts => ({}));
    for (const [kind, field] of LINKED)
      for (const linked of await readUnpublished(services, kind, record[field], parts, request))
        more.set(`${kind} ${linked.id}`, linked);
  }
  const imageIds = [record, ...more.values()].flatMap((each) => ('image' in each && each.image ? [each.image] : []));
  const unknown = imageIds.filter((id) => !getImage(replica.db, id));
  const found = unknown.length > 0 ? await cms.images(unknown, callOptions(request)).catch(() => []) : [];
  const images = new Map(found.map((image): [number, ImageRecord] => [image.id, image]));
  return {
    getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]> {
      const records = getRecords(replica.db, kind, ids);
      for (const id of ids) {
        const own = more.get(`${kind} ${id}`) as RecordOf[K] | undefined;
        if (own) records.set(id, own);
      }
      return records;
    },
    getImages: (ids) =>
      new Map([
        ...getImages(replica.db, ids),
        ...ids.flatMap((id) => (images.has(id) ? [[id, images.get(id)!] as const] : [])),
      ]),
  };
}

async function readUnpublished(
  { replica, cms, mapping, site, sync }: Reader,
  kind: LinkedKind,
  ids: readonly number[],
  parts: UnpublishedParts,
  request: RequestContext,
): Promise<CalendarRecord[]> {
  const known = getRecords(replica.db, kind, ids);
  const unknown = ids.filter((id) => !known.has(id)).slice(0, cms.maxPageSize);
  const kindMapping = kindMappingOf(mapping, kind);
  if (unknown.length === 0 || !kindMapping) return [];
  const call: CallOptions = callOptions(request);
  const found: CalendarRecord[] = [];
  for (const { statuses, author } of parts[kind] ?? []) {
    const of = { statuses: statuses.filter((status) => status !== 'trash'), ...(author !== undefined && { author }) };
    const list = { view: 'reader', ids: unknown, limit: unknown.length, detail: 'mapped', ...of } as const;
    const page = await cms.list(kindMapping, list, call).catch(() => ({ records: [] }));
    for (const record of page.records) found.push(kindMapping.read(record, site(), sync.linkTables()));
  }
  return found;
}
