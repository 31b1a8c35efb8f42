// The HTML pages: their assets and headers, and how to disable them.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { request } from 'undici';
import { type PagesOptions, pages } from '../../../src/http/pages/pages.ts';

const options: PagesOptions = {
  mounts: ['/calendar/events/v1', '/wp-json/tribe/events/v1'],
  publicUrl: 'https://calendar.example/',
  status: () => ({
    site: { name: 'Town <& Country>', url: 'https://cms.example' },
    replica: { state: 'syncing', percent: 40 },
    cms: { reachable: true },
    counts: { events: 3 },
    version: 7,
  }),
  enabled: { landing: true, documentation: true },
};

describe('pages', () => {
  let server: Server | undefined;

  async function served(changed: Partial<PagesOptions> = {}): Promise<string> {
    const app = new Koa();
    app.use(pages({ ...options, ...changed }));
    app.use((ctx) => {
      ctx.status = 404;
      ctx.body = 'passed on';
    });
    const listening = createServer(app.callback());
    server = listening;
    await new Promise<void>((ready) => listening.listen(0, '127.0.0.1', ready));
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  }

  afterEach(async () => {
    const closing = server;
    server = undefined;
    closing?.closeAllConnections();
    await new Promise((closed) => (closing ? closing.close(closed) : closed(undefined)));
  });

  const addresses = (html: string) => [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address]) => address!);

  for (const path of ['/', '/docs']) {
    it(`at ${path} load nothing from other hosts and have no inline script or style`, async () => {
      const base = await served();
      const response = await fetch(base + path);
      const html = await response.text();
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      const policy = response.headers.get('content-security-policy');
      expect(policy).to.include("default-src 'none'").and.include("script-src 'self'").and.include("style-src 'self'");
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      expect(html).not.to.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|\{\{/);
      expect(html).to.include('Town &lt;&amp; Country&gt;');
      const assets = addresses(html).filter((item) => item.startsWith('-/assets/'));
      expect(assets).not.to.be.empty;
      for (const asset of assets) {
        const { status, headers } = await fetch(`${base}/${asset}`);
        expect([status, headers.get('cache-control')], asset).to.deep.equal([
          200,
          'public, max-age=31536000, immutable',
        ]);
      }
    });
  }

  it('show the public URL and mount in the examples', async () => {
    const html = await (await fetch(await served())).text();
    expect(html).to.include('<span class="base">https://calendar.example/calendar/events/v1</span>/events?per_page=5');
  });

  it('revalidate assets without a version in the URL', async () => {
    const address = `${await served()}/-/assets/api.mjs`;
    const first = await fetch(address, { headers: { 'Accept-Encoding': 'identity' } });
    expect(first.headers.get('cache-control')).to.equal('no-cache');
    expect(first.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(first.headers.get('content-encoding')).to.equal(null);
    const etag = first.headers.get('etag')!;
    // `fetch` would send `Cache-Control: no-cache`, which forbids a 304.
    const again = await request(address, { headers: { 'if-none-match': etag } });
    expect([again.statusCode, await again.body.text()]).to.deep.equal([304, '']);
    const zipped = await fetch(address, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers.get('content-encoding')).to.equal('gzip');
    expect(await zipped.text()).to.equal(await first.text());
  });

  it('serve the state of the replica', async () => {
    const response = await fetch(`${await served()}/-/status.json`);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(await response.json()).to.deep.equal(options.status());
  });

  it('leave everything else to the API', async () => {
    const base = await served();
    const others = [
      '/?rest_route=/calendar/events/v1',
      '/calendar/events/v1',
      '/-/assets/none.js',
      '/-/assets/../pages.ts',
    ];
    for (const path of others) expect((await fetch(base + path)).status, path).to.equal(404);
    expect((await fetch(base, { method: 'POST' })).status).to.equal(404);
  });

  it('can be disabled separately', async () => {
    const docsOnly = await served({ enabled: { landing: false, documentation: true } });
    const reached = async (base: string, path: string) => (await fetch(base + path)).status === 200;
    expect(await reached(docsOnly, '/')).to.equal(false);
    expect(await reached(docsOnly, '/-/status.json')).to.equal(false);
    expect(await reached(docsOnly, '/docs')).to.equal(true);
    expect(await (await fetch(`${docsOnly}/docs`)).text()).to.match(/<a href="\.\/" hidden>/);
    server!.closeAllConnections();
    server!.close();
    const none = await served({ enabled: { landing: false, documentation: false } });
    for (const path of ['/', '/docs', '/-/assets/page.css']) expect(await reached(none, path), path).to.equal(false);
  });
});
