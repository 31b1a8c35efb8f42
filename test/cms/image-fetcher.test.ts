// Images by URL take a bounded amount of memory.

import { expect } from 'chai';
import { createImageFetcher, type FetchedImage, type ImageFetcher } from '../../src/cms/image-fetcher.ts';
import { ApiError } from '../../src/errors.ts';
import { startGateway } from '../start-gateway.ts';
import { CREDENTIALS, createFakeCms } from './fake-cms.ts';

const LARGEST = 10 * 1024 * 1024;
const URL = 'https://images.test/a.png';
const imageOf = (bytes: number): FetchedImage => ({
  ...{ bytes: new Uint8Array(bytes), mimeType: 'image/png', filename: 'a.png' },
});

describe('images by URL', () => {
  let running: ((image: FetchedImage | undefined) => void)[];
  let images: ImageFetcher;
  beforeEach(() => {
    running = [];
    images = createImageFetcher(() => new Promise((resolve) => void running.push(resolve)));
  });

  /** By accounts of their own. */
  const ask = (times: number) =>
    Array.from({ length: times }, (_, n) => images.fetch(URL, n).catch((error: unknown) => error));

  it('are fetched ten at a time; others get 503', async () => {
    const asked = ask(12);
    expect(running).to.have.length(10);
    for (const error of await Promise.all(asked.slice(10))) {
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 503 });
      expect((error as ApiError).headers).to.have.property('Retry-After');
    }
  });

  it('are fetched five at a time for one account, and the next account has room', async () => {
    const asked = Array.from({ length: 6 }, () => images.fetch(URL, 1).catch((error: unknown) => error));
    expect(await asked[5])
      .to.be.instanceOf(ApiError)
      .and.to.have.property('status', 503);
    void images.fetch(URL, 2);
    expect(running).to.have.length(6);
    running[0]!(undefined);
    await asked[0];
    void images.fetch(URL, 1);
    expect(running).to.have.length(7);
  });

  it('count with their real size from download until release', async () => {
    const asked = ask(10);
    for (const end of running) end(imageOf(LARGEST));
    const fetched = await Promise.all(asked);
    expect(await ask(1)[0], 'all of the room is held').to.be.instanceOf(ApiError);
    images.release(fetched[0] as FetchedImage);
    ask(2);
    expect(running).to.have.length(11);
    running.at(-1)!(undefined);
    await new Promise(setImmediate);
    const [small] = ask(1);
    expect(running, 'no image takes no room').to.have.length(12);
    running.at(-1)!(imageOf(0));
    await small;
    ask(1);
    expect(running).to.have.length(13);
  });

  it('release their memory when a fetch fails', async () => {
    images = createImageFetcher(async () => {
      throw new Error('unforeseen');
    });
    for (let n = 0; n < 20; n += 1)
      expect(await images.fetch(URL, 1).catch((thrown: unknown) => thrown)).to.have.property('message', 'unforeseen');
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
          const image = imageOf(1);
          held.add(image);
          return image;
        },
        release: (image) => void held.delete(image),
      };
      const event = { start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00', image: URL };
      for (const [title, expected] of Object.entries({ '': 400, Fair: 201 })) {
        const { status } = await gateway.request('/events', { as: 'admin', json: { ...event, title } });
        expect([status, held.size]).to.deep.equal([expected, 0]);
      }
    } finally {
      await gateway.stop();
    }
  });
});
