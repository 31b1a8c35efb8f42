// Both pages in a browser, behind nginx, below a path of another site.

import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { LOOKS, openPage, startBrowser, type Watched } from '../browser/stage.ts';
import { MOUNT, type RunningGateway, startGateway } from '../faults/gateway.ts';
import { as, PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { freePort } from '../free-port.ts';
import { type RunningNginx, startNginx } from './nginx.ts';

const LOOK = { ...LOOKS['on a desktop, light'], ignoreHTTPSErrors: true };

describe('below a path of another site', () => {
  let wordpress: WordPressStandIn;
  let gateway: RunningGateway;
  let nginx: RunningNginx;
  let browser: Browser;
  let watched: Watched;

  before(async () => {
    wordpress = await startWordPress();
    const port = await freePort();
    const settings = { listen: { trustProxies: true }, publicUrl: `https://127.0.0.1:${port}/api` };
    gateway = await startGateway(wordpress.url.href, settings, { user: 'admin', password: PASSWORD });
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
    watched = await openPage(LOOK, nginx.url, browser);
  });
  afterEach(async () => {
    const problems = await watched.problems();
    await watched.close();
    expect(problems).to.deep.equal([]);
  });

  it('links in answers have the path, lead on, and end', async () => {
    const seen: number[] = [];
    let next: string | undefined = `${MOUNT}/events?per_page=2`;
    while (next) {
      const { status, text } = await nginx.ask(next);
      expect(status).to.equal(200);
      const list = JSON.parse(text) as { events: { id: number; rest_url: string }[]; next_rest_url?: string };
      for (const one of list.events) expect(one.rest_url).to.equal(`${nginx.url}${MOUNT}/events/${one.id}`);
      seen.push(...list.events.map(({ id }) => id));
      expect(seen.length, 'events of all pages so far').to.be.at.most(4);
      if (list.next_rest_url) expect(list.next_rest_url.startsWith(`${nginx.url}${MOUNT}/events/?`)).to.equal(true);
      next = list.next_rest_url?.slice(nginx.url.length);
    }
    expect(seen).to.have.length(4);
    expect(new Set(seen).size).to.equal(4);
  });

  it('the calendar shows what is created, and its examples name this address', async () => {
    const { page } = watched;
    await page.goto(nginx.url);
    expect(page.url()).to.equal(`${nginx.url}/`);
    await page.getByText('Copy: up to date').waitFor();
    const today = new Date().toISOString().slice(0, 10);
    const body = { title: 'Behind nginx', status: 'publish', start_date: `${today} 10:00`, end_date: `${today} 11:00` };
    const headers = { authorization: as('editor'), 'content-type': 'application/json' };
    const created = await nginx.ask(`${MOUNT}/events`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(created.status).to.equal(201);
    await page.locator('#calendar [data-event]').filter({ hasText: 'Behind nginx' }).waitFor();
    const example = await page.locator('#use pre').first().textContent();
    expect(example).to.equal(`curl "${nginx.url}${MOUNT}/events?per_page=5"`);
  });

  it('a request is tried on the documentation page, which also leads to the calendar', async () => {
    const { page } = watched;
    await page.goto(`${nginx.url}/doc`);
    expect(page.url()).to.equal(`${nginx.url}/docs`);
    await page.locator('.opblock-summary-path[data-path="/venues"]').first().click();
    const tried = page.locator('.opblock.is-open');
    await tried.getByRole('button', { name: 'Execute' }).click();
    await tried.locator('.live-responses-table').waitFor();
    expect(await tried.locator('.request-url').textContent()).to.include(`${nginx.url}${MOUNT}/venues`);
    expect(await tried.locator('.live-responses-table .response-col_status').last().textContent()).to.equal('200');
    await page.getByRole('link', { name: 'Calendar', exact: true }).click();
    await page.locator('#calendar').getByText('Behind nginx').first().waitFor();
  });
});
