// Writing one record: what the caller may do, one native call, and its answer into the copy.

import { GatewayError } from '../errors.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import type { FieldsOf, Kind, PostKind, RecordOf } from '../records.ts';
import type { Native } from '../upstream/port.ts';
import { type Asked, callOptions, createKeyOf, type Rollback } from './asked.ts';
import { type Backing, whole, writableKind } from './backing.ts';
import { capabilityNamesForWrite } from './capabilities.ts';
import { beginCreate, noteCreated, noteFailedCreate } from './failed-create.ts';
import { keep, type Read, readPost } from './posts.ts';
import { alreadyTrashed, forbidden, notAnEvent } from './refusals.ts';
import { translate, unknownId } from './translate.ts';
import { can, mayEdit } from './visibility.ts';

/** Throws 401 or 403 unless the caller may write posts of this kind at all; says whether they may publish. */
export async function mayWrite(backing: Backing, kind: PostKind, asked: Asked): Promise<{ publisher: boolean }> {
  if (!asked.caller.account) throw forbidden(true);
  const names = await capabilityNamesForWrite(backing, kind, asked.caller);
  if (!can(asked.caller, 'edit_posts', names)) throw forbidden(false);
  return { publisher: can(asked.caller, 'publish_posts', names) };
}

/** The status that is stored for the one sent, by role (5.3); `undefined`: none was sent to an update, which keeps the old one. */
export function statusFor(sent: string | undefined, publisher: boolean, creating: boolean): string | undefined {
  if (sent === undefined) return creating ? (publisher ? 'publish' : 'draft') : undefined;
  if (!publisher && ['publish', 'future', 'private'].includes(sent)) return 'pending';
  return sent;
}

/** Throws 403 when somebody without the right gives a record another author. */
export async function mayGiveAuthor(backing: Backing, kind: PostKind, author: unknown, asked: Asked): Promise<void> {
  if (author === undefined || Number(author) === asked.caller.account?.userId) return;
  const names = await capabilityNamesForWrite(backing, kind, asked.caller);
  if (!can(asked.caller, 'edit_others_posts', names)) throw forbidden(false);
}

/** The record that an update or delete is about, when the caller may change it. */
export async function editable<K extends PostKind>(
  backing: Backing,
  kind: K,
  id: number,
  asked: Asked,
): Promise<RecordOf[K]> {
  await mayWrite(backing, kind, asked);
  const record = backing.replica.get(kind, id) ?? (await unseen(backing, kind, id, asked));
  const names = await capabilityNamesForWrite(backing, kind, asked.caller);
  if (!mayEdit(asked.caller, record, names)) throw forbidden(false);
  return record;
}

async function unseen<K extends PostKind>(backing: Backing, kind: K, id: number, asked: Asked): Promise<RecordOf[K]> {
  if (backing.replica.kindOf(id) !== undefined) throw kind === 'event' ? notAnEvent() : unknownId(kind, id);
  try {
    return (await readPost(backing, kind, id, asked, { editing: true })).record;
  } catch (error) {
    if (error instanceof GatewayError && error.code.endsWith('-not-accessible')) throw forbidden(false, error);
    throw error;
  }
}

const parameterAt =
  <K extends Kind>(mapping: KindMapping<K>, parameterOf: (field: string) => string | undefined) =>
  (place: string): string | undefined => {
    for (const [field, at] of mapping.places) if (at === place) return parameterOf(String(field));
    return undefined;
  };

/** How linked records are named, with those that this request made on its way. */
async function joinsFor<K extends PostKind>(
  { sync }: Backing,
  { joins = [] }: KindMapping<K>,
  fields: Partial<FieldsOf[K]>,
): Promise<JoinTables> {
  const named = fields as { venues?: number[]; organizers?: number[] };
  const isLacking = joins.some(({ field }) =>
    named[field]?.some((id) => sync.joins()[field]?.storedOf.has(id) !== true),
  );
  if (isLacking) await sync.refreshJoins();
  return sync.joins();
}

export interface Writer<K extends PostKind> {
  kind: K;
  /** Record field -> parameter, to name what the CMS refuses. */
  parameterOf: (field: string) => string | undefined;
}

/**
 * Creates a post in one call. `rollback` learns what was created, for the case that a later step of the request fails, and what a failed
 * create may have left.
 */
export async function createPost<K extends PostKind>(
  backing: Backing,
  { kind, parameterOf }: Writer<K>,
  fields: Partial<FieldsOf[K]>,
  asked: Asked,
  rollback: Rollback,
): Promise<RecordOf[K]> {
  const mapping = writableKind(backing, kind) as unknown as KindMapping<K>;
  const joins = await joinsFor(backing, mapping, fields);
  const body = mapping.write(fields, { site: backing.site(), joins });
  const options = callOptions(asked);
  const begun = beginCreate(backing, kind, fields.author);
  let moment = backing.keeping.moment();
  let native: Native;
  try {
    native = await backing.upstream.create(mapping.base, body, {
      ...options,
      ...(await createKeyOf(asked, kind)),
      createId: begun.createId,
    });
  } catch (error) {
    await noteFailedCreate(backing, kind, error, begun, asked, rollback);
    throw translate(error, { kind, anonymous: false, parameterAt: parameterAt(mapping, parameterOf) });
  }
  const id = Number(native.id);
  noteCreated(backing, kind, id, begun, rollback, () =>
    mapping.read(whole(backing, kind, native, true), backing.site(), backing.sync.joins()),
  );
  if (mapping.touchAfterCreate.length > 0) {
    rollback.assertOwn(kind, id);
    moment = backing.keeping.moment();
    try {
      native = await backing.upstream.update(mapping.base, id, only(body, mapping.touchAfterCreate), options);
    } catch (error) {
      throw translate(error, { kind, id, anonymous: false, parameterAt: parameterAt(mapping, parameterOf) });
    }
  }
  return keep(backing, kind, native, { moment, wrote: true, as: callOptions(asked) });
}

