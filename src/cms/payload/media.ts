// Images in Payload's upload collection: reads them in bulk and uploads them.

import { basename } from 'node:path';
import { CmsRejected } from '../../errors.ts';
import { isObject, numberOrZero, textOrEmpty } from '../../model/json.ts';
import type { ImageRecord } from '../../model/records.ts';
import { percentDecoded } from '../../text/text.ts';
import type { RestCall, RestCallBody } from '../client.ts';
import type { Cms, CmsRecord } from '../port.ts';
import type { Ids } from './ids.ts';
import { listOf, writtenOf } from './rest-calls.ts';

const CHUNK = 100;

export interface MediaOptions {
  ids: Ids;
  /** The collection of images. */
  media: string;
  /** The address of Payload for browsers, to which the addresses of files are relative. */
  siteUrl: string;
}

/** Calls to the upload collection. `images` omits uploads that are no images. */
export function createMedia(
  call: RestCall,
  { ids, media, siteUrl }: MediaOptions,
): Pick<Cms, 'images' | 'findImage' | 'upload'> {
  /** Undefined for an upload that is not an image. */
  function imageOf(doc: CmsRecord): ImageRecord | undefined {
    const id = ids.toGateway('image', doc.id);
    if (id === undefined || !textOrEmpty(doc.mimeType).startsWith('image/')) return undefined;
    const url = absoluteUrl(doc.url, siteUrl);
    const sizes: ImageRecord['sizes'] = {};
    for (const [name, size] of Object.entries(isObject(doc.sizes) ? doc.sizes : {})) {
      // Payload has all sizes in every record, with null for those that the image is too small for.
      if (!isObject(size) || typeof size.url !== 'string') continue;
      const { width, height, mimeType, filesize } = size;
      sizes[name] = {
        width: numberOrZero(width),
        height: numberOrZero(height),
        mimeType: textOrEmpty(mimeType),
        filesizeBytes: numberOrZero(filesize),
        url: absoluteUrl(size.url, siteUrl),
      };
    }
    const extension = /\.([a-z0-9]+)$/i.exec(textOrEmpty(doc.filename))?.[1] ?? '';
    const [width, height, filesizeBytes] = [
      numberOrZero(doc.width),
      numberOrZero(doc.height),
      numberOrZero(doc.filesize),
    ];
    return { id, url, extension, width, height, filesizeBytes, sizes };
  }

  return {
    async images(wanted, options) {
      const cmsIds = [...new Set(wanted)].flatMap((id) => ids.toPayload('image', id) ?? []);
      const images: ImageRecord[] = [];
      for (let from = 0; from < cmsIds.length; from += CHUNK) {
        const query = { 'where[id][in]': cmsIds.slice(from, from + CHUNK).join(','), limit: CHUNK, depth: 0 };
        for (const doc of listOf(await call('GET', media, { query }, options)).docs) {
          const image = imageOf(doc);
          if (image) images.push(image);
        }
      }
      return images;
    },

    async findImage(url, options) {
      const filename = percentDecoded(basename(new URL(url).pathname));
      const query = { 'where[filename][equals]': filename, limit: 1, depth: 0 };
      const [doc] = listOf(await call('GET', media, { query }, options)).docs;
      const image = doc && imageOf(doc);
      return image?.url === url ? image.id : undefined;
    },

    async upload({ bytes, mimeType, filename }, options) {
      if (!mimeType.startsWith('image/')) throw new CmsRejected('invalid', 'Only images can be uploaded.');
      const form = await multipart(bytes, mimeType, filename);
      const image = imageOf(writtenOf(await call('POST', media, { ...form, query: { depth: 0 } }, options)));
      if (!image)
        throw new CmsRejected('failed', 'Payload stored the image as another kind of file.', { written: 'yes' });
      return image;
    },
  };
}

/** A form with the file and, as Payload expects it, the other fields as JSON. Many sites require the field `alt`. */
async function multipart(bytes: Uint8Array, type: string, name: string): Promise<RestCallBody> {
  const form = new FormData();
  form.set('_payload', JSON.stringify({ alt: name.replace(/\.[^.]*$/, '') }));
  form.set('file', new Blob([Buffer.from(bytes)], { type }), name);
  const encoded = new Response(form);
  return {
    bytes: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  };
}

const absoluteUrl = (url: unknown, base: string): string =>
  typeof url === 'string' && URL.canParse(url, base) ? new URL(url, base).href : '';
