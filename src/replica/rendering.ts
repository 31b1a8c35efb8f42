// Which rendering of published records everybody is shown: the CMS's answer to an anonymous reader, never the one to an account.

import { UpstreamAway, UpstreamRefused } from '../errors.ts';
import { OWN_STATUS } from '../mapping/fitting.ts';
import { publicNative } from '../mapping/public-view.ts';
import type { Observe } from '../observe/events.ts';
import { type Kind, type PostKind, WITHHELD } from '../records.ts';
import type { CallOptions, Credentials, Native, Query } from '../upstream/port.ts';
import type { Asking } from './asking.ts';
import { type Collection, idOf, type Row, rowOf } from './collections.ts';
import type { Commit } from './commit.ts';
import type { Marks } from './marks.ts';
import type { Replica } from './store.ts';

/**
 * How the published records of a kind are rendered. `public`: for an anonymous reader. `account`: for the service account, since the site
 * refuses every anonymous reader of its REST API. `withheld`: the site refuses anonymous readers of this collection alone, so that the
 * public is shown none of its records.
 */
export type RenderedFor = 'public' | 'account' | 'withheld';

/** By kind; a kind whose rendering was never asked for is absent. */
export type RenderedForKinds = Partial<Record<Kind, RenderedFor>>;

export interface RenderingOptions {
  asking: Asking;
  replica: Replica;
  commit: Commit;
  marks: Marks;
  service: Credentials;
  collections: readonly Collection[];
  copied(collection: Collection, id: number): Row | undefined;
  /** All rows with these ids, as `as` is answered. */
  byIds(collection: Collection, ids: readonly number[], as: { scope: Query; options: CallOptions }): Promise<Native[]>;
  observe: Observe;
  nowMs: () => number;
}

export interface Rendering {
  renderedFor(): RenderedForKinds;
  /**
   * The records that the service account was answered, as they may enter the replica: each published one with what the public is shown
   * of it. A record of which the CMS gave an outdated public rendering is left out and read again by the next poll. Throws
   * `UpstreamAway` if the CMS does not tell, and what else the CMS throws.
   */
  shown(collection: Collection, natives: readonly Native[], how?: { byId?: boolean }): Promise<Native[]>;
  /**
   * The same for one record that a caller was answered. Undefined: the public rendering is older than the record. What the caller was shown
   * stays with them also where the site refuses anonymous readers: then the service account reads the record. Throws what the CMS throws.
   */
  shownTo(collection: Collection, native: Native, options: CallOptions): Promise<Native | undefined>;
  /** Asks whether kinds that are not rendered for the public could be now. True if one could, so that everything is to be read again. */
  recheck(): Promise<boolean>;
  /** Another gateway decided. */
  reload(): void;
}

export const RENDERING_STATE = 'sync.rendering';

/** A site that has shown its records to anonymous readers has to refuse them for so long before that is believed. */
const BELIEVED_MS = 10 * 60_000;
/** A collection that every WordPress has, beside those of the mapping. */
const ANY_COLLECTION = 'posts';
/** The longest that a write waits for the public rendering of what it wrote. */
const WRITE_WAIT_MS = 5_000;

/** 401 and 403; a plugin may also deny to anonymous readers that there is such a collection. */
const isRefusal = (error: unknown): error is UpstreamRefused =>
  error instanceof UpstreamRefused && [401, 403, 404].includes(error.status);

