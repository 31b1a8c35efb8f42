// Reads one event, venue or organizer, by id or slug: from the replica if it has it, otherwise from the CMS with the
// actor's own credentials. Also tells whether a post or a term exists.

import type { ReadRequest } from '../cms/port.ts';
import { type ApiError, CmsRejected, ifRejected } from '../errors.ts';
import { noLongerAvailable, notAccessible, notAnEvent, passwordProtected } from '../interface/errors.ts';
import type { Input, ReferenceChecks } from '../interface/parameter.ts';
import type { JsonObject } from '../model/json.ts';
import {
  type EventRecord,
  FIRST_EMBEDDED_ID,
  isPostKind,
  type Kind,
  type LinkedRecord,
  MAX_SLUG_BYTES,
  type PostKind,
  type RecordOf,
  type TermKind,
} from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { isLinkedToEvent } from '../store/lists.ts';
import { getImage, getRecord, idsBySlug, kindOf, stampsById, termIdByName, termIdBySlug } from '../store/records.ts';
import { slugKey, slugOf } from '../text/text.ts';
import { NUMBER } from '../time/php-dates.ts';
import { unknownId, withApiErrors } from './cms-errors.ts';
import { findRendered, renderPublic, singleResponse } from './rendered-records.ts';
import { type ApiResponse, callOptions, unpublishedScopes } from './request.ts';
import { type Audience, type SerializeOptions, serialize } from './serializer.ts';
import type { ApiRequest, Services } from './services.ts';

/** `Cms.isIdTaken` makes at most this many calls. */
const ID_CALLS = 2;

/** `editing`: the request has `context=edit`. */
type ReadOptions = { password?: string | undefined; editing?: boolean };

/** A post that the actor may read. `unlocked`: the actor sent the password, or reads the record as its editor. */
async function readPost<K extends PostKind>(kind: K, id: number, request: ApiRequest, options: ReadOptions) {
  const { db } = request.services.replica;
  let record = getRecord(db, kind, id);
  if (!record) {
    const isOfOtherKind = kindOf(db, id) !== undefined;
    if (isOfOtherKind) throw kind === 'event' ? notAnEvent() : unknownId(kind, id);
    record = await lookUpPost(kind, id, request);
    if (kind === 'event' && record.status === 'trash') throw noLongerAvailable();
  }
  const inFull = record.protected ? await unlock(kind, id, request, options) : undefined;
  if (record.protected && !inFull && kind === 'event') throw passwordProtected();
  return { record: inFull ?? record, unlocked: inFull !== undefined };
}

/**
 * The JSON of a post that the actor has written, or that they may read, with the unpublished venues, organizers and
 * images that the CMS shows the actor. If the CMS fails, these are left out: the response is about the post.
 */
export async function asActorSees(
  record: EventRecord | LinkedRecord,
  request: ApiRequest,
  options: SerializeOptions,
): Promise<JsonObject> {
  const { replica, unpublishedRecords } = request.services;
  const jsonIn = (visible: VisibleRecords) => serialize(record, { ...request, visible }, options);
  const linked = record.kind === 'event' ? [...record.venues, ...record.organizers] : [];
  const areLinkedPublic = linked.every((id) => kindOf(replica.db, id) !== undefined);
  const missingImages = record.image === 0 || getImage(replica.db, record.image) ? [] : [record.image];
  const isAllPublic = areLinkedPublic && missingImages.length === 0;
  if (isAllPublic || !request.actor.account) return jsonIn(replica.db);
  try {
    const scopes = areLinkedPublic ? {} : await unpublishedScopes(request.services, ['venue', 'organizer'], request);
    return await unpublishedRecords.use(request, scopes, async ({ records, addImagesOf }) => {
      await addImagesOf(linked, missingImages);
      return jsonIn(records);
    });
  } catch {
    return jsonIn(replica.db);
  }
}

/** The response to a read of one post. Anonymous callers without a password share one rendering. */
export async function singlePost(kind: PostKind, id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
  const { db } = request.services.replica;
  // Only the read of an event by its id declares the parameter: otherwise it is in `raw` alone.
  const password = (input.values.password ?? input.raw.password) as string | undefined;
  const editing = input.raw.context === 'edit';
  const isPlain = !password && !request.actor.account;
  const audience: Audience = { ...request, visible: db };
  const rendered = isPlain ? findRendered(kind, id, audience, 'single') : undefined;
  if (rendered) return singleResponse(rendered);
  const { record, unlocked } = await readPost(kind, id, request, { password, editing });
  // A record that only the CMS has is not cached: when the CMS deletes the record, the replica does not change.
  const shared = isPlain ? getRecord(db, kind, id) : undefined;
  if (shared)
    return singleResponse(renderPublic(shared, audience, 'single', serialize(shared, audience, { single: true })));
  return { status: 200, body: await asActorSees(record, request, { single: true, unlocked }) };
}

/** The response to a repeated create: the record as the CMS shows it to the actor now. */
export async function readForReplay(kind: PostKind, id: number, request: ApiRequest): Promise<ApiResponse> {
  const record = await withApiErrors({ kind, id }, () => readAsActor(kind, id, request));
  return { status: 201, body: await asActorSees(record, request, {}) };
}