/**
 * A post as the CMS has it now, read with the caller's own credentials: for an update that combines what was sent with what is stored. The
 * replica may be older than the CMS. Throws what the update itself would throw.
 */
export async function readForUpdate<K extends PostKind>(
  backing: Backing,
  kind: K,
  id: number,
  asked: Asked,
): Promise<{ native: Native; record: RecordOf[K] }> {
  const mapping = writableKind(backing, kind) as unknown as KindMapping<K>;
  try {
    const native = await backing.upstream.read(mapping.base, id, { context: 'edit' }, callOptions(asked));
    return { native, record: mapping.read(native, backing.site(), backing.sync.joins()) };
  } catch (error) {
    throw translate(error, { kind, id, anonymous: false });
  }
}

/**
 * A post that the caller created before: as its editor while the CMS lets them edit it, else what a single read shows them. Throws what
 * these reads throw.
 */
export async function readCreated<K extends PostKind>(
  backing: Backing,
  kind: K,
  id: number,
  asked: Asked,
): Promise<Read<K>> {
  try {
    return { record: (await readForUpdate(backing, kind, id, asked)).record, unlocked: true };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 403) throw error;
    return readPost(backing, kind, id, asked);
  }
}

/**
 * Changes a post in one call, or two where the CMS keeps several fields in one.
 * @param read the post as it was just read for this update
 */
export async function updatePost<K extends PostKind>(
  backing: Backing,
  { kind, parameterOf }: Writer<K>,
  id: number,
  fields: Partial<FieldsOf[K]>,
  asked: Asked,
  read?: Native,
): Promise<RecordOf[K]> {
  const mapping = writableKind(backing, kind) as unknown as KindMapping<K>;
  const options = callOptions(asked);
  try {
    const before = mapping.mergesInto(fields)
      ? (read ?? (await backing.upstream.read(mapping.base, id, { context: 'edit' }, options)))
      : undefined;
    const joins = await joinsFor(backing, mapping, fields);
    const body = mapping.write(fields, { site: backing.site(), joins, ...(before ? { before } : {}) });
    const moment = backing.keeping.moment();
    const native = await backing.upstream.update(mapping.base, id, body, options);
    return await keep(backing, kind, native, { moment, wrote: true, as: callOptions(asked) });
  } catch (error) {
    throw translate(error, { kind, id, anonymous: false, parameterAt: parameterAt(mapping, parameterOf) });
  }
}

/** Moves a post to the trash; a term, for which there is none, is deleted. Throws 410 when it is there already. */
export async function trashPost<K extends PostKind>(
  backing: Backing,
  kind: K,
  record: RecordOf[K],
  asked: Asked,
): Promise<RecordOf[K]> {
  const { base, as } = writableKind(backing, kind);
  if (record.status === 'trash') throw alreadyTrashed(kind);
  try {
    if (as === 'terms') {
      const moment = backing.keeping.moment();
      await backing.upstream.remove(base, record.id, { force: true }, callOptions(asked));
      await backing.keeping.wrote({ remove: [{ kind, ids: [record.id] }] }, moment);
      return { ...record, status: 'trash' };
    }
    const moment = backing.keeping.moment();
    const native = await backing.upstream.remove(base, record.id, { force: false }, callOptions(asked));
    return await keep(backing, kind, native, { moment, wrote: true, as: callOptions(asked) });
  } catch (error) {
    throw translate(error, { kind, id: record.id, anonymous: false });
  }
}

/** Moves a new post to the trash. It keeps its plain slug (5.3), where the CMS gives another one to what it trashes. */
export async function trashNew<K extends PostKind>(
  backing: Backing,
  writer: Writer<K>,
  record: RecordOf[K],
  slug: string,
  asked: Asked,
  rollback: Rollback,
): Promise<RecordOf[K]> {
  rollback.assertOwn(writer.kind, record.id);
  await trashPost(backing, writer.kind, record, asked);
  return updatePost(backing, writer, record.id, { slug } as Partial<FieldsOf[K]>, asked);
}

/** The parts of a body at these dotted paths. */
function only(body: Native, paths: string[]): Native {
  const part: Native = {};
  for (const path of paths) {
    const [top, key] = path.split('.') as [string, string | undefined];
    const value = body[top];
    if (key === undefined) part[top] = value;
    else part[top] = { ...(part[top] as Native | undefined), [key]: (value as Native | undefined)?.[key] };
  }
  return part;
}
