// Owns fetching, without a service account, the records that only staff may see, for one caller, with the caller's
// own credentials.

import type { CallOptions, Credentials } from '../cms/port.ts';
import { type PostKind, WITHHELD } from '../model/records.ts';
import type { Visibility } from '../store/filters.ts';
import { isAbsent, readPage } from './cms-reader.ts';
import { type Collection, idOf, recordsPerPage, type Scope } from './collections.ts';
import { collectionOf, type SyncContext } from './context.ts';
import { isOutdated } from './dirty-records.ts';
import { ingestRecords } from './ingest.ts';
import { paginate } from './paginate.ts';

export interface StaffReader {
  credentials: Credentials;
  visibility: Visibility;
  requestId?: string | undefined;
}

/**
 * Throws `CmsUnavailable` and `CmsRejected`: then the caller's list must not be answered from the replica.
 */
export async function fetchStaffRecords(context: SyncContext, reader: StaffReader, kind: PostKind): Promise<void> {
  const { visibility } = reader;
  const collection = collectionOf(context, kind);
  if (!collection?.isStoredAsPosts || isAbsent(context, collection)) return;
  const staffOnly = collection.staffStatuses.filter((status) => status !== WITHHELD);
  const others = staffOnly.filter((status) => visibility.anyAuthor.includes(status));
  const own = staffOnly.filter((status) => visibility.ownOnly.includes(status) && !others.includes(status));
  if (others.length > 0) await fetchStatuses(context, reader, collection, others, undefined);
  if (own.length > 0 && visibility.userId !== 0)
    await fetchStatuses(context, reader, collection, own, visibility.userId);
}

async function fetchStatuses(
  context: SyncContext,
  { credentials, visibility, requestId }: StaffReader,
  collection: Collection,
  statuses: string[],
  author: number | undefined,
): Promise<void> {
  const { replica, commit, memory } = context;
  const pageSize = recordsPerPage(collection, context.pageSize);
  const scope: Scope = { view: 'reader', statuses, ...(author !== undefined && { author }) };
  const options: CallOptions = {
    credentials,
    bulkhead: 'callers',
    fairnessKey: String(visibility.userId),
    requestId,
  };
  const listed = new Set<number>();
  let firstReadMark = 0;
  const pages = paginate(
    (page) => readPage(context, { ...collection, scope }, { order: 'id', detail: 'mapped', ...page }, options),
    { by: 'page', concurrency: 2, pageSize },
  );
  for await (const { records, readMark } of pages) {
    firstReadMark ||= readMark;
    for (const record of records) listed.add(idOf(record));
    // The CMS shows this caller more of a record that was published meanwhile: the poller reads its public
    // view.
    const unpublished = records.filter(({ status }) => status !== 'publish');
    await ingestRecords(context, collection, unpublished, readMark, { byId: true });
  }
  const kind = collection.kind as PostKind;
  const unlisted = replica
    .stamps(kind, { statuses, withoutOccurrences: true })
    .map(({ id }) => id)
    .filter((id) => !listed.has(id) && !isOutdated(memory, kind, id, firstReadMark));
  // The CMS no longer shows them in these statuses: they were deleted, or they became public, which the
  // poller sees.
  const ids = [...replica.getMany(kind, unlisted).values()]
    .filter((record) => author === undefined || record.author === author)
    .map(({ id }) => id);
  await commit(() => ({ deletes: [{ kind, ids }] }));
}