/** A protected post in full, with the correct password, or for its editor with `context=edit`; otherwise undefined. */
async function unlock<K extends PostKind>(
  kind: K,
  id: number,
  request: ApiRequest,
  { password, editing }: ReadOptions,
): Promise<RecordOf[K] | undefined> {
  const { permissions, cmsRecords, passwordAttempts } = request.services;
  const asEditor = editing && (await permissions.allow('edit', kind, request.actor));
  if (!password && !asEditor) return undefined;
  const how: ReadRequest = asEditor ? { view: 'editor' } : { view: 'public', password: password! };
  const read = async () => (await cmsRecords.read(kind, id, request, how)).record;
  const isGuess = !asEditor && !request.actor.account;
  const reading = isGuess ? passwordAttempts.read(`${kind} ${id}`, password!, read) : read();
  const noneIfRefused = (error: CmsRejected): undefined => {
    if (error.status >= 500) throw error;
  };
  return reading.catch(ifRejected(noneIfRefused));
}

/**
 * A post that the replica lacks, from the CMS:
 *
 *   the actor may read it             the record
 *   an event that is in the trash     `noLongerAvailable`: the CMS hides it like a draft, the journal remembers it
 *   hidden, as a draft is             `notAccessible`
 *   missing                           the error of `missingPost`
 *   the actor may cause no call       `unknownId`, or `noLongerAvailable`
 */
async function lookUpPost<K extends PostKind>(kind: K, id: number, request: ApiRequest): Promise<RecordOf[K]> {
  const { mapping, lookupLimit, replica } = request.services;
  if (!mapping.kinds[kind]) throw unknownId(kind, id);
  const isTrashed = () => kind === 'event' && replica.journal.cancelled(id) !== undefined;
  const refuse = async (error: CmsRejected): Promise<never> => {
    if (error.status === 401 || error.status === 403) throw isTrashed() ? noLongerAvailable() : notAccessible(kind);
    if (error.status !== 404 || error.kind === 'no-collection') throw error;
    throw await missingPost(kind, id, request);
  };
  const read = () => readAsActor(kind, id, request).catch(ifRejected(refuse));
  const record = await lookupLimit.lookUp(request.actor, read);
  if (record) return record;
  throw isTrashed() ? noLongerAvailable() : unknownId(kind, id);
}

/** The error for an id that no record of the kind has in the CMS. Of an event: whether another record has the id. */
export async function missingPost(kind: PostKind, id: number, request: ApiRequest): Promise<ApiError> {
  const { replica, lookupLimit, cms } = request.services;
  if (kind === 'event') {
    if (kindOf(replica.db, id) !== undefined || getImage(replica.db, id)) return notAnEvent();
    const mayAsk = lookupLimit.tryTake(request.actor, ID_CALLS);
    if (mayAsk && (await cms.isIdTaken(id, callOptions(request)))) return notAnEvent();
  }
  return unknownId(kind, id);
}

/** The post in the view `editor`, if the actor may edit the kind and the CMS agrees; else as the actor may read it. */
async function readAsActor<K extends PostKind>(kind: K, id: number, request: ApiRequest): Promise<RecordOf[K]> {
  const { cmsRecords, permissions } = request.services;
  if (await permissions.allow('edit', kind, request.actor)) {
    try {
      return (await cmsRecords.read(kind, id, request, { view: 'editor' })).record;
    } catch (error) {
      if (!(error instanceof CmsRejected) || error.kind !== 'forbidden') throw error;
    }
  }
  return (await cmsRecords.read(kind, id, request)).record;
}

/**
 * Whether the actor may learn that the record exists: an embedded record only if an event that contains it is public.
 * The id and the slug of an embedded record derive from its text: to find one would confirm a guess.
 */
export const mayKnow = ({ replica }: Services, kind: PostKind, id: number): boolean =>
  kind === 'event' || id < FIRST_EMBEDDED_ID || isLinkedToEvent(replica.db, kind, id);

/** Whether the post exists, even if the actor may not see it. Throws `CmsUnavailable`. */
export async function postExists(kind: PostKind, id: number, request: ApiRequest): Promise<boolean> {
  const { services } = request;
  const storedKind = kindOf(services.replica.db, id);
  if (storedKind !== undefined) return storedKind === kind && mayKnow(services, kind, id);
  return (await findInCms(kind, [id], request)).includes(id);
}

/** Which of these terms exist, in the replica or in the CMS. Throws `CmsUnavailable`. */
export async function existingTermIds(kind: TermKind, ids: readonly number[], request: ApiRequest) {
  const stored = stampsById(request.services.replica.db, kind, ids);
  const unknown = [...new Set(ids)].filter((id) => !stored.has(id));
  return new Set([...stored.keys(), ...(await findInCms(kind, unknown, request))]);
}

/**
 * Which of these records, all of which the replica lacks, exist in the CMS. None if the actor may not
 * cause a call: a visitor's guesses must not keep the CMS busy.
 */
