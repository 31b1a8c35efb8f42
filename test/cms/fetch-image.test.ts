// Downloads of images by URL: accepted images, and addresses inside the network that are never called.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { createImageFetcher, filenameOf } from '../../src/calendar/image-fetcher.ts';
import { createHostResolver, getPublic, type PublicRequest } from '../../src/cms/public-request.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
const STARTS: Record<string, Buffer> = {
  png: PNG,
  jpg: Buffer.from('ffd8ffe000104a46494600', 'hex'),
  gif: Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'),
  webp: Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 ', 'latin1'),
  avif: Buffer.from('\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf', 'latin1'),
};
const MIME: Record<string, string> = { jpg: 'image/jpeg' };

type RequestOptions = Partial<PublicRequest>;

const fetchImage = (text: string, options: RequestOptions) =>
  createImageFetcher((url, request) => getPublic(url, { ...request, ...options })).fetch(text, 1);

describe('image by URL', () => {
  let server: Server;
  let port: number;
  let respond: RequestListener;
  let requests: { url: string; headers: NodeJS.Dict<string | string[]> }[];
  /** Resolves `images.test` to this machine and allows its address. */
  const local: RequestOptions = {
    isAllowedAddress: (address) => address === '127.0.0.1',
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    anyPort: true,
  };
  const at = (path: string, host = 'images.test') => `http://${host}:${port}${path}`;

  before(async () => {
    server = createServer((request, response) => {
      requests.push({ url: request.url ?? '', headers: request.headers });
      respond(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => {
    requests = [];
    respond = (_request, response) => void response.end(PNG);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  for (const [extension, bytes] of Object.entries(STARTS)) {
    it(`recognises ${extension} by its bytes, not its headers`, async () => {
      respond = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(bytes);
      const image = await fetchImage(at('/pictures/Fête%20d’été.old'), local);
      expect(image?.mimeType).to.equal(MIME[extension] ?? `image/${extension}`);
      expect(image?.filename).to.equal(`Fete-d-ete.${extension}`);
      expect(Buffer.from(image!.bytes).equals(bytes)).to.equal(true);
    });
  }

  it('gives no name that could end a header, its quotes or the folder', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (pathname) => {
        expect(filenameOf({ pathname })).to.match(/^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/);
      }),
    );
  });

  it('names an image without a filename', async () => {
    expect((await fetchImage(at('/'), local))?.filename).to.equal('image.png');
    expect((await fetchImage(at('/%E0%A4%A/..%2f..%2fpasswd'), local))?.filename).to.equal('passwd.png');
  });

  for (const [name, body] of Object.entries({
    HTML: '<html>',
    SVG: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    nothing: '',
    'half a signature': '\x89PN',
    'another ISO medium': '\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom',
  })) {
    it(`rejects ${name}, whatever its headers`, async () => {
      respond = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(body, 'latin1'));
      expect(await fetchImage(at('/a.png'), local)).to.equal(undefined);
    });
  }

  it('sends no credentials or cookies, and rejects URLs with credentials', async () => {
    respond = (request, response) => {
      if (request.url === '/a.png') response.writeHead(302, { location: '/b.png', 'set-cookie': 'a=b' }).end();
      else response.end(PNG);
    };
    expect(await fetchImage(at('/a.png'), local)).to.include({ filename: 'b.png' });
    for (const { headers } of requests) expect(headers).not.to.have.any.keys('authorization', 'cookie', 'referer');
    requests = [];
    expect(await fetchImage(at('/a.png').replace('http://', 'http://me:secret@'), local)).to.equal(undefined);
    expect(requests).to.deep.equal([]);
  });

  it('calls standard ports only, also after a redirect', async () => {
    const usual: RequestOptions = { ...local, anyPort: false };
    for (const url of [
      at('/a.png'),
      `https://images.test:80/a.png`,
      'http://images.test:443/a.png',
      'http://93.184.215.14:22/',
    ])
      expect(await fetchImage(url, usual), url).to.equal(undefined);
    expect(requests).to.deep.equal([]);
  });

  it('rejects an error response even with an image as its body', async () => {
    respond = (_request, response) => void response.writeHead(404).end(PNG);
    expect(await fetchImage(at('/a.png'), local)).to.equal(undefined);
  });

  it('follows at most three redirects', async () => {
    respond = (request, response) => {
      const redirectsLeft = Number(request.url?.slice(1));
      if (redirectsLeft > 0) response.writeHead(302, { location: `/${redirectsLeft - 1}` }).end('moved');
      else response.end(PNG);
    };
    expect(await fetchImage(at('/3'), local)).to.include({ mimeType: 'image/png' });
    requests = [];
    expect(await fetchImage(at('/4'), local)).to.equal(undefined);
    expect(requests.length).to.equal(4);
  });

  for (const [name, target] of Object.entries<() => string>({
    'a loopback address': () => at('/b.png', '127.0.0.1'),
    'a name of this machine': () => at('/b.png', 'localhost'),
    'a mapped address': () => at('/b.png', '[::ffff:127.0.0.1]'),
    'the metadata service': () => 'http://169.254.169.254/latest/meta-data/',
    'another scheme': () => 'file:///etc/passwd',
  })) {
    it(`does not follow a redirect to ${name}`, async () => {
      respond = (request, response) => {
        if (request.url === '/a.png') response.writeHead(302, { location: target() }).end();
        else response.end(PNG);
      };
      // Only the second loopback address is allowed, so that the redirect's target is not.
      const options: RequestOptions = {
        isAllowedAddress: (address) => address === '127.0.0.2',
        resolve: async (host) => [{ address: host === 'images.test' ? '127.0.0.2' : '127.0.0.1', family: 4 }],
        anyPort: true,
      };
      let hops = 0;
      const second = createServer((request, response) => {
        hops += 1;
        respond(request, response);
      }).listen(port, '127.0.0.2');
      await once(second, 'listening');
      try {
        expect(await fetchImage(at('/a.png'), options)).to.equal(undefined);
        expect(requests).to.deep.equal([]);
        expect(hops).to.equal(1);
      } finally {
        second.closeAllConnections();
        second.close();
      }
    });
  }

  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '0',
  ]) {
    it(`does not call ${host}`, async () => {
      expect(await fetchImage(at('/a.png', host), { resolve: local.resolve!, anyPort: true })).to.equal(undefined);
      expect(requests).to.deep.equal([]);
    });
  }

  it('rejects a host with one private address among public ones', async () => {
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    // The first address would answer.
    const isAllowedAddress = (address: string) => address === '127.0.0.1';
    expect(await fetchImage(at('/a.png'), { ...local, resolve, isAllowedAddress })).to.equal(undefined);
    expect(requests).to.deep.equal([]);
  });

  it('connects to the address it checked (DNS rebinding)', async () => {
    const addresses = ['127.0.0.1', '127.0.0.9'];
    let lookups = 0;
    const resolve = async () => [{ address: addresses[lookups++]!, family: 4 }];
    expect(await fetchImage(at('/a.png'), { ...local, resolve })).to.include({
      mimeType: 'image/png',
    });
    expect(lookups).to.equal(1);
    expect(await fetchImage(at('/a.png'), { ...local, resolve })).to.equal(undefined);
    expect(requests.length).to.equal(1);
  });

  it('asks the DNS servers itself, so that names without an answer keep no lookup of the system waiting', async () => {
    const asked: string[] = [];
    const dns = createSocket('udp4');
    dns.on('message', (query, { port: from }) => {
      const name = query.subarray(13, 13 + query[12]!).toString();
      const end = query.indexOf(0, 12) + 5;
      const type = query.readUInt16BE(end - 4);
      asked.push(`${name} ${type}`);
      if (name === 'silent') return;
      const answers = type === 1 ? 'c00c000100010000003c00047f000001' : '';
      const head = Buffer.from(`81800001000${answers === '' ? 0 : 1}00000000`, 'hex');
      dns.send(
        Buffer.concat([query.subarray(0, 2), head, query.subarray(12, end), Buffer.from(answers, 'hex')]),
        from,
        '127.0.0.1',
      );
    });
    dns.bind(0, '127.0.0.1');
    await once(dns, 'listening');
    try {
      const servers = [`127.0.0.1:${dns.address().port}`];
      const resolve = createHostResolver(servers);
      const resolveSoon = createHostResolver(servers, { timeout: 20, tries: 1 });
      expect(await resolve('images.test')).to.deep.equal([{ address: '127.0.0.1', family: 4 }]);
      expect(await fetchImage(at('/a.png'), { ...local, resolve })).to.include({ mimeType: 'image/png' });
      expect(await fetchImage(at('/a.png'), { resolve, anyPort: true })).to.equal(undefined);
      expect(await resolveSoon('silent.test')).to.deep.equal([]);
      const silent = at('/a.png', 'silent.test');
      expect(await fetchImage(silent, { ...local, resolve: resolveSoon })).to.equal(undefined);
      expect(new Set(asked)).to.include.keys('images 1', 'images 28', 'silent 1', 'silent 28');
    } finally {
      dns.close();
    }
  });

  it('stops at the byte limit, with and without Content-Length', async () => {
    const megabytes10 = 10 * 1024 * 1024;
    let large = Buffer.concat([PNG, Buffer.alloc(megabytes10)]);
    respond = (_request, response) => void response.end(large);
    expect(await fetchImage(at('/a.png'), local)).to.equal(undefined);
    large = large.subarray(0, megabytes10);
    expect(await fetchImage(at('/a.png'), local)).to.include({ mimeType: 'image/png' });
    let sentBytes = 0;
    respond = (_request, response) => {
      response.write(PNG);
      const more = () => {
        if (response.destroyed || sentBytes > 1e9) return;
        sentBytes += 100_000;
        response.write(Buffer.alloc(100_000), () => setImmediate(more));
      };
      more();
    };
    expect(await fetchImage(at('/a.png'), local)).to.equal(undefined);
    expect(sentBytes).to.be.below(1e9);
  });

  it('stops at the time limit, before headers and within a body', async () => {
    respond = () => undefined;
    expect(await fetchImage(at('/a.png'), { ...local, timeoutMs: 50 })).to.equal(undefined);
    respond = (_request, response) => void response.write(PNG);
    expect(await fetchImage(at('/a.png'), { ...local, timeoutMs: 50 })).to.equal(undefined);
    const never = { ...local, resolve: () => new Promise<never>(() => undefined), timeoutMs: 50 };
    expect(await fetchImage(at('/a.png'), never)).to.equal(undefined);
  });

  for (const text of [
    '',
    'no address',
    '/a.png',
    'ftp://images.test/a.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'http://',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, async () => {
      expect(await fetchImage(text, local)).to.equal(undefined);
    });
  }
});
