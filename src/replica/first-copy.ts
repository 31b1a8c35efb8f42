// The first copy: every collection from one end to the other, going on where it was left, then the images.

import type { Kind } from '../records.ts';
import { type Collection, utcText } from './collections.ts';
import type { Pictures } from './images.ts';
import type { Joins } from './joins.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import { type Cursor, walk } from './walk.ts';

/** How far a collection has come. Kept in the copy, so that a first copy goes on after a restart. */
interface CollectionProgress {
  done: number;
  total: number;
  finished: boolean;
  next?: Cursor;
  /** What is modified from here on has to be looked at afterwards. */
  fromUtc: string;
}

export type ProgressOf = Partial<Record<Kind, CollectionProgress>>;

const STATE_KEY = 'sync.progress';
const PAGES_IN_FLIGHT = 3;

/** How far the first copy came, as the copy on disk has it; `{}` before it began. */
export function loadProgress(replica: Replica): ProgressOf {
  return JSON.parse(replica.state(STATE_KEY) ?? '{}') as ProgressOf;
}

export interface FirstCopyOptions {
  replica: Replica;
  taking: Taking;
  joins: Joins;
  pictures: Pictures;
  collections: readonly Collection[];
  progress: ProgressOf;
  /** Told after every page. */
  tell(collection: string, done: number, total: number): void;
}

/** The newest modification that is not to come, and how many records there are: before the first page is read. */
async function begin(collection: Collection, taking: Taking): Promise<CollectionProgress> {
  const newest = { orderby: 'modified', order: 'desc', per_page: 1, _fields: 'id,modified_gmt' };
  const all = { per_page: 1, _fields: 'id' };
  const page = await taking.asking.ask(collection, collection.posts ? newest : all);
  const modified = page.items[0]?.modified_gmt;
  const nowUtc = utcText(page.serverTimeMs);
  const newestUtc = typeof modified === 'string' ? modified.slice(0, 19).replace('T', ' ') : nowUtc;
  const fromUtc = [newestUtc, nowUtc].sort()[0] ?? nowUtc;
  return { done: 0, total: page.total, finished: false, fromUtc };
}

/** Throws what the CMS throws; what was copied until then stays, and the next call goes on from there. */
export async function copyAll(options: FirstCopyOptions): Promise<void> {
  const { replica, taking, joins, pictures, collections, progress, tell } = options;
  const save = () => replica.setState(STATE_KEY, JSON.stringify(progress));
  for (const collection of collections) {
    const { kind } = collection;
    const at = progress[kind] ?? (await begin(collection, taking));
    progress[kind] = at;
    taking.watermark.set(kind, at.fromUtc);
  }
  save();
  // Before the first page, so that its share of the whole is known.
  for (const { kind } of collections) tell(kind, progress[kind]?.done ?? 0, progress[kind]?.total ?? 0);
  for (const collection of collections) {
    const at = progress[collection.kind];
    if (!at || at.finished) continue;
    if (collection.kind === 'event') await joins.refresh();
    const query = { orderby: 'id', order: 'asc', _fields: collection.select };
    const pages = walk((place) => taking.asking.ask(collection, { ...query, ...place }), {
      by: collection.posts ? 'offset' : 'page',
      from: at.next,
      inFlight: PAGES_IN_FLIGHT,
      pageSize: taking.asking.pageSize,
    });
    for await (const page of pages) {
      await taking.take(collection, page.items, page.askedAt);
      at.next = page.next;
      at.total = page.total;
      at.finished = page.last;
      at.done = page.last
        ? page.total
        : Math.min(page.total, collection.posts ? page.next.at : (page.next.at - 1) * taking.asking.pageSize);
      save();
      tell(collection.kind, at.done, at.total);
    }
  }
  await pictures.fetchMissing((done, missing) => tell('image', done, done + missing));
}
