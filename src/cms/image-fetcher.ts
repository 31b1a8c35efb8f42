// Fetches images by URL within memory limits: for all accounts together and per account.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors.ts';
import { type FetchedImage, type FetchImageOptions, fetchImage, MAX_BYTES } from './fetch-image.ts';

export interface ReservedImage {
  image: FetchedImage;
  /** Frees the image's memory. May be called again. */
  release(): void;
}

export interface ImageFetcher {
  /**
   * Fetches an image for an account as soon as the memory limits have room for the largest allowed image.
   * Undefined: no usable image.
   * @throws ApiError 503 without room for ten seconds
   */
  fetch(url: string, account: number): Promise<ReservedImage | undefined>;
}

export interface ImageFetcherOptions {
  fetchFrom?: (url: string, options: FetchImageOptions) => Promise<FetchedImage | undefined>;
  /** For `fetchFrom`. */
  options?: FetchImageOptions;
  /** Memory of all images that are being fetched or uploaded. A fetch counts as the largest allowed image. */
  totalBytes?: number;
  accountBytes?: number;
  /** Resolves after `ms` milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

const TOTAL_BYTES = 64 * 1024 * 1024;
const ACCOUNT_BYTES = TOTAL_BYTES / 2;
const MAX_WAIT_MS = 10_000;
const MAX_QUEUE = 100;

/** With the defaults: six concurrent fetches, three per account. */
export function createImageFetcher({
  fetchFrom = fetchImage,
  options = {},
  totalBytes = TOTAL_BYTES,
  accountBytes = ACCOUNT_BYTES,
  wait = (ms) => sleep(ms, undefined, { ref: false }),
}: ImageFetcherOptions = {}): ImageFetcher {
  const maxImageBytes = options.maxBytes ?? MAX_BYTES;
  const reservedByAccount = new Map<number, number>();
  const queue = new Set<{ account: number; start: () => void }>();
  let reserved = 0;

  const hasRoom = (account: number): boolean =>
    reserved + maxImageBytes <= totalBytes && (reservedByAccount.get(account) ?? 0) + maxImageBytes <= accountBytes;

  function reserve(account: number, bytes: number): void {
    reserved += bytes;
    const ofAccount = (reservedByAccount.get(account) ?? 0) + bytes;
    if (ofAccount > 0) reservedByAccount.set(account, ofAccount);
    else reservedByAccount.delete(account);
  }

  function free(account: number, bytes: number): void {
    reserve(account, -bytes);
    for (const queued of queue) {
      if (!hasRoom(queued.account)) continue;
      queue.delete(queued);
      reserve(queued.account, maxImageBytes);
      queued.start();
    }
  }

  async function acquire(account: number): Promise<void> {
    if (hasRoom(account)) return reserve(account, maxImageBytes);
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const queued = { account, start: resolve };
    if (queue.size >= MAX_QUEUE) throw overloadedError();
    queue.add(queued);
    await Promise.race([started, wait(MAX_WAIT_MS)]);
    if (queue.delete(queued)) throw overloadedError();
  }

  return {
    async fetch(url, account) {
      await acquire(account);
      let bytes = 0;
      let image: FetchedImage | undefined;
      try {
        image = await fetchFrom(url, options);
        bytes = image?.bytes.length ?? 0;
      } finally {
        free(account, maxImageBytes - bytes);
      }
      if (!image) return undefined;
      let isReserved = true;
      return {
        image,
        release() {
          if (isReserved) free(account, bytes);
          isReserved = false;
        },
      };
    },
  };
}

const overloadedError = (): ApiError =>
  new ApiError(503, 'calendar_overloaded', 'Too many images are being fetched at once. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  });
