// The HTML pages: their assets and headers, the operator's name, logo and colours, and how to disable them.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import Koa from 'koa';
import { request } from 'undici';
import { DEFAULTS } from '../../../src/config-schema.ts';
import { ApiError } from '../../../src/errors.ts';
import { errorHandler } from '../../../src/http/error-handler.ts';
import { errorPages } from '../../../src/http/pages/error-pages.ts';
import { type PagesOptions, pages } from '../../../src/http/pages/pages.ts';
import { servePages } from '../../../src/http/pages/serve.ts';
import { accessLog, type State } from '../../../src/http/state.ts';
import { until } from '../../until.ts';

const options: PagesOptions = {
  config: { landing: true },
  cost: DEFAULTS.cost,
  mounts: ['/calendar/events/v1', '/wp-json/tribe/events/v1'],
  publicUrl: 'https://calendar.example',
  freshness: { maxAgeS: 5, staleWhileRevalidateS: 30 },
  site: () => ({ name: 'Town <&amp; Country>', url: 'https://cms.example/blog', timezone: 'UTC' }),
  today: () => '2027-03-10',
  replicaVersion: () => 1,
  read: async (path) => ({ [path.slice(1)]: [], total: 0, total_pages: 0 }),
  charge: () => {},
  assertPublic: () => {},
};

const EVENT = {
  ...{ id: 12, title: 'Fair', description: '', excerpt: '', cost: '', image: false },
  cost_details: { currency_symbol: '', currency_code: '', values: [] },
  ...{ url: 'https://cms.example/fair', website: 'https://cms.example/fair' },
  ...{ start_date: '2027-03-12 10:00:00', end_date: '2027-03-12 11:00:00', all_day: false, timezone_abbr: 'UTC' },
  ...{ utc_start_date: '2027-03-12 10:00:00', utc_end_date: '2027-03-12 11:00:00' },
};