/** Begins with what the replica keeps. */
export function createRendering(options: RenderingOptions): Rendering {
  const { asking, replica, commit, marks, service, collections, copied, byIds, observe, nowMs } = options;
  const load = () => JSON.parse(replica.state(RENDERING_STATE) ?? '{}') as RenderedForKinds;
  let kinds = load();
  /** Since when the site refuses anonymous readers of everything, or of one kind alone. */
  const refusedSinceMs = new Map<Kind | 'all', number>();

  const anonymous = (): CallOptions => ({ signal: asking.asService().signal! });
  const warn = (message: string) => observe({ type: 'notice', level: 'warn', message });

  async function decide({ kind }: Collection, renderedFor: RenderedFor): Promise<void> {
    if (renderedFor === 'public') for (const refused of [kind, 'all'] as const) refusedSinceMs.delete(refused);
    if (kinds[kind] === renderedFor) return;
    kinds = { ...kinds, [kind]: renderedFor };
    await commit(() => ({ state: { [RENDERING_STATE]: JSON.stringify(kinds) } }));
  }

  function tell({ kind, base }: Collection): void {
    if (kinds[kind] === 'account')
      warn(
        `the CMS refuses anonymous readers: everybody is shown "${base}" as the CMS renders it for the service account (see SECURITY.md)`,
      );
    if (kinds[kind] === 'withheld')
      warn(`the CMS refuses anonymous readers of "${base}" alone: only staff are shown its records (see SECURITY.md)`);
  }

  /** The rows as an anonymous reader is shown them, by id. */
  async function open(
    collection: Collection,
    natives: readonly Native[],
    as: CallOptions,
  ): Promise<Map<number, Native>> {
    const { open: scope } = collection;
    const listed = natives.filter((native) => native[OWN_STATUS] === undefined).map(idOf);
    const rows = listed.length > 0 ? await byIds(collection, listed, { scope, options: as }) : [];
    // The CMS shows a record with a plugin's own status to everybody who asks for it by id, but does not list it to anonymous readers.
    for (const native of natives) {
      if (native[OWN_STATUS] === undefined) continue;
      const row = await asking.read(collection, idOf(native), scope, as).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
      if (row) rows.push(row);
    }
    return new Map(rows.map((row) => [idOf(row), row]));
  }

  const isOpen = (base: string, scope: Query): Promise<boolean> =>
    asking
      .ask({ base, scope, posts: true, dedupe: true }, { per_page: 1, _fields: 'id' }, { scope, options: anonymous() })
      .then(() => true)
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        return false;
      });

  /** The CMS refused anonymous readers of a collection: all of them, or of this collection alone. */
  async function refused(collection: Collection, error: UpstreamRefused): Promise<RenderedFor> {
    const others = collections.filter(({ posts, kind }) => posts && kind !== collection.kind);
    const probes = [...others.map(({ base, open: scope }) => ({ base, scope })), { base: ANY_COLLECTION, scope: {} }];
    let verdict: RenderedFor = 'account';
    for (const { base, scope } of probes) if (await isOpen(base, scope)) verdict = 'withheld';
    if (kinds[collection.kind] === 'public') {
      const refused = verdict === 'account' ? 'all' : collection.kind;
      const since = refusedSinceMs.get(refused) ?? nowMs();
      refusedSinceMs.set(refused, since);
      const reason = `the CMS refuses anonymous readers of "${collection.base}" (${error.status} ${error.code})`;
      if (nowMs() - since < BELIEVED_MS) throw new UpstreamAway('status', reason, { status: error.status });
    }
    await decide(collection, verdict);
    tell(collection);
    return verdict;
  }

  async function openOrRefused(collection: Collection, natives: readonly Native[]) {
    const known = kinds[collection.kind] ?? 'public';
    if (known !== 'public') return known;
    try {
      const rows = await open(collection, natives, anonymous());
      await decide(collection, 'public');
      return rows;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return refused(collection, error);
    }
  }

  const isWithheld = ({ kind }: Collection, id: number): boolean =>
    replica.get(kind as PostKind, id)?.status === WITHHELD;

  /** Undefined: the rendering is older than the record, as that of a cache before the CMS is. */
  function merged(collection: Collection, own: Native, row: Native | undefined): Native | undefined {
    if (row === undefined) return { ...own, status: WITHHELD };
    const isOlder = typeof row.modified_gmt === 'string' && rowOf(row).modifiedUtc < rowOf(own).modifiedUtc;
    return isOlder ? undefined : publicNative(own, row, { editing: collection.editing });
  }

  return {
    renderedFor: () => kinds,
    async shown(collection, natives, { byId = false } = {}) {
      if (service === undefined || !collection.posts) return [...natives];
      const isPublished = (native: Native) => native.status === 'publish';
      // Each costs a request of its own: what did not change is not asked for by every full resync.
      const isKept = (native: Native) =>
        !byId &&
        native[OWN_STATUS] !== undefined &&
        copied(collection, idOf(native))?.modifiedUtc === rowOf(native).modifiedUtc;
      const wanted = natives.filter((native) => isPublished(native) && !isKept(native));
      const found = wanted.length > 0 ? await openOrRefused(collection, wanted) : 'public';
      if (found === 'account') return [...natives];
      return natives.flatMap((native) => {
        if (!isPublished(native)) return [native];
        if (isKept(native)) return [];
        const id = idOf(native);
        const record = merged(collection, native, typeof found === 'string' ? undefined : found.get(id));
        // An outdated rendering; or a record that a database behind the other does not have yet: both are asked for once more.
        const isNew = record?.status === WITHHELD && found !== WITHHELD && !isWithheld(collection, id);
        if (!record || isNew) marks.later(collection.kind, [id]);
        return record ? [record] : [];
      });
    },
    async shownTo(collection, native, { credentials: _ours, ...call }) {
      if (native.status !== 'publish' || !collection.posts) return native;
      const signal = AbortSignal.any([asking.asService().signal!, AbortSignal.timeout(WRITE_WAIT_MS)]);
      const as = { ...call, signal };
      const known = kinds[collection.kind] ?? 'public';
      if (known === 'withheld') return merged(collection, native, undefined);
      if (known === 'public') {
        return merged(collection, native, (await open(collection, [native], as)).get(idOf(native)));
      }
      const { scope } = collection;
      const [own] = await byIds(collection, [idOf(native)], { scope, options: { ...as, credentials: service } });
      return own;
    },
    async recheck() {
      let isOpened = false;
      for (const collection of collections) {
        if ((kinds[collection.kind] ?? 'public') === 'public') continue;
        if (await isOpen(collection.base, collection.open)) {
          await decide(collection, 'public');
          isOpened = true;
        } else tell(collection);
      }
      return isOpened;
    },
    reload() {
      kinds = load();
    },
  };
}
