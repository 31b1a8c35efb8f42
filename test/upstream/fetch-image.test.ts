// Shows which images are fetched from elsewhere, and that no address inside the network is called for one.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type FetchImageOptions, fetchImage } from '../../src/upstream/fetch-image.ts';

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

describe('an image from elsewhere', () => {
  let server: Server;
  let port: number;
  let answer: RequestListener;
  let seen: { url: string; headers: NodeJS.Dict<string | string[]> }[];
  /** `images.test` is this machine, and this machine may be called: the one way in for these tests. */
  const here: FetchImageOptions = {
    mayCall: (address) => address === '127.0.0.1',
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
  const at = (path: string, host = 'images.test') => `http://${host}:${port}${path}`;

  before(async () => {
    server = createServer((request, response) => {
      seen.push({ url: request.url ?? '', headers: request.headers });
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => {
    seen = [];
    answer = (_request, response) => void response.end(PNG);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  for (const [extension, bytes] of Object.entries(STARTS)) {
    it(`knows ${extension} by its bytes, whatever the header says`, async () => {
      answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(bytes);
      const image = await fetchImage(at('/pictures/Fête%20d’été.old'), here);
      expect(image?.mimeType).to.equal(MIME[extension] ?? `image/${extension}`);
      expect(image?.filename).to.equal(`Fête-d-été.${extension}`);
      expect(Buffer.from(image!.bytes).equals(bytes)).to.equal(true);
    });
  }

  it('names an image without a name', async () => {
    expect((await fetchImage(at('/'), here))?.filename).to.equal('image.png');
    expect((await fetchImage(at('/%E0%A4%A/..%2f..%2fpasswd'), here))?.filename).to.equal('passwd.png');
  });

  for (const [name, body] of Object.entries({
    HTML: '<html>',
    SVG: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    nothing: '',
    'half a signature': '\x89PN',
    'another ISO medium': '\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom',
  })) {
    it(`takes ${name} for no image, whatever the header says`, async () => {
      answer = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(body, 'latin1'));
      expect(await fetchImage(at('/a.png'), here)).to.equal(undefined);
    });
  }

  it('sends no credentials and no cookies, and takes no address that holds some', async () => {
    answer = (request, response) => {
      if (request.url === '/a.png') response.writeHead(302, { location: '/b.png', 'set-cookie': 'a=b' }).end();
      else response.end(PNG);
    };
    expect(await fetchImage(at('/a.png'), here)).to.include({ filename: 'b.png' });
    for (const { headers } of seen) expect(headers).not.to.have.any.keys('authorization', 'cookie', 'referer');
    seen = [];
    expect(await fetchImage(at('/a.png').replace('http://', 'http://me:secret@'), here)).to.equal(undefined);
    expect(seen).to.deep.equal([]);
  });

  it('calls no other port than that of the scheme, after a redirect neither', async () => {
    const usual: FetchImageOptions = { ...here, ports: 'usual' };
    for (const place of [
      at('/a.png'),
      `https://images.test:80/a.png`,
      'http://images.test:443/a.png',
      'http://93.184.215.14:22/',
    ])
      expect(await fetchImage(place, usual), place).to.equal(undefined);
    expect(seen).to.deep.equal([]);
  });

  it('does not call the gateway itself, after a redirect neither', async () => {
    const own = new URL(at('/', 'calendar.test')).origin;
    answer = (request, response) => {
      if (request.url === '/a.png') response.writeHead(302, { location: `${own}/b.png` }).end();
      else response.end(PNG);
    };
    expect(await fetchImage(`${own}/b.png`, { ...here, notFrom: [own] })).to.equal(undefined);
    expect(seen).to.deep.equal([]);
    expect(await fetchImage(at('/a.png'), { ...here, notFrom: [own] })).to.equal(undefined);
    expect(seen.map(({ url }) => url)).to.deep.equal(['/a.png']);
  });

  it('takes an error for no image even when it shows one', async () => {
    answer = (_request, response) => void response.writeHead(404).end(PNG);
    expect(await fetchImage(at('/a.png'), here)).to.equal(undefined);
  });

  it('follows three redirects and not a fourth', async () => {
    answer = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end('moved');
      else response.end(PNG);
    };
    expect(await fetchImage(at('/3'), here)).to.include({ mimeType: 'image/png' });
    seen = [];
    expect(await fetchImage(at('/4'), here)).to.equal(undefined);
    expect(seen.length).to.equal(4);
  });

  for (const [name, target] of Object.entries<() => string>({
    'a loopback address': () => at('/b.png', '127.0.0.1'),
    'a name of this machine': () => at('/b.png', 'localhost'),
    'a mapped address': () => at('/b.png', '[::ffff:127.0.0.1]'),
    'the metadata service': () => 'http://169.254.169.254/latest/meta-data/',
    'another scheme': () => 'file:///etc/passwd',
  })) {
    it(`does not follow a redirect to ${name}`, async () => {
      answer = (request, response) => {
        if (request.url === '/a.png') response.writeHead(302, { location: target() }).end();
        else response.end(PNG);
      };
      // Only the second loopback address is allowed, so that the redirect's target meets a closed door.
      const options: FetchImageOptions = {
        mayCall: (address) => address === '127.0.0.2',
        resolve: async (host) => [{ address: host === 'images.test' ? '127.0.0.2' : '127.0.0.1', family: 4 }],
      };
      let hops = 0;
      const second = createServer((request, response) => {
        hops += 1;
        answer(request, response);
      }).listen(port, '127.0.0.2');
      await once(second, 'listening');
      try {
        expect(await fetchImage(at('/a.png'), options)).to.equal(undefined);
        expect(seen).to.deep.equal([]);
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
      expect(await fetchImage(at('/a.png', host), { resolve: here.resolve! })).to.equal(undefined);
      expect(seen).to.deep.equal([]);
    });
  }

  it('refuses the spellings of an address that hide it, even of one that may be called', async () => {
    expect(await fetchImage(at('/a.png', '127.0.0.1'), here)).to.include({ mimeType: 'image/png' });
    seen = [];
    for (const host of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1']) {
      expect(await fetchImage(at('/a.png', host), here)).to.equal(undefined);
    }
    expect(seen).to.deep.equal([]);
  });

  it('refuses a name with one closed address among open ones', async () => {
    const resolve = async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    expect(await fetchImage(at('/a.png'), { resolve })).to.equal(undefined);
    expect(seen).to.deep.equal([]);
  });

  it('calls the address that it checked: a name that changes its meaning gains nothing', async () => {
    const answers = ['127.0.0.1', '127.0.0.9'];
    let asked = 0;
    const resolve = async () => [{ address: answers[asked++]!, family: 4 }];
    expect(await fetchImage(at('/a.png'), { mayCall: (address) => address === '127.0.0.1', resolve })).to.include({
      mimeType: 'image/png',
    });
    expect(asked).to.equal(1);
    expect(await fetchImage(at('/a.png'), { mayCall: (address) => address === '127.0.0.1', resolve })).to.equal(
      undefined,
    );
    expect(seen.length).to.equal(1);
  });

  it('stops at its byte limit, announced or not', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(5000)]);
    answer = (_request, response) => void response.end(large);
    expect(await fetchImage(at('/a.png'), { ...here, maxBytes: 4000 })).to.equal(undefined);
    expect(await fetchImage(at('/a.png'), { ...here, maxBytes: large.length })).to.include({ mimeType: 'image/png' });
    let sent = 0;
    answer = (_request, response) => {
      response.write(PNG);
      const more = () => {
        if (response.destroyed || sent > 1e9) return;
        sent += 1000;
        response.write(Buffer.alloc(1000), () => setImmediate(more));
      };
      more();
    };
    expect(await fetchImage(at('/a.png'), { ...here, maxBytes: 4000 })).to.equal(undefined);
    expect(sent).to.be.below(1e9);
  });

  it('stops at its time limit, before headers and within a body', async () => {
    answer = () => undefined;
    expect(await fetchImage(at('/a.png'), { ...here, timeoutMs: 50 })).to.equal(undefined);
    answer = (_request, response) => void response.write(PNG);
    expect(await fetchImage(at('/a.png'), { ...here, timeoutMs: 50 })).to.equal(undefined);
    const never = { ...here, resolve: () => new Promise<never>(() => undefined), timeoutMs: 50 };
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
    it(`takes ${JSON.stringify(text)} for no image`, async () => {
      expect(await fetchImage(text, here)).to.equal(undefined);
    });
  }
});
