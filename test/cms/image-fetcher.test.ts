// Images by URL take a bounded amount of memory, in total and per account.

import { expect } from 'chai';
import { createImageFetcher, type ImageFetcher, type ReservedImage } from '../../src/cms/image-fetcher.ts';
import { ApiError } from '../../src/errors.ts';
import { startGateway } from '../start-gateway.ts';
import { CREDENTIALS, createFakeCms } from './fake-cms.ts';

const LARGEST = 10;
const settle = () => new Promise(setImmediate);

describe('images by URL', () => {
  let under: ((bytes: number | undefined) => void)[];
  let late: (() => void)[];
  let fetches: ImageFetcher;
  let maxConcurrent: number;
  let got: (ReservedImage | undefined)[];
  beforeEach(() => {
    [under, late, got, maxConcurrent] = [[], [], [], 0];
    fetches = createImageFetcher({
      fetchFrom: () =>
        new Promise((resolve) => {
          under.push((bytes) =>
            resolve(
              bytes === undefined
                ? undefined
                : { bytes: new Uint8Array(bytes), mimeType: 'image/png', filename: 'a.png' },
            ),
          );
          maxConcurrent = Math.max(maxConcurrent, under.length);
        }),
      options: { maxBytes: LARGEST },
      totalBytes: 60,
      accountBytes: 30,
      wait: () => new Promise<void>((resolve) => void late.push(resolve)),
    });
  });

  const ask = (times: number, account: number) =>
    Array.from({ length: times }, () =>
      fetches.fetch('https://images.test/a.png', account).then(
        (held) => void got.push(held),
        (error: unknown) => error,
      ),
    );

  it('are fetched three at a time per account and six in total', async () => {
    ask(20, 1);
    await settle();
    expect(under).to.have.length(3);
    for (let account = 2; account < 10; account += 1) ask(5, account);
    await settle();
    expect(under).to.have.length(6);
  });

  it('count with their real size from download until release', async () => {
    ask(20, 1);
    await settle();
    for (const end of under.splice(0)) end(LARGEST);
    await settle();
    expect(under, 'all of the room is held').to.have.length(0);
    got[0]!.release();
    got[0]!.release();
    await settle();
    expect(under).to.have.length(1);
    for (const end of under.splice(0)) end(undefined);
    await settle();
    expect(under, 'no image takes no room').to.have.length(1);
    for (const end of under.splice(0)) end(0);
    await settle();
    expect(under).to.have.length(1);
    expect(maxConcurrent).to.equal(3);
  });

  it('are rejected with 503 without room for ten seconds, or if too many wait', async () => {
    const asks = ask(150, 1);
    await settle();
    expect(late).to.have.length(100);
    for (const end of late) end();
    const errors = await Promise.all(asks.slice(3));
    for (const error of errors) {
      expect(error).to.be.instanceOf(ApiError).and.to.include({ status: 503 });
      expect((error as ApiError).headers).to.have.property('Retry-After');
    }
  });

  it('release their memory when a fetch fails', async () => {
    fetches = createImageFetcher({
      fetchFrom: async () => {
        throw new Error('unforeseen');
      },
      options: { maxBytes: LARGEST },
      totalBytes: LARGEST,
      accountBytes: LARGEST,
    });
    for (let n = 0; n < 5; n += 1) {
      const error = await fetches.fetch('https://images.test/a.png', 1).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message', 'unforeseen');
    }
  });

  it('are released at the end of their request, successful or not', async () => {
    const gateway = await startGateway({
      cms: createFakeCms(() => Date.now()),
      service: CREDENTIALS.admin,
      as: CREDENTIALS,
    });
    try {
      const image = { bytes: new Uint8Array(LARGEST), mimeType: 'image/png', filename: 'a.png' };
      let fetched = 0;
      gateway.services.imageFetcher = createImageFetcher({
        fetchFrom: async () => {
          fetched += 1;
          return image;
        },
        options: { maxBytes: LARGEST },
        totalBytes: LARGEST,
        accountBytes: LARGEST,
        wait: async () => {},
      });
      const imageUrl = 'https://images.test/a.png';
      const dates = { start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00' };
      for (let n = 1; n <= 3; n += 1) {
        const rejected = await gateway.request('/events', {
          as: 'admin',
          json: { ...dates, title: '', image: imageUrl },
        });
        expect([rejected.status, fetched]).to.deep.equal([400, 2 * n - 1]);
        const created = await gateway.request('/events', {
          as: 'admin',
          json: { ...dates, title: `t${n}`, image: imageUrl },
        });
        expect([created.status, fetched]).to.deep.equal([201, 2 * n]);
      }
    } finally {
      await gateway.stop();
    }
  });
});
