// Shows that images by URL take a bounded memory, and that no account takes all of it.

import { expect } from 'chai';
import { GatewayError } from '../../src/errors.ts';
import { createImageFetches, type HeldImage, type ImageFetches } from '../../src/upstream/image-fetches.ts';
import { AS, fakeCms } from '../calendar/fake-cms.ts';
import { gatewayUnderTest } from '../gateway-under-test.ts';

const LARGEST = 10;
const settle = () => new Promise(setImmediate);

describe('images by URL', () => {
  let under: ((bytes: number | undefined) => void)[];
  let late: (() => void)[];
  let fetches: ImageFetches;
  let most: number;
  let got: (HeldImage | undefined)[];
  beforeEach(() => {
    [under, late, got, most] = [[], [], [], 0];
    fetches = createImageFetches({
      fetchFrom: () =>
        new Promise((resolve) => {
          under.push((bytes) =>
            resolve(
              bytes === undefined
                ? undefined
                : { bytes: new Uint8Array(bytes), mimeType: 'image/png', filename: 'a.png' },
            ),
          );
          most = Math.max(most, under.length);
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

  it('are fetched three at once for one account, and six for all', async () => {
    ask(20, 1);
    await settle();
    expect(under).to.have.length(3);
    for (let account = 2; account < 10; account += 1) ask(5, account);
    await settle();
    expect(under).to.have.length(6);
  });

  it('count as what they are once they are there, until they are released', async () => {
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
    expect(most).to.equal(3);
  });

  it('are refused with 503 when there is no room for ten seconds, or too many wait', async () => {
    const asks = ask(150, 1);
    await settle();
    expect(late).to.have.length(100);
    for (const end of late) end();
    const errors = await Promise.all(asks.slice(3));
    for (const error of errors) {
      expect(error).to.be.instanceOf(GatewayError).and.to.include({ status: 503 });
      expect((error as GatewayError).headers).to.have.property('Retry-After');
    }
  });

  it('give their room back when a fetch fails', async () => {
    fetches = createImageFetches({
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

  it('are freed at the end of the request that named them, successful or not', async () => {
    const gateway = await gatewayUnderTest({ upstream: fakeCms(() => Date.now()), service: AS.admin, as: AS });
    try {
      const image = { bytes: new Uint8Array(LARGEST), mimeType: 'image/png', filename: 'a.png' };
      let fetched = 0;
      gateway.backing.imageFetches = createImageFetches({
        fetchFrom: async () => {
          fetched += 1;
          return image;
        },
        options: { maxBytes: LARGEST },
        totalBytes: LARGEST,
        accountBytes: LARGEST,
        wait: async () => {},
      });
      const place = 'https://images.test/a.png';
      const dates = { start_date: '2030-01-01 10:00', end_date: '2030-01-01 11:00' };
      for (let n = 1; n <= 3; n += 1) {
        const refused = await gateway.ask('/events', { as: 'admin', json: { ...dates, title: '', image: place } });
        expect([refused.status, fetched]).to.deep.equal([400, 2 * n - 1]);
        const made = await gateway.ask('/events', { as: 'admin', json: { ...dates, title: `t${n}`, image: place } });
        expect([made.status, fetched]).to.deep.equal([201, 2 * n]);
      }
    } finally {
      await gateway.close();
    }
  });
});
