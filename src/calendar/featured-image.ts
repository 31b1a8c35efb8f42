// Featured images of a write: the id or URL of an upload on the site, or the URL of an image elsewhere, which
// the gateway fetches and uploads.

import type { ReservedImage } from '../cms/image-fetcher.ts';
import { CmsRejected } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import { getImage } from '../store/records.ts';
import { callOptions } from './cms-records.ts';
import type { RequestContext, RequestImages } from './request-context.ts';
import type { Services } from './services.ts';

/** Image URLs per request. The gateway fetches each from another server, which it must not flood. */
const MAX_URLS = 20;

/**
 * `idOf` throws 400 for an image that was not usable and for an upload that the CMS rejects. `isUsable`
 * and `idOf` throw `CmsUnavailable`.
 */
export function createRequestImages(
  services: Services,
  request: Pick<RequestContext, 'actor' | 'requestId'>,
): RequestImages {
  /** Ids of checked images, by the sent text. */
  const ids = new Map<string, number>();
  const fetched = new Map<string, ReservedImage>();
  let urlCount = 0;

  async function isUploaded(id: number): Promise<boolean> {
    const { replica, unknownRecords, cmsRecords } = services;
    if (getImage(replica.db, id)) return true;
    // WordPress shows uploads to a hidden post only to some actors.
    const name = `image ${id} ${request.actor.account?.userId ?? ''}`;
    if (unknownRecords.isMissing(name)) return false;
    const found = await unknownRecords.lookUp(request.actor, undefined, async () => {
      const image = await cmsRecords.readImage(id, request);
      if (!image) unknownRecords.markMissing(name);
      return image !== undefined;
    });
    return found?.result ?? false;
  }

  /** The id of the upload with this URL on the site. */
  async function findUpload(url: string): Promise<number | undefined> {
    const { host } = new URL(services.site().url);
    if (!URL.canParse(url) || new URL(url).host !== host) return undefined;
    try {
      return await services.cms.findImage(url, callOptions(request));
    } catch (error) {
      if (error instanceof CmsRejected) return undefined;
      throw error;
    }
  }

  return {
    async isUsable(value) {
      const text = String(value).trim();
      if (/^\d+$/.test(text)) {
        const isKnown = await isUploaded(Number(text));
        if (isKnown) ids.set(text, Number(text));
        return isKnown;
      }
      if (!URL.canParse(text)) return false;
      // The gateway fetches nothing for an anonymous actor, whose write fails later.
      if (!request.actor.account) return true;
      if (!request.actor.account.mayUpload) return false;
      if (ids.has(text) || fetched.has(text)) return true;
      urlCount += 1;
      if (urlCount > MAX_URLS) return false;
      const uploadId = await findUpload(text);
      if (uploadId !== undefined) {
        ids.set(text, uploadId);
        return true;
      }
      const image = await services.imageFetcher.fetch(text, request.actor.account.userId);
      if (image) fetched.set(text, image);
      return image !== undefined;
    },
    needsUpload: (value) => fetched.has(value.trim()) && !ids.has(value.trim()),
    async idOf(value, rollback) {
      const text = value.trim();
      if (text === '') return 0;
      const known = ids.get(text);
      if (known !== undefined) return known;
      const reserved = fetched.get(text);
      if (!reserved) throw invalidParam('image');
      try {
        const id = await services.cmsRecords.uploadImage(reserved.image, request, rollback);
        reserved.release();
        ids.set(text, id);
        return id;
      } catch (error) {
        throw error instanceof CmsRejected ? invalidParam('image') : error;
      }
    },
    release() {
      for (const reserved of fetched.values()) reserved.release();
      fetched.clear();
    },
  };
}
