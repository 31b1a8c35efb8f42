// Reading one event, venue or organizer: from the copy where everybody may see it, else from the CMS with the caller's own credentials.

import { UpstreamRefused } from '../errors.ts';
import { FIRST_INLINE_ID, type Kind, type PostKind, type RecordOf, WITHHELD } from '../records.ts';
import { saysMissing } from '../replica/removals.ts';
import type { CallOptions, Native } from '../upstream/port.ts';
import { type Asked, callOptions } from './asked.ts';
import { type Backing, whole } from './backing.ts';
import { capabilityNames, visibilityFor } from './capabilities.ts';
import { noLongerAvailable, notAccessible, notAnEvent, passwordProtected } from './refusals.ts';
import { NO_ROUTE, translate, unknownId } from './translate.ts';
import { ANY_STATUS, type CapabilityNames, isStaff, mayEdit, within } from './visibility.ts';

export interface Read<K extends PostKind> {
  record: RecordOf[K];
  /** The caller gave the password, or reads it as its editor. */
  unlocked: boolean;
}

/** What `Upstream.exists` asks the CMS at most. */
const EXISTS_CALLS = 2;
/** The newest records, which include every change of the last seconds. */
const NEWEST = 20;

export interface ReadHow {
  password?: string | undefined;
  /** `context=edit` was asked for. */
  editing?: boolean;
}

/**
 * A post that the caller may read.
 * @throws GatewayError 403 when the caller may not see it, 404 or 400 when there is no such record; UpstreamAway
 */
export async function readPost<K extends PostKind>(
  backing: Backing,
  kind: K,
  id: number,
  asked: Asked,
  how: ReadHow = {},
): Promise<Read<K>> {
  const copied = backing.replica.get(kind, id);
  if (copied?.status === 'publish')
    return copied.protected ? unlock(backing, kind, copied, asked, how) : { record: copied, unlocked: false };
  if (!copied && backing.replica.kindOf(id) !== undefined) throw kind === 'event' ? notAnEvent() : unknownId(kind, id);
  if (kind === 'event' && copied?.status === 'trash') throw noLongerAvailable();
  if (copied && !asked.caller.account) throw notAccessible(kind);
  const record = await askFor(backing, kind, id, asked);
  if (kind === 'event' && record.status === 'trash') throw noLongerAvailable();
  if (record.protected) return unlock(backing, kind, record, asked, how);
  return { record, unlocked: false };
}

/** A protected post: with the right password, or for its editor with `context=edit`; an event is refused otherwise, the others are shown blanked. */
async function unlock<K extends PostKind>(
  backing: Backing,
  kind: K,
  record: RecordOf[K],
  asked: Asked,
  { password, editing }: ReadHow,
): Promise<Read<K>> {
  const names = editing ? await capabilityNames(backing, kind, asked.caller) : undefined;
  const edits = editing && mayEdit(asked.caller, record, names);
  if (password || edits) {
    const { base, read } = backing.mapping.kinds[kind]!;
    try {
      const query = edits ? { context: 'edit' } : { password: password! };
      const ask = () => backing.upstream.read(base, record.id, query, callOptions(asked));
      const isTry = !edits && !asked.caller.account;
      const native = await (isTry ? backing.passwordTries.read(`${kind} ${record.id}`, password!, ask) : ask());
      return {
        record: read(whole(backing, kind, native), backing.site(), backing.sync.joins()) as RecordOf[K],
        unlocked: true,
      };
    } catch (error) {
      if (!(error instanceof UpstreamRefused) || error.status >= 500) throw error;
    }
  }
  if (kind === 'event') throw passwordProtected();
  return { record, unlocked: false };
}

