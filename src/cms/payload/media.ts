// The images in Payload's upload collection. `images` omits uploads that are no images.

import { basename } from 'node:path';
import { CmsRejected } from '../../errors.ts';
import { isObject, numberOrZero, objectOrEmpty, textOrEmpty } from '../../model/json.ts';
import type { ImageRecord } from '../../model/records.ts';
import { absoluteUrl, percentDecoded } from '../../text/text.ts';
import type { RequestParts, RestCall } from '../client.ts';
import type { Cms, CmsRecord } from '../port.ts';
import type { PayloadSite } from './records.ts';
import { listOf, MAX_PAGE_SIZE, writtenOf } from './rest-calls.ts';

export function createMedia(
  call: RestCall,
  { ids, media, siteUrl }: PayloadSite,
): Pick<Cms, 'images' | 'findImage' | 'upload'> {
  function imageOf(doc: CmsRecord): ImageRecord | undefined {
    const id = ids.toGateway('image', doc.id);
    if (id === undefined || !textOrEmpty(doc.mimeType).startsWith('image/')) return undefined;
    const url = absoluteUrl(doc.url, siteUrl);
    const sizes: ImageRecord['sizes'] = {};
    for (const [name, size] of Object.entries(objectOrEmpty(doc.sizes))) {
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
    return {
      ...{ id, url, extension, sizes },
      width: numberOrZero(doc.width),
      height: numberOrZero(doc.height),
      filesizeBytes: numberOrZero(doc.filesize),
    };
  }

  return {
    async images(wanted, options) {
      const cmsIds = wanted.flatMap((id) => ids.toPayload('image', id) ?? []);
      if (cmsIds.length === 0) return [];
      const query = { 'where[id][in]': cmsIds.join(','), limit: MAX_PAGE_SIZE, depth: 0 };
      return listOf(await call('GET', media, { query }, options)).docs.flatMap((doc) => imageOf(doc) ?? []);
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
async function multipart(bytes: Uint8Array, type: string, name: string): Promise<RequestParts> {
  const form = new FormData();
  form.set('_payload', JSON.stringify({ alt: name.replace(/\.[^.]*$/, '') }));
  form.set('file', new Blob([Buffer.from(bytes)], { type }), name);
  const encoded = new Response(form);
  return {
    bytes: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  };
}
