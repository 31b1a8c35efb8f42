// How many images by URL are fetched and held in memory at once: of all accounts together, and of each.

import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';
import { type FetchedImage, type FetchImageOptions, fetchImage, MAX_BYTES } from './fetch-image.ts';

export interface HeldImage {
  image: FetchedImage;
  /** Frees the image's memory. May be called again. */
  release(): void;
}

export interface ImageFetches {
  /**
   * Fetches an image for an account, as soon as there is room for the largest that it may be. Undefined: there is no usable image.
   * @throws GatewayError 503 when there is no room for ten seconds
   */
  fetch(url: string, account: number): Promise<HeldImage | undefined>;
}

export interface ImageFetchesOptions {
  fetchFrom?: (url: string, options: FetchImageOptions) => Promise<FetchedImage | undefined>;
  /** Passed on to it. */
  options?: FetchImageOptions;
  /** Bytes of all images that are being fetched or are not uploaded yet; a fetch counts as the largest image. */
  totalBytes?: number;
  accountBytes?: number;
  /** Resolves after so many milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

const TOTAL_BYTES = 64 * 1024 * 1024;
const ACCOUNT_BYTES = TOTAL_BYTES / 2;
const LONGEST_WAIT_MS = 10_000;
const MOST_WAITING = 100;

/** With the defaults: six fetches at once, three of one account. */
export function createImageFetches({
  fetchFrom = fetchImage,
  options = {},
  totalBytes = TOTAL_BYTES,
  accountBytes = ACCOUNT_BYTES,
  wait = (ms) => sleep(ms, undefined, { ref: false }),
}: ImageFetchesOptions = {}): ImageFetches {
  const largest = options.maxBytes ?? MAX_BYTES;
  const held = new Map<number, number>();
  const waiting = new Set<{ account: number; enter: () => void }>();
  let all = 0;

  const hasRoom = (account: number): boolean =>
    all + largest <= totalBytes && (held.get(account) ?? 0) + largest <= accountBytes;

  function hold(account: number, bytes: number): void {
    all += bytes;
    const own = (held.get(account) ?? 0) + bytes;
    if (own > 0) held.set(account, own);
    else held.delete(account);
  }

  function letGo(account: number, bytes: number): void {
    hold(account, -bytes);
    for (const one of waiting) {
      if (!hasRoom(one.account)) continue;
      waiting.delete(one);
      hold(one.account, largest);
      one.enter();
    }
  }

  async function enter(account: number): Promise<void> {
    if (hasRoom(account)) return hold(account, largest);
    const { promise: entered, resolve } = Promise.withResolvers<void>();
    const place = { account, enter: resolve };
    if (waiting.size >= MOST_WAITING) throw noRoom();
    waiting.add(place);
    await Promise.race([entered, wait(LONGEST_WAIT_MS)]);
    if (waiting.delete(place)) throw noRoom();
  }

  return {
    async fetch(url, account) {
      await enter(account);
      let bytes = 0;
      let image: FetchedImage | undefined;
      try {
        image = await fetchFrom(url, options);
        bytes = image?.bytes.length ?? 0;
      } finally {
        letGo(account, largest - bytes);
      }
      if (!image) return undefined;
      let isHeld = true;
      return {
        image,
        release() {
          if (isHeld) letGo(account, bytes);
          isHeld = false;
        },
      };
    },
  };
}

const noRoom = (): GatewayError =>
  new GatewayError(503, 'calendar_overloaded', 'Too many images are being fetched at once. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  });
