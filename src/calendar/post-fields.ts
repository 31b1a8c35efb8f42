// The fields that events, venues and organizers share in a write: author, publication date, status and image.

import { forbidden } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { PostFields, PostKind } from '../model/records.ts';
import { utcZone } from '../time/zones.ts';
import { customFieldsOf, writtenCustomFields } from './custom-fields.ts';
import { parseWrittenDate, zoneOf } from './dates.ts';
import { can, permissionsForWrite } from './permissions.ts';
import type { RequestContext, Rollback } from './request-context.ts';
import type { Services } from './services.ts';

const UNCHANGED = ['title', 'description', 'excerpt', 'slug', 'author'] as const;

/** The context in which a body becomes fields. */
export interface FieldsContext {
  request: RequestContext;
  /** The actor may publish records of the kind. */
  mayPublish: boolean;
  isCreate: boolean;
  rollback: Rollback;
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
  for (const name of UNCHANGED) if (sent[name] !== undefined) fields[name] = sent[name];
  const nowMs = services.nowMs();
  if (sent.date !== undefined)
    fields.date = parseWrittenDate('date', String(sent.date), { nowMs, zone: zoneOf(services) });
  if (sent.dateUtc !== undefined)
    fields.dateUtc = parseWrittenDate('date_utc', String(sent.dateUtc), { nowMs, zone: utcZone });
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
  const permissions = await permissionsForWrite(services, kind, request.actor);
  if (!can(request.actor, 'editOthers', permissions)) throw forbidden(false);
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

/** The fields with some id for the image of the body, to be checked before an upload. */
export const withAnyImage = <F extends Partial<PostFields>>(fields: F, { fields: sent }: Input): F =>
  sent.image === undefined ? fields : { ...fields, image: String(sent.image).trim() === '' ? 0 : 1 };

/** The image of a body, uploaded if necessary. Call it last, because no rollback removes an upload. */
export async function imageField(
  { fields: sent }: Input,
  { request, rollback }: FieldsContext,
): Promise<Pick<PostFields, 'image'> | undefined> {
  return sent.image === undefined ? undefined : { image: await request.images.idOf(String(sent.image), rollback) };
}
