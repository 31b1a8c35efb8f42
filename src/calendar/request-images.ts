// The images that a body names: validation finds or downloads them, and the write uploads what was downloaded.

import { CmsRejected } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import { getImage } from '../store/records.ts';
import type { FetchedImage } from './image-fetcher.ts';
import { callOptions, type RequestImages } from './request.ts';
import type { ApiRequest } from './services.ts';

/** Image URLs per request. The gateway fetches each from another server, which it must not flood. */
const MAX_URLS = 20;

export function createRequestImages(request: Omit<ApiRequest, 'baseUrl'>): RequestImages {
  const { services } = request;
  /** Ids of uploads and fetched images, by the sent text. */
  const usable = new Map<string, number | FetchedImage>();
  let urlCount = 0;

  async function findUploaded(id: number): Promise<number | undefined> {
    const { replica, lookupLimit, cms } = services;
    if (getImage(replica.db, id)) return id;
    const found = await lookupLimit.lookUp(request.actor, () => cms.images([id], callOptions(request)));
    return found?.[0]?.id;
  }

  /** The upload with this URL on the site, or else the image at this URL. */
  async function findByUrl(url: string, userId: number): Promise<number | FetchedImage | undefined> {
    urlCount += 1;
    if (urlCount > MAX_URLS) return undefined;
    try {
      const isOnSite = new URL(url).host === new URL(services.site().url).host;
      const id = isOnSite ? await services.cms.findImage(url, callOptions(request)) : undefined;
      if (id !== undefined) return id;
    } catch (error) {
      if (!(error instanceof CmsRejected)) throw error;
    }
    return services.imageFetcher.fetch(url, userId);
  }

  function keep(text: string, found: number | FetchedImage | undefined): boolean {
    if (found !== undefined) usable.set(text, found);
    return found !== undefined;
  }

  return {
    async fetchIfUsable(value) {
      const text = String(value).trim();
      if (usable.has(text)) return true;
      if (/^\d+$/.test(text)) return keep(text, await findUploaded(Number(text)));
      if (!URL.canParse(text)) return false;
      const { account } = request.actor;
      // The write of an anonymous caller fails later, with 401: no URL is fetched for it. An id is looked up.
      if (account === undefined) return true;
      return account.mayUpload && keep(text, await findByUrl(text, account.userId));
    },
    async idOf(value) {
      const text = value.trim();
      if (text === '') return 0;
      const found = usable.get(text);
      if (found === undefined) throw invalidParam('image');
      if (typeof found === 'number') return found;
      try {
        const { id } = await services.cms.upload(found, callOptions(request));
        request.created?.push({ kind: 'image', id });
        services.imageFetcher.release(found);
        usable.set(text, id);
        return id;
      } catch (error) {
        throw error instanceof CmsRejected ? invalidParam('image') : error;
      }
    },
    release() {
      for (const image of usable.values()) if (typeof image === 'object') services.imageFetcher.release(image);
      usable.clear();
    },
  };
}
