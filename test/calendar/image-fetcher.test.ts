// Images by URL take a bounded amount of memory.

import { expect } from 'chai';
import { createImageFetcher, type FetchedImage, type ImageFetcher } from '../../src/calendar/image-fetcher.ts';
import type { PublicResponse } from '../../src/cms/public-request.ts';
import { ApiError } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';

const LARGEST = 10 * 1024 * 1024;
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const ADDRESS = 'https://images.test/a.png';
/** What a host answers: an image of so many bytes, or a page. */
const imageOf = (size: number): PublicResponse => ({
  ...{ url: new URL(ADDRESS), status: 200, headers: {} },
  bytes: Buffer.concat([SIGNATURE, Buffer.alloc(size - SIGNATURE.length)]),
});
const NO_IMAGE = { ...imageOf(SIGNATURE.length), bytes: Buffer.from('<!doctype html>') };

describe('images by URL', () => {
  let running: ((response: PublicResponse) => void)[];
  let images: ImageFetcher;
  beforeEach(() => {
    running = [];
    images = createImageFetcher(() => new Promise((resolve) => void running.push(resolve)));
  });

  /** By accounts of their own. */
  const ask = (times: number) =>
    Array.from({ length: times }, (_, n) => images.fetch(ADDRESS, n).catch((error: unknown) => error));

  it('are fetched ten at a time; others get 503', async () => {
    const asked = ask(12);
    expect(running).to.have.length(10);
    for (const error of await Promise.all(asked.slice(10))) {
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 503 });
      expect((error as ApiError).headers).to.have.property('Retry-After');
    }
  });

  it('are fetched five at a time for one account, and the next account has room', async () => {
    const asked = Array.from({ length: 6 }, () => images.fetch(ADDRESS, 1).catch((error: unknown) => error));
    expect(await asked[5])
      .to.be.instanceOf(ApiError)
      .and.to.have.property('status', 503);
    void images.fetch(ADDRESS, 2);
    expect(running).to.have.length(6);
    running[0]!(NO_IMAGE);
    await asked[0];
    void images.fetch(ADDRESS, 1);
    expect(running).to.have.length(7);
  });

  it('count with their real size from download until release', async () => {
    const asked = ask(10);
    for (const [n, end] of running.entries()) end(imageOf(n === 9 ? LARGEST - SIGNATURE.length : LARGEST));
    const fetched = await Promise.all(asked);
    expect(await ask(1)[0], 'all of the room is held').to.be.instanceOf(ApiError);
    images.release(fetched[0] as FetchedImage);
    ask(2);
    expect(running).to.have.length(11);
    running.at(-1)!(NO_IMAGE);
    await new Promise(setImmediate);
    const [small] = ask(1);
    expect(running, 'no image takes no room').to.have.length(12);
    running.at(-1)!(imageOf(SIGNATURE.length));
    await small;
    ask(1);
    expect(running, 'a small image takes little room').to.have.length(13);
  });

  it('release their memory when a fetch fails', async () => {
    images = createImageFetcher(async () => {
      throw new Error('unforeseen');
    });
    for (let n = 0; n < 20; n += 1) expect(await images.fetch(ADDRESS, 1)).to.equal(undefined);
  });

  it('are released at the end of their request, successful or not', async () => {
    const gateway = await startGateway({
      cms: createFakeCms(() => Date.now()),
      service: CREDENTIALS.admin,
      as: CREDENTIALS,
    });
    try {
      const held = new Set<FetchedImage>();
      gateway.services.imageFetcher = {
        async fetch() {
          const image = { bytes: SIGNATURE, mimeType: 'image/png', filename: 'a.png' };
          held.add(image);
          return image;
        },
        release: (image) => void held.delete(image),
      };
      const event = { start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00', image: ADDRESS };
      for (const [title, expected] of Object.entries({ '': 400, Fair: 201 })) {
        const { status } = await gateway.request('/events', { as: 'admin', json: { ...event, title } });
        expect([status, held.size]).to.deep.equal([expected, 0]);
      }
    } finally {
      await gateway.stop();
    }
  });
});
