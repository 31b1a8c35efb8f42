// An image that a write names: the id of an uploaded one, the URL of an uploaded one, or a URL elsewhere that is brought in.

import { basename } from 'node:path';
import { UpstreamRefused } from '../errors.ts';
import type { HeldImage, ImageFetches } from '../upstream/image-fetches.ts';
import { type Asked, callOptions, type Images } from './asked.ts';
import type { Backing } from './backing.ts';
import { beginCreate, noteFailedCreate } from './failed-create.ts';
import { invalidParam } from './refusals.ts';
import { translate } from './translate.ts';
import { can, GENERAL } from './visibility.ts';

/** Images by URL that one request may name: the gateway fetches each from another server, and must not flood it. */
const MOST_URLS = 20;

/**
 * The images of one request: what `usable` found or fetched is what `idOf` names or uploads.
 * `idOf` throws `GatewayError` 400 for what was not found usable before and for an upload that the CMS refuses; both throw `UpstreamAway`.
 */
export function createImages(
  backing: Backing,
  asked: Pick<Asked, 'caller' | 'requestId'>,
  fetches: ImageFetches = backing.imageFetches,
): Images {
  const ids = new Map<string, number>();
  const fetched = new Map<string, HeldImage>();
  const options = callOptions(asked);
  let urls = 0;

  async function uploaded(id: number): Promise<boolean> {
    const { replica, unknown } = backing;
    if (replica.image(id)) return true;
    // WordPress shows uploads to a hidden post only to some actors.
    const name = `image ${id} ${asked.caller.account?.userId ?? ''}`;
    if (unknown.isMissing(name)) return false;
    const found = await unknown.ask(asked.caller, undefined, async () => {
      const moment = backing.keeping.moment();
      const [image] = await backing.upstream.images([id], options);
      if (image) await backing.keeping.keep({ images: [image] }, moment);
      else unknown.missing(name);
      return image !== undefined;
    });
    return found?.answer ?? false;
  }

  /** Id of the upload with this address on the site. */
  async function atAddress(url: string): Promise<number | undefined> {
    const host = new URL(backing.site().url).host;
    if (!URL.canParse(url) || new URL(url).host !== host) return undefined;
    const name = basename(new URL(url).pathname).replace(/(-\d+x\d+)?\.\w+$/, '');
    try {
      const { items } = await backing.upstream.list(
        'media',
        { search: name, per_page: 100, _fields: 'id,source_url,mime_type' },
        options,
      );
      const found = items.find((item) => item.source_url === url && String(item.mime_type).startsWith('image/'));
      return found && Number(found.id);
    } catch (error) {
      if (error instanceof UpstreamRefused) return undefined;
      throw error;
    }
  }

  return {
    async usable(value) {
      const text = String(value).trim();
      if (/^\d+$/.test(text)) {
        const known = await uploaded(Number(text));
        if (known) ids.set(text, Number(text));
        return known;
      }
      // Nobody who could not upload makes the gateway fetch anything; whoever may not write at all is told so later.
      if (!asked.caller.account) return true;
      if (!can(asked.caller, 'upload_files', GENERAL)) return false;
      if (ids.has(text) || fetched.has(text)) return true;
      urls += 1;
      if (urls > MOST_URLS) return false;
      const here = await atAddress(text);
      if (here !== undefined) {
        ids.set(text, here);
        return true;
      }
      const held = await fetches.fetch(text, asked.caller.account.userId);
      if (held) fetched.set(text, held);
      return held !== undefined;
    },
    async idOf(value, rollback) {
      const text = value.trim();
      if (text === '') return 0;
      const known = ids.get(text);
      if (known !== undefined) return known;
      const held = fetched.get(text);
      if (!held) throw invalidParam('image');
      const begun = beginCreate(backing, 'image');
      try {
        const upload = await backing.upstream.upload(held.image, { ...options, createId: begun.createId });
        held.release();
        rollback.created('image', upload.id);
        await backing.keeping.wrote({ images: [upload] }, backing.keeping.moment());
        ids.set(text, upload.id);
        return upload.id;
      } catch (error) {
        await noteFailedCreate(backing, 'image', error, begun, asked, rollback);
        throw error instanceof UpstreamRefused
          ? invalidParam('image')
          : translate(error, { kind: 'event', anonymous: false });
      }
    },
    release() {
      for (const held of fetched.values()) held.release();
      fetched.clear();
    },
  };
}
