// LRU caches of thousands of entries, whose memory grows with use.

import { LRUCache } from 'lru-cache';

type Options<K extends {}, V extends {}> = Pick<
  LRUCache.OptionsBase<K, V, unknown>,
  'ttl' | 'ttlResolution' | 'perf' | 'dispose'
>;

const COUNT = { sizeCalculation: () => 1 };

/**
 * Returns a cache of up to `maxEntries`. The `max` of lru-cache would allocate memory for all of them in
 * advance: for all caches of a gateway together 5 MB.
 */
export const createLargeCache = <K extends {}, V extends {}>(
  maxEntries: number,
  options: Options<K, V> = {},
): LRUCache<K, V> => new LRUCache<K, V>({ ...options, ...COUNT, maxSize: maxEntries });
