// What writes of events, venues and organizers share: the check of the actor's permissions, the common fields of a
// body, the featured image, and the steps that create, update and trash a post.

import type { CmsRecord } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import { invalidParam, type ParamError } from '../interface/errors.ts';
import { BODY_PARAMETERS, copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import type { FieldsOf, PostFields, PostKind, RecordOf } from '../model/records.ts';
import { getRecord, kindOf } from '../store/records.ts';
import { utcZone } from '../time/zones.ts';
import { cmsToApiError, withApiErrors } from './cms-errors.ts';
import { writtenCustomFields } from './custom-fields.ts';
import { parseWallTimeIn, zoneOf } from './dates.ts';
import { missingPost } from './read-post.ts';
import { writableMapping } from './request.ts';
import type { ApiRequest } from './services.ts';

export interface PostWrite<K extends PostKind> {
  kind: K;
  input: Input;
  request: ApiRequest;
  /** The record of an update, as its editor sees it, and the CMS record that it was read from. */
  stored?: RecordOf[K];
  cmsRecord?: CmsRecord;
}

/**
 * Begins a create, or the update of the record with this id. Throws 401 or 403 unless the actor may write posts of this
 * kind; for an update also what the CMS answers to a caller who may not edit the record.
 */
export async function beginWrite<K extends PostKind>(
  kind: K,
  input: Input,
  request: ApiRequest,
  id?: number,
): Promise<PostWrite<K>> {
  const { services } = request;
  await services.permissions.demand('edit', kind, request.actor);
  const write = { kind, input, request };
  if (id === undefined) return write;
  writableMapping(services, kind, id);
  const read = () => services.cmsRecords.read(kind, id, request, { view: 'editor' });
  const { record, cmsRecord } = await ofExisting(kind, id, request, read);
  return { ...write, stored: record, cmsRecord };
}

/** Runs a call about one record. If the CMS lacks it, the id may be that of a record of another kind. */
async function ofExisting<T>(kind: PostKind, id: number, request: ApiRequest, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'not-found') throw cmsToApiError(error, { kind, id });
    const { replica, permissions } = request.services;
    // An author who names the venue of another as an event gets a 403: the permission is checked first.
    const other = kindOf(replica.db, id);
    if (other && other !== kind && getRecord(replica.db, other, id)?.author !== request.actor.account?.userId)
      await permissions.demand('editOthers', other, request.actor);
    throw await missingPost(kind, id, request);
  }
}

/**
 * Runs calls of a write. Their errors name the parameters of the fields that the CMS rejects. Throws 403 first if the
 * mapping has the kind or the record for reading only.
 */
function withWriteErrors<T>(
  { kind, input, request, stored }: PostWrite<PostKind>,
  calls: () => Promise<T>,
): Promise<T> {
  const id = stored?.id;
  const { writtenPathsByProperty } = writableMapping(request.services, kind, id);
  const isBlank = (value: unknown) => String(value ?? '').trim() === '';
  // Of `meta.day`, where the mapping stores start_date and end_date: those of the two that were sent, or else both.
  const parametersAt = (path: string): ParamError[] => {
    const written = [...writtenPathsByProperty].filter(([, paths]) => paths.includes(path));
    // A custom field is a part of one parameter: `customFields.last_bus`.
    const properties = written.map(([property]) => String(property).split('.', 1)[0]!);
    const sent = properties.filter((property) => input.parameterOf[property] !== undefined);
    const isMissing = (property: string) => isBlank(input.byProperty[property]);
    if (sent.length > 0) return sent.map((name) => ({ name: input.parameterOf[name]!, isMissing: isMissing(name) }));
    const declared = BODY_PARAMETERS[kind].filter(({ name, property = name }) => properties.includes(property));
    return declared.map(({ name }) => ({ name, isMissing: true }));
  };
  return withApiErrors({ kind, id, parametersAt }, calls);
}

/**
 * Throws what `save` would throw before its write, and stores nothing. Call it before anything else of the request is
 * written. The image is not uploaded yet, so its id is not known: 1 stands for any image, 0 for none.
 */
export async function checkWrite<K extends PostKind>(write: PostWrite<K>, fields: Partial<FieldsOf[K]>): Promise<void> {
  const { kind, input, request, stored, cmsRecord } = write;
  const { image } = input.byProperty;
  const checked = image === undefined ? fields : { ...fields, image: String(image).trim() === '' ? 0 : 1 };
  if (stored && Object.keys(checked).length === 0) return;
  await withWriteErrors(write, () => request.services.cmsRecords.bodyOf(kind, stored?.id, checked, request, cmsRecord));
}

