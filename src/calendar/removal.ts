// Removing one record that a refused request created: only when the CMS shows that the record is unchanged and that nothing refers to it.

import { isDeepStrictEqual } from 'node:util';
import { UpstreamRefused } from '../errors.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import type { EventRecord, LinkedKind, PostKind, PostRecord, RecordOf, TermKind, TermRecord } from '../records.ts';
import type { Native, Query } from '../upstream/port.ts';
import { type Asked, callOptions } from './asked.ts';
import type { Backing } from './backing.ts';
import { keep } from './posts.ts';
import type { CreatedKind } from './references.ts';

/**
 * Removes what this request created, as the CMS described it then: a post goes to the trash, a term is deleted. Resolves with false, and
 * removes nothing, when the record was changed since, when something refers to it, or when the CMS does not show that. An image always
 * stays: there is no trash for it, and WordPress does not tell what shows it. Throws what the CMS throws.
 */
export async function removeCreated(
  backing: Backing,
  kind: CreatedKind,
  id: number,
  record: object,
  asked: Asked,
): Promise<boolean> {
  if (kind === 'image') return false;
  const { as } = backing.mapping.kinds[kind]!;
  if (kind === 'category' || kind === 'tag') return removeTerm(backing, kind, record as TermRecord, asked);
  // A venue that is a term could only be deleted for good.
  return as === 'posts' && removePost(backing, kind, id, record as PostRecord, asked);
}

async function removePost<K extends PostKind>(
  backing: Backing,
  kind: K,
  id: number,
  record: PostRecord,
  asked: Asked,
): Promise<boolean> {
  const { upstream, keeping } = backing;
  const mapping = backing.mapping.kinds[kind] as unknown as KindMapping<K>;
  const options = callOptions(asked);
  const native = await upstream.read(mapping.base, id, { context: 'edit' }, options);
  const now = mapping.read(native, backing.site(), backing.sync.joins());
  // The last step of the request moved it there.
  if (now.status === 'trash') return true;
  if (!isDeepStrictEqual(withoutRendered(now), withoutRendered(record))) return false;
  if (kind !== 'event' && (await isReferredTo(backing, kind, id, record, asked))) return false;
  const moment = keeping.moment();
  try {
    const trashed = await upstream.remove(mapping.base, id, { force: false }, options);
    await keep(backing, kind, trashed, { moment, wrote: true, as: options });
  } catch (error) {
    if (!(error instanceof UpstreamRefused) || error.code !== 'rest_trash_not_supported') throw error;
    await upstream.remove(mapping.base, id, { force: true }, options);
    await keeping.wrote({ remove: [{ kind, ids: [id] }] }, moment);
  }
  return true;
}

async function removeTerm(backing: Backing, kind: TermKind, record: TermRecord, asked: Asked): Promise<boolean> {
  const { upstream, keeping, replica } = backing;
  const mapping = backing.mapping.kinds[kind]!;
  const options = callOptions(asked);
  const { id } = record;
  const now = mapping.read(await upstream.read(mapping.base, id, {}, options), backing.site());
  if (!isDeepStrictEqual({ ...now }, { ...record })) return false;
  if (hasLiveEvents(backing, kind, id) || replica.descendants([id]).length > 1) return false;
  if (!(await upstream.isUnusedTerm(mapping.base, id, options))) return false;
  const moment = keeping.moment();
  await upstream.remove(mapping.base, id, { force: true }, options);
  await keeping.wrote({ remove: [{ kind, ids: [id] }] }, moment);
  return true;
}

/** Rendered texts may differ from one reading to the next; their sources may not. */
function withoutRendered(record: PostRecord | RecordOf[PostKind]): object {
  const { description: _description, excerpt: _excerpt, ...rest } = record;
  return rest;
}

function hasLiveEvents(backing: Backing, kind: LinkedKind | TermKind, id: number): boolean {
  const events = backing.replica.getMany('event', backing.replica.eventsWith(kind, id));
  return [...events.values()].some(({ status }) => status !== 'trash');
}

const NEWEST = 100;

/**
 * Whether an event refers to this venue or organizer: one in the replica, or one in the CMS that was created or changed since the record
 * was created. True when the CMS does not show all of those.
 */
async function isReferredTo(
  backing: Backing,
  kind: LinkedKind,
  id: number,
  record: PostRecord,
  asked: Asked,
): Promise<boolean> {
  if (hasLiveEvents(backing, kind, id)) return true;
  const events = backing.mapping.kinds.event;
  if (events.joins?.some((join) => join.kind === kind)) await backing.sync.refreshJoins();
  const options = backing.service === undefined ? callOptions(asked) : { credentials: backing.service };
  const query: Query = { ...events.listParams, status: 'any', context: 'edit', per_page: NEWEST, order: 'desc' };
  const read = (native: Native): EventRecord => events.read(native, backing.site(), backing.sync.joins());
  for (const [orderby, isOlder] of [
    ['id', (event: EventRecord) => event.id < id],
    ['modified', (event: EventRecord) => event.modifiedUtc < record.modifiedUtc],
  ] as const) {
    const page = await backing.upstream.list(events.base, { ...query, orderby, _fields: events.select }, options);
    const found = page.items.map(read);
    if (found.some((event) => event[kind === 'venue' ? 'venues' : 'organizers'].includes(id))) return true;
    const reachesBack = found.length === page.total || found.some(isOlder);
    // Records that the caller may not see are counted and not shown.
    if (!reachesBack || found.length < Math.min(page.total, NEWEST)) return true;
  }
  return false;
}
