// Removes a record that a failed request created, only if the CMS shows that the record is unchanged and that
// nothing refers to it.

import { isDeepStrictEqual } from 'node:util';
import type { CmsRecord } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import {
  type EventRecord,
  isTermKind,
  type LinkedKind,
  type PostKind,
  type PostRecord,
  type RecordOf,
  type TermKind,
  type TermRecord,
} from '../model/records.ts';
import { callOptions, type RequestContext } from './request-context.ts';
import type { Services } from './services.ts';
import type { CreatedKind } from './used-records.ts';

/**
 * Moves a post to the trash, or deletes a term. Resolves with false and removes nothing if the record has
 * changed since, if something refers to it, or if the CMS does not show that. An image always stays: it has
 * no trash, and WordPress does not say what shows it. Throws what the CMS throws.
 * @param created the record as the CMS described it after the create
 */
export async function removeCreated(
  services: Services,
  kind: CreatedKind,
  id: number,
  created: object,
  request: RequestContext,
): Promise<boolean> {
  if (kind === 'image') return false;
  if (isTermKind(kind)) return removeTerm(services, kind, created as TermRecord, request);
  // A venue that the CMS stores as a term could only be deleted permanently.
  const isPost = services.mapping.kinds[kind]!.storedAs === 'posts';
  return isPost && removePost(services, kind, id, created as PostRecord, request);
}

async function removePost(
  services: Services,
  kind: PostKind,
  id: number,
  created: PostRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cmsRecords } = services;
  const { record } = await cmsRecords.readForEditing(kind, id, request);
  // The last step of the request moved it to the trash.
  if (record.status === 'trash') return true;
  if (!isDeepStrictEqual(withoutRendered(record), withoutRendered(created))) return false;
  if (kind !== 'event' && (await isReferredTo(services, kind, id, created, request))) return false;
  try {
    await cmsRecords.trash(kind, id, request);
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'no-trash') throw error;
    await cmsRecords.delete(kind, id, request);
  }
  return true;
}

async function removeTerm(
  services: Services,
  kind: TermKind,
  created: TermRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cms, cmsRecords, mapping, replica } = services;
  const { id } = created;
  const { record } = await cmsRecords.readForEditing(kind, id, request);
  if (!isDeepStrictEqual({ ...record }, { ...created })) return false;
  if (hasEvents(services, kind, id) || replica.withDescendants([id]).length > 1) return false;
  if (!(await cms.isUnusedTerm(mapping.kinds[kind]!, id, callOptions(request)))) return false;
  await cmsRecords.delete(kind, id, request);
  return true;
}

/** Two reads may render the same text differently. */
function withoutRendered(record: PostRecord | RecordOf[PostKind]): object {
  const { description: _description, excerpt: _excerpt, ...rest } = record;
  return rest;
}

/** Whether an event in the replica, outside the trash, refers to the record. */
function hasEvents({ replica }: Services, kind: LinkedKind | TermKind, id: number): boolean {
  const events = replica.getMany('event', replica.eventIdsShowing(kind, id));
  return [...events.values()].some(({ status }) => status !== 'trash');
}

/**
 * Whether an event refers to the venue or organizer: one in the replica, or one in the CMS that was created
 * or changed since the record was created. True if the CMS does not show all of those.
 */
async function isReferredTo(
  services: Services,
  kind: LinkedKind,
  id: number,
  created: PostRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cms, serviceCredentials, sync } = services;
  if (hasEvents(services, kind, id)) return true;
  const events = services.mapping.kinds.event;
  if (events.linkFields.some((field) => field.kind === kind)) await sync.refreshLinkTables();
  const call = serviceCredentials === undefined ? callOptions(request) : { credentials: serviceCredentials };
  const limit = cms.maxPageSize;
  const toEvent = (cmsRecord: CmsRecord): EventRecord => events.read(cmsRecord, services.site(), sync.linkTables());
  const field = kind === 'venue' ? 'venues' : 'organizers';
  const isOlder = {
    '-id': (event: EventRecord) => event.id < id,
    '-modified': (event: EventRecord) => event.modifiedUtc < created.modifiedUtc,
  };
  for (const order of ['-id', '-modified'] as const) {
    const page = await cms.list(events, { view: 'editor', statuses: 'any', order, limit, detail: 'mapped' }, call);
    const newest = page.records.map(toEvent);
    if (newest.some((event) => event[field].includes(id))) return true;
    const reachesBack = newest.length === page.total || newest.some(isOlder[order]);
    // The total includes records that the CMS does not show to the caller.
    if (!reachesBack || newest.length < Math.min(page.total, limit)) return true;
  }
  return false;
}
