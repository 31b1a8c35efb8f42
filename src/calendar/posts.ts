// Reading one event, venue or organizer: from the copy where everybody may see it, else from the CMS with the caller's own credentials.

import { LRUCache } from 'lru-cache';
import { UpstreamRefused } from '../errors.ts';
import type { PostKind, RecordOf } from '../records.ts';
import type { Native } from '../upstream/port.ts';
import { type Asked, callOptions } from './asked.ts';
import type { Backing } from './backing.ts';
import { capabilityNames } from './capabilities.ts';
import { noLongerAvailable, notAccessible, notAnEvent, passwordProtected } from './refusals.ts';
import { translate, unknownId } from './translate.ts';
import { type CapabilityNames, isStaff, mayEdit } from './visibility.ts';

export interface Read<K extends PostKind> {
  record: RecordOf[K];
  /** The caller gave the password, or reads it as its editor. */
  unlocked: boolean;
}

export interface ReadHow {
  password?: string | undefined;
  /** `context=edit` was asked for. */
  editing?: boolean;
}

const MISSING_KEPT_MS = 5000;
const missing = new WeakMap<Backing, LRUCache<string, true>>();

function missingOf(backing: Backing): LRUCache<string, true> {
  let kept = missing.get(backing);
  if (!kept) {
    kept = new LRUCache({ max: 20_000, ttl: MISSING_KEPT_MS });
    missing.set(backing, kept);
  }
  return kept;
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
  const names = editing ? await capabilityNames(backing, kind, asked.caller) : {};
  const edits = editing && mayEdit(asked.caller, record, names);
  if (password || edits) {
    const { base, read } = backing.mapping.kinds[kind]!;
    try {
      const query = edits ? { context: 'edit' } : { password: password! };
      const native = await backing.upstream.read(base, record.id, query, callOptions(asked));
      return { record: read(native, backing.site(), backing.sync.joins()) as RecordOf[K], unlocked: true };
    } catch (error) {
      if (!(error instanceof UpstreamRefused) || error.status >= 500) throw error;
    }
  }
  if (kind === 'event') throw passwordProtected();
  return { record, unlocked: false };
}

/** Asks the CMS for one post with the caller's credentials; what it answers goes into the copy. */
async function askFor<K extends PostKind>(backing: Backing, kind: K, id: number, asked: Asked): Promise<RecordOf[K]> {
  const mapping = backing.mapping.kinds[kind];
  const key = `${kind} ${id}`;
  const unknown = missingOf(backing);
  if (!mapping || unknown.has(key)) throw unknownId(kind, id);
  const names = await capabilityNames(backing, kind, asked.caller);
  const moment = backing.keeping.moment();
  try {
    const native = await askNative(backing, mapping.base, id, asked, names);
    return await keep(backing, kind, native, { moment });
  } catch (error) {
    if (!(error instanceof UpstreamRefused)) throw error;
    if (error.status === 401 || error.status === 403) throw notAccessible(kind);
    if (error.status !== 404) throw translate(error, { kind, id, anonymous: !asked.caller.account });
    await backing.keeping.keep({ remove: [{ kind, ids: [id] }] }, moment);
    if (kind === 'event' && (await backing.upstream.exists(id, callOptions(asked)))) throw notAnEvent();
    unknown.set(key, true);
    throw unknownId(kind, id);
  }
}

async function askNative(
  backing: Backing,
  base: string,
  id: number,
  asked: Asked,
  names: CapabilityNames,
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

/** Puts a native post that was asked for at `moment` into the copy, with the image it shows, and gives back the record. */
export async function keep<K extends PostKind>(
  backing: Backing,
  kind: K,
  native: Native,
  { moment, wrote = false }: { moment: number; wrote?: boolean },
): Promise<RecordOf[K]> {
  const mapping = backing.mapping.kinds[kind]!;
  const site = backing.site();
  const record = mapping.read(native, site, backing.sync.joins()) as RecordOf[K];
  const inline = Object.values(mapping.inline ?? {}).flatMap((inside) => inside(native, site) ?? []);
  await backing.keeping[wrote ? 'wrote' : 'keep']({ put: [record, ...inline] }, moment);
  if (record.image && !backing.replica.image(record.image)) {
    // An image that cannot be read now is fetched by the next round; the record must not wait for it.
    const images = await backing.upstream.images([record.image], { credentials: backing.service }).catch(() => []);
    if (images.length > 0) await backing.keeping.keep({ images }, moment);
  }
  return record;
}

/** Whether there is such a post, whoever may see it. Unknown ids are asked of the CMS and remembered for a short time. */
export async function postExists(backing: Backing, kind: PostKind, id: number, asked: Asked): Promise<boolean> {
  const { replica } = backing;
  const copied = replica.kindOf(id);
  if (copied !== undefined) return copied === kind;
  const key = `${kind} ${id}`;
  const unknown = missingOf(backing);
  const base = backing.mapping.kinds[kind]?.base;
  if (base === undefined || unknown.has(key)) return false;
  const moment = backing.keeping.moment();
  try {
    const native = await backing.upstream.read(base, id, {}, callOptions(asked));
    await keep(backing, kind, native, { moment });
    return true;
  } catch (error) {
    if (error instanceof UpstreamRefused && (error.status === 401 || error.status === 403)) return true;
    if (error instanceof UpstreamRefused) unknown.set(key, true);
    return false;
  }
}