/** A post that is not for everybody in the replica, or not there at all: from the CMS, where the caller may make the gateway ask it. */
async function askFor<K extends PostKind>(backing: Backing, kind: K, id: number, asked: Asked): Promise<RecordOf[K]> {
  const { unknown, replica } = backing;
  if (unknown.isMissing(`${kind} ${id}`)) throw unknownId(kind, id);
  const found = await unknown.ask(asked.caller, kind, () => askNow(backing, kind, id, asked));
  if (found) return found.answer;
  const record = replica.get(kind, id);
  if (!record) throw unknownId(kind, id);
  if (record.status !== 'publish') throw notAccessible(kind);
  return record;
}

/** Asks the CMS for one post with the caller's credentials; what it answers goes into the replica. */
async function askNow<K extends PostKind>(backing: Backing, kind: K, id: number, asked: Asked): Promise<RecordOf[K]> {
  const mapping = backing.mapping.kinds[kind];
  if (!mapping) throw unknownId(kind, id);
  const names = await capabilityNames(backing, kind, asked.caller);
  const moment = backing.keeping.moment();
  try {
    const native = await askNative(backing, mapping.base, id, asked, names);
    return await keep(backing, kind, native, { moment, as: callOptions(asked) });
  } catch (error) {
    if (!(error instanceof UpstreamRefused)) throw error;
    if (error.status === 401 || error.status === 403) throw notAccessible(kind);
    if (error.status !== 404 || error.code === NO_ROUTE)
      throw translate(error, { kind, id, anonymous: !asked.caller.account });
    if (saysMissing(error)) await backing.keeping.keep({ remove: [{ kind, ids: [id] }] }, moment);
    if (kind !== 'event') backing.unknown.missing(`${kind} ${id}`);
    else if (await isOfAnotherType(backing, id, asked)) throw notAnEvent();
    throw unknownId(kind, id);
  }
}

/** Whether what is no event is something else in the CMS; no, where the caller may not make the gateway ask that as well. */
async function isOfAnotherType(backing: Backing, id: number, asked: Asked): Promise<boolean> {
  if (backing.replica.image(id)) return true;
  if (!backing.unknown.mayAsk(asked.caller, EXISTS_CALLS)) return false;
  if (await backing.upstream.exists(id, callOptions(asked))) return true;
  backing.unknown.missing(`event ${id}`);
  return false;
}

async function askNative(
  backing: Backing,
  base: string,
  id: number,
  asked: Asked,
  names: CapabilityNames | undefined,
): Promise<Native> {
  const staff = isStaff(asked.caller, names);
  try {
    return await backing.upstream.read(base, id, staff ? { context: 'edit' } : {}, callOptions(asked));
  } catch (error) {
    // Somebody else's published post is no draft to edit, and yet may be read.
    if (!staff || !(error instanceof UpstreamRefused) || error.code !== 'rest_forbidden_context') throw error;
    return backing.upstream.read(base, id, {}, callOptions(asked));
  }
}

/**
 * Gives back the record that the CMS answered this caller at `moment`, and puts it into the replica, with the image it shows. What the CMS
 * rendered for the caller is for the caller alone: the replica gets the rendering for an anonymous reader. While the CMS does not answer
 * with that rendering, the replica withholds a record that was written and leaves one that was read as it is; the gateway reads either
 * again at once. `as`: how the CMS was called; `listed`: the record is from a list that the CMS gave an anonymous reader.
 */
