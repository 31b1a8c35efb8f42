// The images in WordPress's media library. `images` omits uploads that are no images.

import { basename } from 'node:path';
import { CmsUnavailable } from '../../errors.ts';
import { numberOrZero, objectOrEmpty, textOrEmpty } from '../../model/json.ts';
import type { ImageRecord } from '../../model/records.ts';
import { percentDecoded } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import type { Cms, CmsRecord } from '../port.ts';
import { writtenRecordOf } from '../response.ts';
import { MAX_PAGE_SIZE, recordsOf } from './rest-api.ts';

const FIELDS = 'id,source_url,media_details,mime_type';

export function createMedia(call: RestCall): Pick<Cms, 'images' | 'findImage' | 'upload'> {
  return {
    async images(ids, options) {
      const query = { include: ids.join(','), per_page: MAX_PAGE_SIZE, _fields: FIELDS };
      const items = recordsOf(await call('GET', 'wp/v2/media', { query }, options));
      for (const item of items) {
        const missing = FIELDS.split(',').filter((name) => item[name] === undefined || item[name] === null);
        if (missing.length > 0) {
          const detail = `media item ${String(item.id ?? '')} lacks ${missing.join(', ')}`;
          throw new CmsUnavailable('incomplete', `The CMS's answer is incomplete: ${detail}.`);
        }
      }
      return items.filter(isImage).map(imageOf);
    },

    async findImage(url, options) {
      const wanted = fileOf(url);
      // `hall-150x150.jpg` is a size of `hall.jpg`, or the name of an upload.
      const search = basename(wanted).replace(/(-\d+x\d+)?\.\w+$/, '');
      const query = { search, per_page: MAX_PAGE_SIZE, _fields: FIELDS };
      const found = recordsOf(await call('GET', 'wp/v2/media', { query }, options));
      const images = found.filter(isImage).map(imageOf);
      const isWanted = ({ url }: { url: string }) => fileOf(url) === wanted;
      return images.find((image) => [image, ...Object.values(image.sizes)].some(isWanted))?.id;
    },

    async upload({ bytes, mimeType, filename }, options) {
      const headers = { 'content-type': mimeType, 'content-disposition': `attachment; filename="${filename}"` };
      const parts = { bytes, headers, query: { _fields: FIELDS } };
      return imageOf(writtenRecordOf(await call('POST', 'wp/v2/media', parts, options)));
    },
  };
}

const isImage = ({ mime_type }: CmsRecord): boolean => textOrEmpty(mime_type).startsWith('image/');

/** Host and path of a URL, percent-encoded or not, and without its query: `example.org/files/é 1.jpg`. */
function fileOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { host, pathname } = new URL(url);
  return host + percentDecoded(pathname);
}

/** Converts a media item. Includes only derived sizes, as The Events Calendar does: WordPress adds `full`. */
export function imageOf(media: CmsRecord): ImageRecord {
  const details = objectOrEmpty(media.media_details);
  const url = textOrEmpty(media.source_url);
  const sizes: ImageRecord['sizes'] = {};
  for (const [name, value] of Object.entries(objectOrEmpty(details.sizes))) {
    if (name === 'full') continue;
    const size = objectOrEmpty(value);
    sizes[name] = {
      width: numberOrZero(size.width),
      height: numberOrZero(size.height),
      mimeType: textOrEmpty(size.mime_type),
      filesizeBytes: numberOrZero(size.filesize),
      url: textOrEmpty(size.source_url),
    };
  }
  const originalImage = textOrEmpty(details.original_image);
  return {
    id: numberOrZero(media.id),
    url,
    extension: /\.([a-z0-9]+)$/i.exec(url.split(/[?#]/, 1)[0]!)?.[1] ?? '',
    width: numberOrZero(details.width),
    height: numberOrZero(details.height),
    filesizeBytes: numberOrZero(details.filesize),
    sizes,
    ...(originalImage && { originalImage }),
  };
}
