// What writes of events, venues and organizers share: the check of the actor's permissions, the common fields of a
// body, the featured image, and the steps that create, update and trash a post.

import type { ReservedImage } from '../cms/image-fetcher.ts';
import type { CmsRecord } from '../cms/port.ts';
import { ApiError, CmsRejected } from '../errors.ts';
import { alreadyTrashed, forbidden, invalidParam } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { FieldsOf, PostFields, PostKind, RecordOf } from '../model/records.ts';
import { getImage } from '../store/records.ts';
import { utcZone } from '../time/zones.ts';
import { cmsToApiError, type ErrorContext, withApiErrors } from './cms-errors.ts';
import type { CmsResult } from './cms-records.ts';
import { customFieldsOf, writtenCustomFields } from './custom-fields.ts';
import { parseWallTimeIn, zoneOf } from './dates.ts';
import { missingPost, type ReadResult, readPost } from './read-post.ts';
import { callOptions, type RequestContext, type RequestImages, writableMapping } from './request.ts';
import type { Services } from './services.ts';

/** Throws 401 or 403 unless the actor may write posts of this kind. */
export async function authorizeWrite(
  services: Services,
  kind: PostKind,
  { actor }: RequestContext,
): Promise<{ mayPublish: boolean }> {
  if (!actor.account) throw forbidden(true);
  if (!(await services.permissions.allow('edit', kind, actor))) throw forbidden(false);
  return { mayPublish: await services.permissions.allow('publish', kind, actor) };
}

/** The record of an update, as its editor sees it. The CMS decides if the actor is one. Throws its refusal. */
export async function editableRecord<K extends PostKind>(
  services: Services,
  kind: K,
  id: number,
  request: RequestContext,
): Promise<CmsResult<K>> {
  await authorizeWrite(services, kind, request);
  writableMapping(services, kind, id);
  return ofExisting(services, kind, id, request, () => services.cmsRecords.readForEditing(kind, id, request));
}

/** Runs a call about one record. If the CMS lacks it, the id may be that of a record of another kind. */
async function ofExisting<T>(
  services: Services,
  kind: PostKind,
  id: number,
  request: RequestContext,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof CmsRejected && error.kind === 'not-found')
      throw await missingPost(services, kind, id, request);
    throw cmsToApiError(error, { kind, id, anonymous: false });
  }
}

export interface PostTarget<K extends PostKind> {
  kind: K;
  /** Record field -> parameter, for naming the fields that the CMS rejects. */
  parameterOf: Input['parameterOf'];
}

function errorContext<K extends PostKind>(
  services: Services,
  { kind, parameterOf }: PostTarget<K>,
  id?: number,
): ErrorContext {
  const { locations } = writableMapping(services, kind, id);
  const parameterAt = (location: string): string | undefined => {
    const field = [...locations].find(([, at]) => at === location)?.[0];
    // A custom field is a part of one parameter: `customFields.door_time`.
    return field === undefined ? undefined : parameterOf[String(field).split('.', 1)[0]!];
  };
  return { kind, id, anonymous: false, parameterAt };
}

export const createPost = <K extends PostKind>(
  services: Services,
  target: PostTarget<K>,
  fields: Partial<FieldsOf[K]>,
  request: RequestContext,
): Promise<RecordOf[K]> =>
  withApiErrors(errorContext(services, target), () => services.cmsRecords.create(target.kind, fields, request));

/**
 * A post that the actor created before: as its editor if the CMS allows it, otherwise as a single read. Stores it: the
 * gateway may have ended before the CMS's response to the create came. Throws what these reads throw.
 */
export async function readCreated<K extends PostKind>(
  services: Services,
  kind: K,
  id: number,
  request: RequestContext,
): Promise<ReadResult<K>> {
  try {
    const read = () => services.cmsRecords.read(kind, id, request, { view: 'editor' });
    return { record: await withApiErrors({ kind, id, anonymous: false }, read), unlocked: true };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return readPost(services, kind, id, request);
  }
}

/**
 * Throws what the create (without `id`) or update would throw before its write. Call it before anything else
 * of the request is written. Resolves with the CMS record, if the update needs it.
 */
