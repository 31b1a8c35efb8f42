// The images that records refer to: those the copy lacks, those that were replaced, and those that went.

import { type Collection, rowOf, utcText } from './collections.ts';
import { SETTLED_MS } from './marks.ts';
import { beforeUtc, createSeen, modifiedSince } from './modified-since.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import { MEDIA_FIELDS } from './whole-rows.ts';

export interface Pictures {
  /** Fetches what records refer to and the copy lacks; `progress` is told how many are there and how many are still missing. */
  fetchMissing(progress?: (done: number, missing: number) => void): Promise<void>;
  /** Looks at what was modified among the CMS's media. */
  look(): Promise<void>;
  /** A pass begins: missing images are asked for again, and `readAgain` goes on from the first. */
  again(): void;
  /**
   * Reads the next few pages of images once more; true when it has come to their end. Cut and turned in wp-admin, an image has other files
   * and the old `modified`.
   */
  readAgain(pages: number): Promise<boolean>;
}

const IDS_A_SLICE = 200;
const STATE_KEY = 'sync.media';

/** What `look`, `fetchMissing` and `readAgain` do throws what the CMS throws. `nowMs`: this process's clock, not that of the CMS. */
export function createPictures(
  replica: Replica,
  taking: Taking,
  collections: readonly Collection[],
  nowMs: () => number,
): Pictures {
  /** Images that records refer to and the CMS does not have. */
  const absent = new Set<number>();
  /** The newest media by their time of modification, and since when that is known: to the second, as everything there. */
  const open = new Map<number, { modifiedUtc: string; seenMs: number }>();
  let { mark = '', total } = JSON.parse(replica.state(STATE_KEY) ?? '{}') as { mark?: string; total?: number };
  const seen = createSeen();
  /** Version of the copy in which no image is missing but those. */
  let wholeAt: number | undefined;
  /** The last image that the present pass has read. */
  let passed = 0;

  /** Ids of all images that are in the copy, through the records that refer to them. */
  async function referenced(): Promise<number[]> {
    const ids = new Set<number>();
    for (const { kind, posts } of collections) {
      if (!posts) continue;
      let after = 0;
      for (;;) {
        const rows = replica.ids(kind, { after, limit: IDS_A_SLICE });
        const records = replica.getMany(
          kind,
          rows.map(({ id }) => id),
        );
        for (const record of records.values()) if ('image' in record && record.image !== 0) ids.add(record.image);
        if (rows.length < IDS_A_SLICE) break;
        after = rows.at(-1)?.id ?? after;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return [...ids].filter((id) => replica.image(id) !== undefined);
  }

  async function fetchMissing(progress?: (done: number, missing: number) => void): Promise<void> {
    if (wholeAt === replica.version) return;
    let done = 0;
    for (;;) {
      const missing = replica.missingImages(absent.size + taking.asking.pageSize).filter((id) => !absent.has(id));
      progress?.(done, missing.length);
      if (missing.length === 0) {
        wholeAt = replica.version;
        return;
      }
      const some = missing.slice(0);
      await taking.fetchImages(some);
      for (const id of some) if (!replica.image(id)) absent.add(id);
      done += some.length;
    }
  }

  return {
    fetchMissing,
    async look() {
      const read = taking.imagesToRead();
      for (const id of read) absent.delete(id);
      const seenMs = nowMs();
      const before = JSON.stringify({ mark, total });
      let next = mark;
      const first = mark === '';
      let found: number | undefined;
      const pages = modifiedSince((query) => taking.asking.askMedia(query), {
        ...{ knownUtc: mark, passed: seen.passed('media', mark), fields: MEDIA_FIELDS },
        ...{ pageSize: taking.asking.pageSize, site: taking.site() },
      });
      for await (const page of pages) {
        found ??= page.total;
        const nowUtc = utcText(page.serverTimeMs);
        for (const row of page.items.map(rowOf)) {
          if (row.modifiedUtc <= nowUtc && row.modifiedUtc > next) next = row.modifiedUtc;
          if (first || row.modifiedUtc < beforeUtc(mark) || !replica.image(row.id)) continue;
          const known = open.get(row.id);
          if (known?.modifiedUtc !== row.modifiedUtc) open.set(row.id, { modifiedUtc: row.modifiedUtc, seenMs });
        }
        // Before the first look there is nothing that could have changed.
        if (first) break;
      }
      mark = next;
      seen.looked('media', mark, seenMs);
      const changed = [...open].filter(([, { seenMs: at }]) => at >= 0).map(([id]) => id);
      // Fewer than before: something went, and nothing says what.
      const fewer = total !== undefined && (found ?? 0) < total;
      total = found ?? 0;
      await taking.fetchImages([...new Set([...read, ...changed, ...(fewer ? await referenced() : [])])]);
      for (const [id, known] of open) {
        if (seenMs >= known.seenMs + SETTLED_MS) open.set(id, { ...known, seenMs: -1 });
      }
      for (const [id, known] of open) if (known.seenMs < 0 && known.modifiedUtc < beforeUtc(mark)) open.delete(id);
      await fetchMissing();
      // Kept, so that what changes while no gateway runs is seen by the next one.
      const after = JSON.stringify({ mark, total });
      if (after !== before) await taking.commit(() => ({ state: { [STATE_KEY]: after } }));
    },
    again() {
      absent.clear();
      wholeAt = undefined;
      passed = 0;
    },
    async readAgain(pages) {
      const limit = pages * taking.asking.pageSize;
      const ids = replica.imageIds(passed, limit);
      await taking.fetchImages(ids);
      passed = ids.at(-1) ?? passed;
      return ids.length < limit;
    },
  };
}
