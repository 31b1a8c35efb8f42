// Tells the rollback what one create call to the CMS created, or may have left as an orphan if it failed.

import { randomBytes } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { type CallOptions, type Cms, MEDIA } from '../cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { KINDS, type Kind, type KindOrImage, recordKey, type Site } from '../model/records.ts';
import { getRecord, maxId } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import type { Sync } from '../sync/sync.ts';
import type { Rollback } from './request-context.ts';

export interface CreateAttempt {
  /** A random id of the call, for the CMS. */
  creationId: string;
  /**
   * The CMS responded to the create. A record that the gateway knew before is named in errors but never
   * removed: a cache in front of the CMS may have repeated the response to another create.
   * @param read maps the response; throws if it lacks fields
   */
  succeeded<R extends object>(id: number, read: () => R): R;
  /**
   * The create failed. If the companion plugin names the inserted records, the rollback removes them.
   * Otherwise it removes nothing, and the actor's newest records are possible orphans.
   */
  failed(error: unknown): Promise<void>;
}

export interface CreateDependencies {
  cms: Cms;
  mapping: Mapping;
  replica: Replica;
  sync: Sync;
  site(): Site;
  /** Records that requests of this gateway created recently, by `event 12`. */
  recentlyCreated: LRUCache<string, true>;
}

interface CreateCall {
  kind: KindOrImage;
  /** Of a post: the author that it will have. */
  author?: number | undefined;
  /** How the CMS is called for the create. */
  call: CallOptions;
  rollback: Rollback;
}

/** Call it before the create. */
export function startCreate(services: CreateDependencies, { kind, author, call, rollback }: CreateCall): CreateAttempt {
  const { cms, mapping, recentlyCreated, replica } = services;
  const creationId = randomBytes(16).toString('hex');
  /** The CMS gives a higher id to what the create inserts. */
  const highestKnownId = kind === 'image' ? 0 : maxId(replica.db, kind);

  /**
   * A record that the CMS names as inserted. If the gateway cannot read or does not map it, it stays and the
   * error names it.
   */
  async function addInserted({ collection, id: cmsId }: { collection: string; id: number }): Promise<void> {
    if (collection === MEDIA.collection) return rollback.created('image', cmsId);
    const insertedKind = KINDS.find((name) => mapping.kinds[name]?.collection === collection);
    if (!insertedKind) return;
    const kindMapping = mapping.kinds[insertedKind]!;
    const id = cms.gatewayId(kindMapping, cmsId);
    const record = await cms
      .read(kindMapping, id, { view: 'editor' }, call)
      .then((cmsRecord) => {
        services.sync.assertComplete(insertedKind, cmsRecord);
        return kindMapping.read(cmsRecord, services.site(), services.sync.linkTables());
      })
      .catch(() => undefined);
    rollback.created(insertedKind, id, record);
  }

  /**
   * Ids of the author's records that are newer than everything known before the create and that no other
   * request of this gateway created. Throws if the CMS does not show all of them.
   */
  async function possibleOrphans(): Promise<number[]> {
    // The replica has only images that records show, so that no id tells which uploads are new.
    if (kind === 'image') throw new Error('new uploads cannot be distinguished from others');
    const kindMapping = mapping.kinds[kind]!;
    const byAuthor = { statuses: 'any', author: author! } as const;
    const { records } = await cms.list(
      kindMapping,
      {
        view: 'editor',
        order: '-id',
        limit: cms.maxPageSize,
        detail: 'id',
        ...(kindMapping.storedAs === 'posts' && byAuthor),
      },
      call,
    );
    const newIds = records.map(({ id }) => Number(id)).filter((id) => id > highestKnownId);
    if (newIds.length === cms.maxPageSize) throw new Error('more new records than one page shows');
    return newIds.filter((id) => !recentlyCreated.has(recordKey(kind, id)));
  }

  return {
    creationId,
    succeeded(id, read) {
      const recordKind = kind as Kind;
      const isKnown =
        recentlyCreated.has(recordKey(kind, id)) ||
        (id <= highestKnownId && getRecord(replica.db, recordKind, id) !== undefined);
      // First without the record, so that errors name it even if the response lacks fields.
      rollback.created(kind, id);
      const record = read();
      if (!isKnown) rollback.created(kind, id, record);
      return record;
    },
    async failed(error) {
      if (error instanceof CmsUnavailable && !error.outcomeUnknown && isHtmlPage(error)) {
        // Most of these come from a firewall in front of WordPress. Errors name only a record that the CMS
        // shows.
        rollback.mayHaveCreated(kind, () => possibleOrphans().catch(() => []));
        return;
      }
      if (error instanceof CmsRejected) {
        for (const entry of error.inserted ?? []) await addInserted(entry);
        if (error.inserted || error.written === 'no') return;
      } else if (!(error instanceof CmsUnavailable && error.outcomeUnknown)) return;
      rollback.mayHaveCreated(kind, possibleOrphans);
    },
  };
}

/**
 * A redirect or an error page: from a firewall in front of WordPress, or from a plugin that ends the request
 * after saving.
 */
const isHtmlPage = ({ status = 0 }: CmsUnavailable): boolean =>
  status >= 300 && status < 500 && status !== 401 && status !== 429;
