// Images in the media library of WordPress: read in bulk, and uploaded.

import { UpstreamAway } from '../../errors.ts';
import type { ImageRecord } from '../../records.ts';
import { normalized } from '../../text/normalize.ts';
import { trimmed } from '../../text/trim.ts';
import type { Native, Upstream } from '../port.ts';
import type { Call } from './calls.ts';
import { nativesOf, recordOr, writtenOf } from './refusals.ts';

const FIELDS = 'id,source_url,media_details,mime_type';
const CHUNK = 100;

/** Images by id, other uploads left out, and by upload (upstream-wordpress 6: media). */
export function createMedia(call: Call): Pick<Upstream, 'images' | 'upload'> {
  return {
    async images(ids, options) {
      const wanted = [...new Set(ids)].filter((id) => id > 0);
      const found = new Map<number, ImageRecord>();
      for (let from = 0; from < wanted.length; from += CHUNK) {
        const query = { include: wanted.slice(from, from + CHUNK).join(','), per_page: CHUNK, _fields: FIELDS };
        for (const item of nativesOf(await call('GET', 'wp/v2/media', { query }, options))) {
          const lacking = FIELDS.split(',').filter((name) => item[name] === undefined || item[name] === null);
          if (lacking.length > 0) {
            const which = `media item ${String(item.id ?? '')} lacks ${lacking.join(', ')}`;
            throw new UpstreamAway('incomplete', `The CMS's answer is incomplete: ${which}.`);
          }
          if (!text(item.mime_type).startsWith('image/')) continue;
          const image = imageOf(item);
          found.set(image.id, image);
        }
      }
      return wanted.flatMap((id) => found.get(id) ?? []);
    },

    async upload({ bytes, mimeType, filename }, options) {
      const headers = {
        'content-type': mimeType,
        'content-disposition': `attachment; filename="${safeFilename(filename)}"`,
      };
      return imageOf(
        writtenOf(await call('POST', 'wp/v2/media', { bytes, headers, query: { _fields: FIELDS } }, options)),
      );
    },
  };
}

/** A media item as the interface shows it (interface-behaviour 1.6): derived sizes only, without the `full` that WordPress adds. */
export function imageOf(media: Native): ImageRecord {
  const details = recordOr(media.media_details);
  const url = text(media.source_url);
  const sizes: ImageRecord['sizes'] = {};
  for (const [name, value] of Object.entries(recordOr(details.sizes))) {
    if (name === 'full') continue;
    const size = recordOr(value);
    sizes[name] = {
      width: number(size.width),
      height: number(size.height),
      mimeType: text(size.mime_type),
      filesizeBytes: number(size.filesize),
      url: text(size.source_url),
    };
  }
  return {
    id: number(media.id),
    url,
    extension: /\.([a-z0-9]+)$/i.exec(url.split(/[?#]/, 1)[0]!)?.[1] ?? '',
    width: number(details.width),
    height: number(details.height),
    filesizeBytes: number(details.filesize),
    sizes,
  };
}

/** A name that can stand between the quotes of a header: ASCII letters, digits, `.`, `_` and `-`, with its ending kept. */
export function safeFilename(filename: string): string {
  const [, stem = '', ending = ''] = /^(.*?)(\.[^.]*)?$/s.exec(filename) ?? [];
  const plain = (part: string) =>
    trimmed(
      normalized(part, 'NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[^A-Za-z0-9._-]+/g, '-'),
      '-.',
    );
  const short = plain(stem).slice(0, 80) || 'image';
  const type = plain(ending).slice(0, 10);
  return type ? `${short}.${type}` : short;
}

function number(value: unknown): number {
  return Number(value) || 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