async function findInCms(kind: Kind, ids: readonly number[], request: ApiRequest): Promise<readonly number[]> {
  const { cmsRecords, mapping, lookupLimit } = request.services;
  // WordPress's routes do not match an id that JavaScript writes with an exponent.
  const wanted = ids.filter((id) => Number.isSafeInteger(id));
  const [first, ...others] = wanted;
  if (!mapping.kinds[kind] || first === undefined) return [];
  const read = async (): Promise<readonly number[]> => {
    if (others.length > 0) return cmsRecords.readMany(kind, wanted, request);
    await cmsRecords.read(kind, first, request);
    return wanted;
  };
  const whenRejected = (error: CmsRejected): readonly number[] => {
    // WordPress refuses only posts that exist. Of a taxonomy it refuses every id, also one that no term has.
    if (error.status === 401 || error.status === 403) return isPostKind(kind) ? wanted : [];
    if (error.kind === 'no-collection') throw error;
    return [];
  };
  return (await lookupLimit.lookUp(request.actor, () => read().catch(ifRejected(whenRejected)))) ?? [];
}

/** The slugs of `Folk Night`: `folk night`, and `folk-night`, which a post with this title gets. */
export const slugsOf = (text: string): string[] => [
  ...new Set([slugKey(text), slugKey(text.trim().replace(/[\s.+-]+/g, '-'))]),
];

/**
 * The id of the post with this slug, or with the slug that the text would get as a title: `Folk Night` finds
 * `folk-night`. Undefined if the actor may know of none. Throws `CmsUnavailable`.
 */
export async function resolveSlug(kind: PostKind, text: string, request: ApiRequest): Promise<number | undefined> {
  for (const slug of slugsOf(text)) {
    const id = await findBySlug(kind, slug, request);
    if (id !== undefined) return id;
  }
  return undefined;
}

async function findBySlug(kind: PostKind, slug: string, request: ApiRequest): Promise<number | undefined> {
  const { mapping, lookupLimit, permissions, cmsRecords } = request.services;
  const stored = findInReplica(request.services, kind, slug);
  if (stored !== undefined) return stored;
  if (slug.length > MAX_SLUG_BYTES || !mapping.kinds[kind]) return undefined;
  const isForStaff = await permissions.allow('edit', kind, request.actor);
  const noneIfRefused = (error: CmsRejected): undefined => {
    if (error.kind === 'no-collection' || error.status >= 500) throw error;
  };
  const find = () => cmsRecords.findBySlug(kind, slug, request, isForStaff).catch(ifRejected(noneIfRefused));
  return (await lookupLimit.lookUp(request.actor, find))?.id;
}

/** A cached id counts while its record has the slug: `folk-night` -> 12, until an editor changes the slug of 12. */
function findInReplica({ replica, slugs }: Services, kind: PostKind, slug: string): number | undefined {
  const key = `${kind} ${slug}`;
  const cached = slugs.get(key);
  if (cached !== undefined && slugKey(getRecord(replica.db, kind, cached)?.slug ?? '') === slug) return cached;
  const [id] = idsBySlug(replica.db, kind, slug);
  if (id !== undefined) slugs.set(key, id);
  return id;
}

/** The lowest id of a term in the replica with the text as its slug, else with the text's slug, else with its name. */
export function findTermByText({ replica: { db } }: Services, kind: TermKind, text: string): number | undefined {
  // A number is an id, and no title.
  const slug = NUMBER.test(text) ? '' : slugOf(text);
  // `???` would get the slug `''`, which every term has on a site without slugs.
  const bySlugOfText = slug === '' ? undefined : termIdBySlug(db, kind, slug);
  return termIdBySlug(db, kind, text) ?? bySlugOfText ?? termIdByName(db, kind, text);
}

/**
 * The checks of one request. They look into the replica first, and then call the CMS with the actor's credentials. They
 * throw `CmsUnavailable`.
 * @param kind of the request's route; undefined on a route without records
 */
export async function referenceChecks(request: ApiRequest, kind: Kind | undefined): Promise<ReferenceChecks> {
  const { services } = request;
  const { account } = request.actor;
  const termExists = async (kind: TermKind, id: number) => (await existingTermIds(kind, [id], request)).has(id);
  return {
    isStaff: kind !== undefined && (await services.permissions.allow('edit', kind, request.actor)),
    exists: (of, id) => (isPostKind(of) ? postExists(of, id, request) : termExists(of, id)),
    async slugExists(of, slug) {
      const id = await resolveSlug(of, slug, request);
      return id !== undefined && mayKnow(services, of, id);
    },
    async findTerm(of, text) {
      const bySlug = termIdBySlug(services.replica.db, of, text);
      if (bySlug !== undefined) return bySlug;
      if (/^\d+$/.test(text) && (await termExists(of, Number(text)))) return Number(text);
      return findTermByText(services, of, text);
    },
    // Of an anonymous writer any id is taken: a later check rejects the request, and it must not cause a call here.
    userExists: async (id) => !account || id === account.userId || services.cms.accountExists(id, callOptions(request)),
    fetchImageIfUsable: (value) => request.images!.fetchIfUsable(value),
  };
}
