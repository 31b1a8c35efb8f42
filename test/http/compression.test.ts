// Compression of cached responses, by what the client accepts.

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { RequestOptions, TestGateway, TestResponse } from '../start-gateway.ts';
import { event, term } from '../store/sample-records.ts';

const TIMES = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };

describe('compression', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    const description = '<p>Longer than a letter, and quick to say again.</p>'.repeat(60);
    gateway = await seededGateway([event(2, { ...TIMES, description }), term('tag', 4)]);
  });
  afterEach(() => gateway.stop());

  const send = (
    path: string,
    headers: Record<string, string> = {},
    request: RequestOptions = {},
  ): Promise<TestResponse> => gateway.request(path, { ...request, headers });

  const UNPACK: Record<string, (bytes: Buffer) => Buffer> = {
    ...{ gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync },
  };
  const LONG = '/events/2';

  const compressed = (accepted: string): Promise<TestResponse> => send(LONG, { 'accept-encoding': accepted });

  for (const encoding of Object.keys(UNPACK)) {
    it(`${encoding} contains the same bytes, for the first client too`, async () => {
      const { headers, bytes } = await compressed(encoding);
      const plain = await send(LONG);
      expect(headers['content-encoding']).to.equal(encoding);
      expect(Number(headers['content-length'])).to.equal(bytes.length);
      expect(bytes.length).to.be.below(plain.bytes.length / 2);
      expect(UNPACK[encoding]!(bytes).equals(plain.bytes)).to.equal(true);
      expect(headers.etag).to.equal(plain.headers.etag);
      expect((await send(LONG, { 'accept-encoding': encoding, 'if-none-match': headers.etag! })).status).to.equal(304);
    });
  }

  it('happens once per encoding', async () => {
    const [first, second] = [await compressed('br'), await compressed('br')];
    expect(second.bytes.equals(first.bytes)).to.equal(true);
  });

  it('is ready for all clients that ask at once', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => compressed('gzip')));
    for (const { headers } of replies) expect(headers['content-encoding']).to.equal('gzip');
  });

  const WANTED: [accepted: string, encoding: string][] = [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['zstd;q=0.1, br;q=0.9, gzip;q=0.8', 'br'],
    ['zstd;q=0, br;q=0.000, gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip ; q=0.5', 'gzip'],
    ['br;q=0, *', 'zstd'],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ];
  for (const [accepted, encoding] of WANTED) {
    it(`Accept-Encoding: ${accepted}`, async () =>
      expect((await compressed(accepted)).headers['content-encoding']).to.equal(encoding));
  }

  it('is omitted if the client does not accept or prefer it', async () => {
    for (const encoding of Object.keys(UNPACK)) await compressed(encoding);
    for (const accepted of ['', 'identity', 'deflate', 'gzip;q=0', 'identity, gzip;q=0.5', 'gzip;q=0, br;q=0']) {
      const { headers, body } = await send(LONG, { 'accept-encoding': accepted });
      expect(headers, accepted).to.not.have.property('content-encoding');
      expect(body.id).to.equal(2);
    }
    expect((await send(LONG)).headers).to.not.have.property('content-encoding');
  });

  it('is omitted for short responses, and HEAD has the length of GET', async () => {
    const accepted = { 'accept-encoding': 'gzip' };
    for (let tries = 0; tries < 3; tries += 1)
      expect((await send('/tags/4', accepted)).headers).to.not.have.property('content-encoding');
    const get = await compressed('gzip');
    const head = await send(LONG, accepted, { method: 'HEAD' });
    expect(head.text).to.equal('');
    for (const name of ['content-encoding', 'content-length', 'etag'])
      expect(head.headers[name]).to.equal(get.headers[name]);
  });
});
