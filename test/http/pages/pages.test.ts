// Shows that the pages bring all they need along, under which headers they are sent, and that each can be turned off.

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
    copy: { state: 'copying', percent: 40 },
    cms: { reachable: true },
    counts: { events: 3 },
    version: 7,
  }),
  enabled: { landing: true, documentation: true },
};

describe('the pages', () => {
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
    it(`at ${path} bring everything along: no other host, no script or style in the page`, async () => {
      const base = await served();
      const answer = await fetch(base + path);
      const html = await answer.text();
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy');
      expect(policy).to.include("default-src 'none'").and.include("script-src 'self'").and.include("style-src 'self'");
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      expect(html).not.to.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|\{\{/);
      expect(html).to.include('Town &#60;&#38; Country&#62;');
      const assets = addresses(html).filter((one) => one.startsWith('-/assets/'));
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

  it('name the public address and mount in the examples', async () => {
    const html = await (await fetch(await served())).text();
    expect(html).to.include('<span class="base">https://calendar.example/calendar/events/v1</span>/events?per_page=5');
  });

  it('ask again for files whose address has no version, and send nothing when nothing changed', async () => {
    const address = `${await served()}/-/assets/interface.mjs`;
    const first = await fetch(address, { headers: { 'Accept-Encoding': 'identity' } });
    expect(first.headers.get('cache-control')).to.equal('no-cache');
    expect(first.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(first.headers.get('content-encoding')).to.equal(null);
    const etag = first.headers.get('etag')!;
    // `fetch` would ask with `Cache-Control: no-cache`, which no answer satisfies but a whole one.
    const again = await request(address, { headers: { 'if-none-match': etag } });
    expect([again.statusCode, await again.body.text()]).to.deep.equal([304, '']);
    const zipped = await fetch(address, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers.get('content-encoding')).to.equal('gzip');
    expect(await zipped.text()).to.equal(await first.text());
  });

  it('tell the state of the copy', async () => {
    const answer = await fetch(`${await served()}/-/status.json`);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(await answer.json()).to.deep.equal(options.status());
  });

  it('leave everything else to the interface', async () => {
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

  it('can be turned off, one by one', async () => {
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
