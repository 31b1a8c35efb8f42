// Fetches images from URLs that clients give: from public hosts only, limited in time, size and memory.

import { getPublic } from '../cms/public-request.ts';
import { tooManyImages } from '../interface/errors.ts';
import { normalizeUnicode, percentDecoded, trimCharacters } from '../text/text.ts';

export interface FetchedImage {
  bytes: Uint8Array;
  mimeType: string;
  filename: string;
}

export type ImageFetcher = ReturnType<typeof createImageFetcher>;

/** Memory of all images that are being fetched or uploaded: ten fetches at once. */
const TOTAL_BYTES = 100 * 1024 * 1024;
/** Of one image. */
const MAX_BYTES = 10 * 1024 * 1024;
const FETCHES_PER_ACCOUNT = 5;
const TIMEOUT_MS = 10_000;
const HEADERS = { accept: 'image/avif, image/webp, image/*' };
const MAX_FILENAME_LENGTH = 80;

/** @param get replaced by tests, whose images are on this machine or only in memory */
export function createImageFetcher(get = getPublic) {
  let reservedBytes = 0;
  /** The number of running fetches, by account. */
  const running = new Map<number, number>();
  return {
    /**
     * Fetches an image and keeps room for it in memory until `release`. Undefined: no usable image.
     * @param account the id of the account that asks: one has half of the fetches at once
     * @throws ApiError 503 if there is no room for the largest allowed image
     */
    async fetch(url: string, account: number): Promise<FetchedImage | undefined> {
      const own = running.get(account) ?? 0;
      if (own >= FETCHES_PER_ACCOUNT || reservedBytes + MAX_BYTES > TOTAL_BYTES) throw tooManyImages();
      running.set(account, own + 1);
      reservedBytes += MAX_BYTES;
      let image: FetchedImage | undefined;
      try {
        image = await fetchImage(url, get);
        return image;
      } finally {
        // An image of 2 MB gives back 8 MB here, and the rest when it is released.
        reservedBytes -= MAX_BYTES - (image?.bytes.length ?? 0);
        running.set(account, running.get(account)! - 1);
      }
    },
    release({ bytes }: FetchedImage): void {
      reservedBytes -= bytes.length;
    },
  };
}

/** Types by the beginning of a file, 64 bytes as Latin-1. */
const IMAGE_TYPES: readonly { mimeType: string; extension: string; matches: (start: string) => boolean }[] = [
  { mimeType: 'image/png', extension: 'png', matches: (start) => start.startsWith('\x89PNG\r\n\x1a\n') },
  { mimeType: 'image/jpeg', extension: 'jpg', matches: (start) => start.startsWith('\xff\xd8\xff') },
  { mimeType: 'image/gif', extension: 'gif', matches: (start) => /^GIF8[79]a/.test(start) },
  { mimeType: 'image/webp', extension: 'webp', matches: (start) => /^RIFF.{4}WEBP/s.test(start) },
  // An ISO media file with an AVIF brand, as major or compatible brand.
  { mimeType: 'image/avif', extension: 'avif', matches: (start) => /^.{4}ftyp(?:.{4})*?avi[fs]/s.test(start) },
];

/**
 * Downloads the image at the URL. Returns undefined for everything except a PNG, JPEG, GIF, WebP or AVIF image,
 * recognised by its first bytes and not by its headers.
 */
async function fetchImage(text: string, get: typeof getPublic): Promise<FetchedImage | undefined> {
  const request = { headers: HEADERS, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS };
  // Blocked addresses, unknown hosts, timeouts, broken responses: for the client none of them is a usable image.
  const response = await get(text, request).catch(() => undefined);
  if (!response) return undefined;
  const { url, bytes } = response;
  const start = bytes.toString('latin1', 0, 64);
  const type = IMAGE_TYPES.find(({ matches }) => matches(start));
  return type && { bytes, mimeType: type.mimeType, filename: `${filenameOf(url)}.${type.extension}` };
}

/** The last path segment without its extension, fit for a header: `Fête d’été.jpg` -> `Fete-d-ete`. */
export function filenameOf({ pathname }: Pick<URL, 'pathname'>): string {
  const name = percentDecoded(pathname.split('/').at(-1) ?? '').replace(/\.\w{1,5}$/, '');
  const plain = normalizeUnicode(name, 'NFKD').replace(/\p{M}/gu, '');
  return trimCharacters(plain.replace(/[^A-Za-z0-9_-]+/g, '-'), '-_').slice(0, MAX_FILENAME_LENGTH) || 'image';
}
