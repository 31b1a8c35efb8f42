// Both pages in a browser, behind nginx, below a path of another site.

import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { DEVICES, openPage, startBrowser, type WatchedPage } from '../browser/harness.ts';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { freePort } from '../free-port.ts';
import { MOUNT, type SocketGateway, startGateway } from '../start-gateway.ts';
import { type RunningNginx, startNginx } from './nginx.ts';

const LOOK = { ...DEVICES['on a desktop, light'], ignoreHTTPSErrors: true };

describe('below a path of another site', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  let nginx: RunningNginx;
  let browser: Browser;
  let watched: WatchedPage;

  before(async () => {
    wordpress = await startFakeWordPress();
    const port = await freePort();
    const settings = { listen: { trustProxies: true }, publicUrl: `https://127.0.0.1:${port}/api` };
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: settings,
      service: { user: 'admin', password: PASSWORD },
    });
    nginx = await startNginx({ gateways: [gateway.port], port, below: true });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await nginx?.stop();
    await gateway?.stop();
    await wordpress?.close();
  });
  beforeEach(async () => {
    watched = await openPage(LOOK, nginx.url, browser, wordpress.url.origin);
  });
  afterEach(async () => {
    const problems = await watched.problems();
    await watched.close();
    expect(problems).to.deep.equal([]);
  });

  it('links in responses have the path and can be followed to the last page', async () => {
    const ids: number[] = [];
    let next: string | undefined = `${MOUNT}/events?per_page=2`;
    while (next) {
      const { status, text } = await nginx.ask(next);
      expect(status).to.equal(200);
      const list = JSON.parse(text) as { events: { id: number; rest_url: string }[]; next_rest_url?: string };
      for (const event of list.events) expect(event.rest_url).to.equal(`${nginx.url}${MOUNT}/events/${event.id}`);
      ids.push(...list.events.map(({ id }) => id));
      expect(ids.length, 'events of all pages so far').to.be.at.most(4);
      if (list.next_rest_url) expect(list.next_rest_url.startsWith(`${nginx.url}${MOUNT}/events/?`)).to.equal(true);
      next = list.next_rest_url?.slice(nginx.url.length);
    }
    expect(ids).to.have.length(4);
    expect(new Set(ids).size).to.equal(4);
  });

  it('the calendar shows a created event, and names the API by this URL', async () => {
    const { page } = watched;
    const today = new Date().toISOString().slice(0, 10);
    const body = { title: 'Behind nginx', status: 'publish', start_date: `${today} 10:00`, end_date: `${today} 11:00` };
    const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
    const created = await nginx.ask(`${MOUNT}/events`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(created.status).to.equal(201);
    await page.goto(nginx.url);
    expect(page.url()).to.equal(`${nginx.url}/`);
    await page.locator('#events [data-event]:visible').filter({ hasText: 'Behind nginx' }).waitFor();
    expect(await page.content()).to.include(`${nginx.url}${MOUNT}`);
  });

  it('the documentation page sends a request and links to the calendar', async () => {
    const { page } = watched;
    await page.goto(`${nginx.url}/docs`);
    await page.locator('.opblock-summary-path[data-path="/venues"]').first().click();
    const tried = page.locator('.opblock.is-open');
    await tried.getByRole('button', { name: 'Execute' }).click();
    await tried.locator('.live-responses-table').waitFor();
    expect(await tried.locator('.request-url').textContent()).to.include(`${nginx.url}${MOUNT}/venues`);
    expect(await tried.locator('.live-responses-table .response-col_status').last().textContent()).to.equal('200');
    await page.locator('header .name').click();
    await page.locator('#events [data-event]:visible').filter({ hasText: 'Behind nginx' }).waitFor();
  });
});