export async function keep<K extends Kind>(
  backing: Backing,
  kind: K,
  native: Native,
  { moment, wrote = false, as }: { moment: number; wrote?: boolean; as: CallOptions | 'listed' },
): Promise<RecordOf[K]> {
  const mapping = backing.mapping.kinds[kind]!;
  const site = backing.site();
  const record = mapping.read(whole(backing, kind, native, wrote), site, backing.sync.joins()) as RecordOf[K];
  // The CMS accepted the write, but does not answer with the public rendering: without this, others would see the record as it was.
  const withheld = wrote ? { ...native, status: WITHHELD } : undefined;
  const shown = as === 'listed' ? native : await backing.sync.shown(kind, native, as).catch(() => withheld);
  if (!shown) {
    if (wrote) await backing.keeping.readAgain(kind, record.id);
    else void backing.sync.changed([{ collection: mapping.base, id: record.id }]);
    return record;
  }
  const inline = Object.values(mapping.inline ?? {}).flatMap((inside) => inside(shown, site) ?? []);
  const put = [mapping.read(shown, site, backing.sync.joins()), ...inline];
  // Without a service account the poller does not see what the public is not shown, and would never remove it.
  const isHidden = shown.status === WITHHELD && backing.service === undefined;
  const change = isHidden ? { remove: [{ kind, ids: [record.id] }] } : { put };
  await backing.keeping[wrote ? 'wrote' : 'keep'](change, moment);
  if (shown === withheld) void backing.keeping.readAgain(kind, record.id);
  if ('image' in record && record.image && !backing.replica.image(record.image)) {
    // An image that cannot be read now is fetched by the next round; the record must not wait for it.
    const options: CallOptions = { credentials: backing.service, lane: wrote ? 'callers' : 'anonymous' };
    const images = await backing.upstream.images([record.image], options).catch(() => []);
    if (images.length > 0) await backing.keeping.keep({ images }, moment);
  }
  return record;
}

/** Brings what everybody may see of a kind's newest records into the replica, as far as it lacks them. Rejects never. */
export async function readNewest(backing: Backing, kind: Kind): Promise<void> {
  const mapping = backing.mapping.kinds[kind];
  if (!mapping) return;
  const moment = backing.keeping.moment();
  const orderby = mapping.as === 'posts' ? 'modified' : 'id';
  const query = { ...mapping.listParams, orderby, order: 'desc', per_page: NEWEST, _fields: mapping.select };
  try {
    const { items } = await backing.upstream.list(mapping.base, query, { lane: 'anonymous' });
    const lacking = items.filter(({ id }) => !backing.replica.get(kind, Number(id)));
    for (const native of lacking) await keep(backing, kind, native, { moment, as: 'listed' });
  } catch {
    // The gateway answers from the replica as it is.
  }
}

/**
 * Whether the caller may know of a record that is text inside events: only if they see an event that names it. Its id and slug derive from the
 * text, so its existence would confirm a guess. Every caller may know that other records exist (interface-behaviour 4).
 */
export async function mayKnow(
  backing: Backing,
  kind: PostKind,
  id: number,
  { caller }: Pick<Asked, 'caller'>,
): Promise<boolean> {
  if (kind === 'event' || id < FIRST_INLINE_ID) return true;
  const events = within(await visibilityFor(backing, 'event', caller), ANY_STATUS);
  return backing.replica.isNamedBySeen(kind, id, events);
}

/** Whether such a post exists, seen by the caller or not. @throws UpstreamAway */
export async function postExists(backing: Backing, kind: PostKind, id: number, asked: Asked): Promise<boolean> {
  const { replica } = backing;
  const copied = replica.kindOf(id);
  if (copied !== undefined) return copied === kind && (await mayKnow(backing, kind, id, asked));
  const name = `${kind} ${id}`;
  const base = backing.mapping.kinds[kind]?.base;
  if (base === undefined || backing.unknown.isMissing(name)) return false;
  const found = await backing.unknown.ask(asked.caller, kind, async () => {
    const moment = backing.keeping.moment();
    try {
      const native = await backing.upstream.read(base, id, {}, callOptions(asked));
      await keep(backing, kind, native, { moment, as: callOptions(asked) });
      return true;
    } catch (error) {
      if (!(error instanceof UpstreamRefused)) throw error;
      if (error.status === 401 || error.status === 403) return true;
      // WordPress's routes do not match a number that JavaScript writes with an exponent.
      if (error.code === NO_ROUTE && Number.isSafeInteger(id))
        throw translate(error, { kind, id, anonymous: !asked.caller.account });
      backing.unknown.missing(name);
      return false;
    }
  });
  return found ? found.answer : replica.kindOf(id) === kind;
}