export const checkWrite = <K extends PostKind>(
  services: Services,
  target: PostTarget<K>,
  id: number | undefined,
  fields: Partial<FieldsOf[K]>,
  request: RequestContext,
  current?: CmsRecord,
): Promise<CmsRecord | undefined> =>
  withApiErrors(errorContext(services, target, id), () =>
    services.cmsRecords.check(target.kind, id, fields, request, current),
  );

/** @param current the CMS record, if the caller has just read it for this update */
export const updatePost = <K extends PostKind>(
  services: Services,
  target: PostTarget<K>,
  id: number,
  fields: Partial<FieldsOf[K]>,
  request: RequestContext,
  current?: CmsRecord,
): Promise<RecordOf[K]> =>
  withApiErrors(errorContext(services, target, id), () =>
    services.cmsRecords.update(target.kind, id, fields, request, current),
  );

/**
 * Moves a post to the trash. Deletes it if the CMS stores the kind as terms, which have no trash. Throws 410
 * if it is in the trash.
 */
export async function trashPost<K extends PostKind>(
  services: Services,
  kind: K,
  id: number,
  request: RequestContext,
): Promise<RecordOf[K]> {
  const { cmsRecords } = services;
  const { storedAs } = writableMapping(services, kind, id);
  return ofExisting(services, kind, id, request, async () => {
    if (storedAs === 'posts') return cmsRecords.trash(kind, id, request);
    const { record } = await cmsRecords.readForEditing(kind, id, request);
    if (record.status === 'trash') throw alreadyTrashed(kind);
    await cmsRecords.delete(kind, id, request);
    return { ...record, status: 'trash' };
  });
}

/**
 * Moves a post that was just created to the trash, and restores its slug, which the CMS changes in the trash.
 */
export async function trashCreated<K extends PostKind>(
  services: Services,
  target: PostTarget<K>,
  record: RecordOf[K],
  slug: string,
  request: RequestContext,
): Promise<RecordOf[K]> {
  await trashPost(services, target.kind, record.id, request);
  return updatePost(services, target, record.id, { slug } as Partial<FieldsOf[K]>, request);
}

/** Fields that are stored as they were sent. */
const STORED_AS_SENT = ['title', 'description', 'excerpt', 'slug', 'author'] as const;

/** The context in which a body becomes fields. */
export interface FieldsContext {
  request: RequestContext;
  /** The actor may publish records of the kind. */
  mayPublish: boolean;
  isCreate: boolean;
}

/**
 * The common fields of a body. The status `trash` is not stored: the caller moves the record to the trash
 * afterwards.
 */
export async function postFields(
  services: Services,
  kind: PostKind,
  { fields: sent }: Input,
  { request, mayPublish, isCreate }: FieldsContext,
): Promise<Partial<PostFields>> {
  await assertMaySetAuthor(services, kind, sent.author, request);
  const fields: Record<string, unknown> = {};
  for (const name of STORED_AS_SENT) if (sent[name] !== undefined) fields[name] = sent[name];
  const nowMs = services.nowMs();
  if (sent.date !== undefined)
    fields.date = parseWallTimeIn('date', String(sent.date), { nowMs, zone: zoneOf(services) });
  if (sent.dateUtc !== undefined)
    fields.dateUtc = parseWallTimeIn('date_utc', String(sent.dateUtc), { nowMs, zone: utcZone });
  const status = storedStatus(sent.status as string | undefined, mayPublish, isCreate);
  if (status !== undefined) fields.status = status;
  const customFields = writtenCustomFields(customFieldsOf(services.mapping, kind), sent.customFields);
  if (customFields) fields.customFields = customFields;
  return fields;
}

/** Throws 403 if the actor may not give a record another author. */
async function assertMaySetAuthor(
  services: Services,
  kind: PostKind,
  author: unknown,
  request: RequestContext,
): Promise<void> {
  if (author === undefined || Number(author) === request.actor.account?.userId) return;
  if (!(await services.permissions.allow('editOthers', kind, request.actor))) throw forbidden(false);
}

