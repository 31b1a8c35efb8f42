// Without a service account: brings into the copy what one caller may see beyond the public, with the caller's own credentials.

import { type PostKind, WITHHELD } from '../records.ts';
import type { CallOptions, Credentials } from '../upstream/port.ts';
import { type Collection, idOf } from './collections.ts';
import type { Visibility } from './filters.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import { walk } from './walk.ts';

export interface Gatherer {
  credentials: Credentials;
  visibility: Visibility;
  requestId?: string;
}

/** Throws `UpstreamAway` and `UpstreamRefused`: a list that could not be gathered must not be answered from what is there. */
export async function gatherFor(
  caller: Gatherer,
  kinds: readonly PostKind[],
  { replica, taking, collections }: { replica: Replica; taking: Taking; collections: readonly Collection[] },
): Promise<void> {
  const { credentials, visibility, requestId } = caller;
  const share = { lane: 'callers', share: String(visibility.userId) } as const;
  const options: CallOptions = { credentials, ...share, ...(requestId === undefined ? {} : { requestId }) };
  for (const collection of collections) {
    if (!collection.posts || !kinds.includes(collection.kind as PostKind)) continue;
    const hidden = collection.hidden.filter((status) => status !== WITHHELD);
    const others = hidden.filter((status) => visibility.others.includes(status));
    const own = hidden.filter((status) => visibility.own.includes(status) && !others.includes(status));
    if (others.length > 0) await gatherStatuses(collection, others, undefined);
    if (own.length > 0 && visibility.userId !== 0) await gatherStatuses(collection, own, visibility.userId);
  }

  async function gatherStatuses(collection: Collection, statuses: string[], author: number | undefined): Promise<void> {
    const scope = { ...collection.params, status: statuses.join(','), ...(author === undefined ? {} : { author }) };
    const query = { orderby: 'id', order: 'asc', _fields: collection.select };
    const seen = new Set<number>();
    let begunAt = 0;
    const ask = (place: object) => taking.asking.ask(collection, { ...query, ...place }, { scope, options });
    for await (const page of walk(ask, { by: 'page', inFlight: 2, pageSize: taking.asking.pageSize })) {
      begunAt ||= page.askedAt;
      for (const item of page.items) seen.add(idOf(item));
      // What was published meanwhile is rendered for this caller: the poller reads it for everybody.
      const unpublished = page.items.filter(({ status }) => status !== 'publish');
      await taking.take(collection, unpublished, page.askedAt, true);
    }
    const kind = collection.kind as PostKind;
    const copied = replica.ids(kind, { statuses }).map(({ id }) => id);
    const unseen = copied.filter((id) => !seen.has(id) && !taking.marks.isWrittenAfter(kind, id, begunAt));
    const records = [...replica.getMany(kind, unseen).values()];
    // What the CMS no longer shows in these statuses went or became public; the public round finds the latter.
    const gone = records.filter((record) => author === undefined || record.author === author).map(({ id }) => id);
    await taking.commit(() => ({ remove: [{ kind, ids: gone }] }));
  }
}