describe('pages', () => {
  let server: Server | undefined;

  async function served(
    config: Partial<PagesOptions['config']> = {},
    changed: Partial<PagesOptions> = {},
  ): Promise<string> {
    const app = new Koa<State>();
    const { mounts, publicUrl } = options;
    const shown = pages({ ...options, ...changed, config: { ...options.config, ...config } });
    app.use(accessLog(() => {}));
    app.use(errorPages(shown, { mounts, publicUrl }));
    app.use(errorHandler(() => {}));
    app.use(servePages(shown));
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
    it(`at ${path} load nothing but pictures from other hosts, and have no inline script or style`, async () => {
      const base = await served();
      const response = await fetch(base + path);
      const html = await response.text();
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      const policy = response.headers.get('content-security-policy')!;
      expect(policy).to.include("default-src 'none'").and.include("script-src 'self'").and.include("style-src 'self'");
      const pictures = "img-src 'self' data: http: https:;";
      expect(policy).to.include(pictures);
      expect(policy.replace(pictures, '')).not.to.match(/unsafe|https?:|\*/);
      expect(html).not.to.match(/<script(?![^>]*\s(src=|type="application\/ld\+json"))|<style|\sstyle=|\son\w+=/);
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

  it('charge each read of the API to the client whose request renders the page, and nothing for a kept page', async () => {
    let reads = 0;
    let charged = 0;
    const event = { ...EVENT, venue: [], organizer: [], categories: [], tags: [] };
    const base = await served(
      {},
      {
        read: async (path) => {
          reads += 1;
          return {
            [path.slice(1)]: path === '/events' ? [event] : [],
            total: 120,
            total_pages: path === '/events' ? 3 : 1,
          };
        },
        charge: () => {
          charged += 1;
        },
      },
    );
    for (let n = 0; n < 2; n += 1) expect((await fetch(`${base}/?view=month`)).status).to.equal(200);
    // The list, venues, categories, and three pages of the month.
    expect([charged, reads]).to.deep.equal([6, 6]);
  });

  it('are rendered two at a time', async () => {
    const reading: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const base = await served(
      {},
      {
        read: async (_path, { search }) => {
          if (search !== undefined) reading.push(search);
          await released;
          return { events: [], venues: [], categories: [], total: 0, total_pages: 1 };
        },
      },
    );
    const asked = ['a', 'b', 'c'].map((search) => fetch(`${base}/?search=${search}`));
    await until(() => reading.length === 2, 'two are rendered');
    for (let n = 0; n < 20; n += 1) await nextTurn();
    expect(reading).to.have.length(2);
    release();
    await Promise.all(asked);
    expect(reading.toSorted()).to.deep.equal(['a', 'b', 'c']);
  });

  it('are sent even if many other pages push them out of the cache while they are rendered', async () => {
    const others = Promise.withResolvers<void>();
    const event = { ...EVENT, venue: [], organizer: [], categories: [], tags: [] };
    const base = await served(
      {},
      {
        read: async (path, { search }) => {
          if (search === 'slow') await others.promise;
          const events = Array(search === 'slow' ? 1 : 800).fill(event);
          return { [path.slice(1)]: path === '/events' ? events : [], total: 1, total_pages: 1 };
        },
      },
    );
    const slow = fetch(`${base}/?view=list&search=slow`);
    for (let page = 1; page <= 10; page += 1) await (await fetch(`${base}/?view=list&page=${page}`)).text();
    others.resolve();
    const { status } = await slow;
    expect(status).to.equal(200);
  });

  it('revalidate assets without a version in the URL', async () => {
    const address = `${await served()}/-/assets/landing.mjs`;
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

  it("show the operator's name and logo, and load pictures from the web", async () => {
    const base = await served({
      name: 'Events & "more"',
      logo: 'https://brand.example/logo.svg?a="b',
      locale: 'en-GB',
    });
    for (const path of ['/', '/docs']) {
      const response = await fetch(base + path);
      const html = await response.text();
      expect(html).to.include('<span>Events &amp; &quot;more&quot;</span>').and.not.include('Country');
      expect(html).to.include('<img src="https://brand.example/logo.svg?a=&quot;b" alt="">');
      expect(html).to.include(path === '/' ? '<html lang="en-GB"' : '<html lang="en"');
      expect(response.headers.get('vary') ?? '').to.not.include('Accept-Language');
      expect(response.headers.get('content-security-policy')).to.include("img-src 'self' data: http: https:;");
    }
  });

  it("have the operator's colour", async () => {
    const theme = async (base: string) => (await fetch(`${base}/-/assets/theme.css`)).text();
    expect(await theme(await served({ accent: '#0b6e4f' }))).to.include('--accent: light-dark(#0b6e4f, color-mix(');
  });

  it('offer to subscribe to the shown filters and to save an event', async () => {
    const read: PagesOptions['read'] = async (path, query) =>
      path === '/events/12'
        ? { ...EVENT, organizer: [], categories: [], tags: [], venue: [] }
        : options.read(path, query);
    const base = await served({}, { read });
    const text = async (url: string) => (await fetch(url)).text();
    const page = await text(`${base}/?venue=7&search=a%26b&month=2027-03`);
    const file = '//calendar.example/calendar/events/v1/events.ics?ends_after=-1month&amp;search=a%26b&amp;venue=7';
    expect(page).to.include(`href="webcal:${file}"`).and.include(`<input readonly value="https:${file}">`);
    const webcal = `webcal:${file}`.replaceAll('&amp;', '&');
    const addresses = [...page.matchAll(/href="(https:[^"]*)">(Google Calendar|Outlook.com|Microsoft 365)</g)];
    const asked = addresses.map(([, address]) => new URL(address!.replaceAll('&amp;', '&')).searchParams);
    expect(asked.map((params) => params.get('cid') ?? params.get('url'))).to.deep.equal([webcal, webcal, webcal]);
    expect(asked[1]!.get('name')).to.equal('Town <& Country>');
    expect(await text(`${base}/?event=12`)).to.include('href="calendar/events/v1/events/12.ics" download');
  });

  it('show visitors the error of a list as a page', async () => {
    const tooLarge = new ApiError(400, 'calendar_list_too_large', 'These records have more than 8 MB.');
    const base = await served({}, { read: () => Promise.reject(tooLarge) });
    const response = await fetch(`${base}/`, { headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([400, 'text/html; charset=utf-8']);
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(await response.text()).to.include('<h1>Something went wrong</h1>');
  });

  it('name the calendar file and the feed of the shown filters, for apps that are given the address of the page', async () => {
    const base = await served();
    const links = (await (await fetch(`${base}/?venue=7&month=2027-03`)).text()).match(/<link rel="alternate"[^>]*>/g);
    const api = 'https://calendar.example/calendar/events/v1';
    expect(links).to.deep.equal([
      `<link rel="alternate" type="text/calendar" title="Town &lt;&amp; Country&gt;" href="${api}/events.ics?ends_after=-1month&amp;venue=7">`,
      `<link rel="alternate" type="application/atom+xml" title="Town &lt;&amp; Country&gt;" href="${api}/events.atom?ends_after=yesterday&amp;venue=7">`,
    ]);
  });

  it('leave everything else to the API', async () => {
    const base = await served();
    const others = [
      '/?rest_route=/calendar/events/v1',
      '/calendar/events/v1',
      '/-/status.json',
      '/-/assets/none.js',
      '/-/assets/../pages.ts',
    ];
    for (const path of others) expect((await fetch(base + path)).status, path).to.equal(404);
    expect((await fetch(base, { method: 'POST' })).status).to.equal(404);
  });

  it('leave out the calendar if the operator wants none', async () => {
    const docsOnly = await served({ landing: false });
    const reached = async (base: string, path: string) => (await fetch(base + path)).status === 200;
    expect(await reached(docsOnly, '/')).to.equal(false);
    expect(await reached(docsOnly, '/docs')).to.equal(true);
  });
});