/** The status to store. Undefined: an update does not change it. */
function storedStatus(sent: string | undefined, mayPublish: boolean, isCreate: boolean): string | undefined {
  if (sent === 'trash') return isCreate ? 'draft' : undefined;
  if (sent === undefined) {
    if (!isCreate) return undefined;
    return mayPublish ? 'publish' : 'draft';
  }
  if (!mayPublish && ['publish', 'future', 'private'].includes(sent)) return 'pending';
  return sent;
}

/**
 * The fields of a body before an upload, to be checked: 1 stands for the image, whose id is not known before
 * the upload.
 */
export const withPlaceholderImage = <F extends Partial<PostFields>>(fields: F, { fields: sent }: Input): F =>
  sent.image === undefined ? fields : { ...fields, image: String(sent.image).trim() === '' ? 0 : 1 };

/** The image of a body, uploaded if necessary. Call it last: an upload stays if a later step fails. */
export async function imageField(
  { fields: sent }: Input,
  { request }: FieldsContext,
): Promise<Pick<PostFields, 'image'> | undefined> {
  return sent.image === undefined ? undefined : { image: await request.images!.idOf(String(sent.image)) };
}

/** Image URLs per request. The gateway fetches each from another server, which it must not flood. */
const MAX_URLS = 20;

/**
 * `idOf` throws 400 for an image that was not usable and for an upload that the CMS rejects. `isUsable`
 * and `idOf` throw `CmsUnavailable`.
 */
export function createRequestImages(
  services: Services,
  request: Pick<RequestContext, 'actor' | 'requestId' | 'created'>,
): RequestImages {
  /** Ids of checked images, by the sent text. */
  const ids = new Map<string, number>();
  const fetched = new Map<string, ReservedImage>();
  let urlCount = 0;

  async function isUploaded(id: number): Promise<boolean> {
    const { replica, unknownRecords, cmsRecords } = services;
    if (getImage(replica.db, id)) return true;
    // WordPress shows uploads to a hidden post only to some actors.
    const name = `image ${id} ${request.actor.account?.userId ?? ''}`;
    if (unknownRecords.isMissing(name)) return false;
    const found = await unknownRecords.lookUp(request.actor, async () => {
      const image = await cmsRecords.readImage(id, request);
      if (!image) unknownRecords.markMissing(name);
      return image !== undefined;
    });
    return found?.result ?? false;
  }

  /** The id of the upload with this URL on the site. */
  async function findUpload(url: string): Promise<number | undefined> {
    const { host } = new URL(services.site().url);
    if (!URL.canParse(url) || new URL(url).host !== host) return undefined;
    try {
      return await services.cms.findImage(url, callOptions(request));
    } catch (error) {
      if (error instanceof CmsRejected) return undefined;
      throw error;
    }
  }

  return {
    async isUsable(value) {
      const text = String(value).trim();
      if (/^\d+$/.test(text)) {
        const isKnown = await isUploaded(Number(text));
        if (isKnown) ids.set(text, Number(text));
        return isKnown;
      }
      if (!URL.canParse(text)) return false;
      // The gateway fetches nothing for an anonymous actor, whose write fails later.
      if (!request.actor.account) return true;
      if (!request.actor.account.mayUpload) return false;
      if (ids.has(text) || fetched.has(text)) return true;
      urlCount += 1;
      if (urlCount > MAX_URLS) return false;
      const uploadId = await findUpload(text);
      if (uploadId !== undefined) {
        ids.set(text, uploadId);
        return true;
      }
      const image = await services.imageFetcher.fetch(text, request.actor.account.userId);
      if (image) fetched.set(text, image);
      return image !== undefined;
    },
    needsUpload: (value) => fetched.has(value.trim()) && !ids.has(value.trim()),
    async idOf(value) {
      const text = value.trim();
      if (text === '') return 0;
      const known = ids.get(text);
      if (known !== undefined) return known;
      const reserved = fetched.get(text);
      if (!reserved) throw invalidParam('image');
      try {
        const id = await services.cmsRecords.uploadImage(reserved.image, request);
        reserved.release();
        ids.set(text, id);
        return id;
      } catch (error) {
        throw error instanceof CmsRejected ? invalidParam('image') : error;
      }
    },
    release() {
      for (const reserved of fetched.values()) reserved.release();
      fetched.clear();
    },
  };
}