/** Creates or updates the post, and moves it to the trash if the body says so. An update may change nothing. */
export async function save<K extends PostKind>(
  write: PostWrite<K>,
  fields: Partial<FieldsOf[K]>,
): Promise<RecordOf[K]> {
  const { kind, input, request, stored, cmsRecord } = write;
  const { cmsRecords } = request.services;
  let record = stored;
  if (!record) record = await withWriteErrors(write, () => cmsRecords.create(kind, fields, request));
  else if (Object.keys(fields).length > 0)
    record = await withWriteErrors(write, () => cmsRecords.update(kind, stored!.id, fields, request, cmsRecord));
  const { id, status } = record;
  if (input.byProperty.status !== 'trash' || status === 'trash') return record;
  const trashed = await trashPost(kind, id, request);
  if (stored) return trashed;
  // In the trash WordPress makes `fair__trashed` of the slug `fair`. The original keeps `fair`: so it is sent again.
  // If no slug was sent, the title is sent as the slug: WordPress makes `fair` of `Fair!`.
  const slug = { slug: String(fields.slug ?? fields.title) } as Partial<FieldsOf[K]>;
  return withWriteErrors(write, () => cmsRecords.update(kind, id, slug, request));
}

/** Moves a post to the trash. Deletes it if the CMS stores the kind as terms, which have no trash. */
export async function trashPost<K extends PostKind>(kind: K, id: number, request: ApiRequest): Promise<RecordOf[K]> {
  const { permissions, cmsRecords } = request.services;
  await permissions.demand('edit', kind, request.actor);
  const { storedAs } = writableMapping(request.services, kind, id);
  return ofExisting(kind, id, request, async () => {
    if (storedAs === 'posts') return cmsRecords.trash(kind, id, request);
    const { record } = await cmsRecords.read(kind, id, request, { view: 'editor' });
    await cmsRecords.delete(kind, id, request);
    return { ...record, status: 'trash' };
  });
}

/**
 * Throws 400 for a value that the mapping cannot store, if the original API lacks the field (`addition`): a latitude.
 * A client may send back what a response has shown.
 */
function assertStorable({ request, kind, input: { byProperty }, stored }: PostWrite<PostKind>): void {
  const mapping = request.services.mapping.kinds[kind];
  if (!mapping || mapping.readOnly) return;
  const writable: ReadonlySet<string> = mapping.writable;
  for (const [name, { property, empty, parameter }] of copiedFields(kind)) {
    if (!parameter?.addition || writable.has(property) || byProperty[property] === undefined) continue;
    const shown = stored ? Reflect.get(stored, property) : empty;
    if ((byProperty[property] ?? empty) !== shown) throw invalidParam(name, 'This calendar cannot store it.');
  }
}

const COMMON_FIELDS = ['title', 'description', 'excerpt', 'slug', 'author'] as const;

/**
 * The common fields of a body, without the image. The status `trash` is not stored: `save` moves the record to the
 * trash afterwards. Throws 403 if the actor may not give a record another author.
 */
export async function postFields(write: PostWrite<PostKind>): Promise<Partial<PostFields>> {
  const { kind, request, stored } = write;
  const { byProperty } = write.input;
  const { actor, services } = request;
  const isOwn = byProperty.author === undefined || Number(byProperty.author) === actor.account?.userId;
  if (!isOwn) await services.permissions.demand('editOthers', kind, actor);
  assertStorable(write);
  const fields: Record<string, unknown> = {};
  for (const name of COMMON_FIELDS) if (byProperty[name] !== undefined) fields[name] = byProperty[name];
  const nowMs = services.nowMs();
  if (byProperty.date !== undefined)
    fields.date = parseWallTimeIn('date', String(byProperty.date), { nowMs, zone: zoneOf(services) });
  if (byProperty.dateUtc !== undefined)
    fields.dateUtc = parseWallTimeIn('date_utc', String(byProperty.dateUtc), { nowMs, zone: utcZone });
  const mayPublish = await services.permissions.allow('publish', kind, actor);
  const status = storedStatus(byProperty.status as string | undefined, mayPublish, !stored);
  if (status !== undefined) fields.status = status;
  const customFields = writtenCustomFields(services.mapping, kind, byProperty.customFields);
  if (customFields) fields.customFields = customFields;
  return fields;
}

/**
 * The status to store. Undefined: an update does not change it.
 *
 *   sent                        create                     update
 *   trash                       draft (then `save`)        undefined (then `save`)
 *   nothing                     publish, else draft        undefined
 *   publish, future, private    as sent, else pending      as sent, else pending
 *   draft, pending              as sent                    as sent
 */
function storedStatus(sent: string | undefined, mayPublish: boolean, isCreate: boolean): string | undefined {
  if (sent === 'trash') return isCreate ? 'draft' : undefined;
  if (sent === undefined) {
    if (!isCreate) return undefined;
    return mayPublish ? 'publish' : 'draft';
  }
  if (!mayPublish && ['publish', 'future', 'private'].includes(sent)) return 'pending';
  return sent;
}

/** The image of a body, uploaded if necessary. Call it last: an upload stays if a later step fails. */
export async function imageField(write: PostWrite<PostKind>): Promise<Pick<PostFields, 'image'> | undefined> {
  const { image } = write.input.byProperty;
  const writable: ReadonlySet<string> | undefined = write.request.services.mapping.kinds[write.kind]?.writable;
  if (image === undefined) return undefined;
  // Where the mapping has no place for an image, none is uploaded: nothing would refer to it. The writer leaves out
  // this 0, as it does with every value that the mapping cannot store.
  if (!writable?.has('image')) return { image: 0 };
  return { image: await write.request.images!.idOf(String(image)) };
}
