// The pages with an incomplete replica, with an unavailable CMS, and disabled.

import { expect } from 'chai';
import { startCmsProxy } from '../live/cms-proxy.ts';
import { until } from '../until.ts';
import { DEVICES, harness, openPage, screenshot, startBrowserGateway, untilVisible } from './harness.ts';

const DESKTOP = DEVICES['on a desktop, light'];
const PHONE = DEVICES['on a phone, dark'];
const SLOW_MS = 700;
const WAIT_MS = 15_000;

describe('the pages', () => {
  it('show the progress of the initial sync, then the events', async () => {
    const relay = await startCmsProxy(harness().sandbox.url, { delayMs: SLOW_MS });
    const { url, ready } = await startBrowserGateway(harness().sandbox, { cmsUrl: relay.url });
    const watched = await openPage(PHONE, url);
    try {
      const { page } = watched;
      await until(() => isAnswered(`${url}/-/assets/page.css`), 'the gateway listens', WAIT_MS);
      await page.goto(`${url}/`);
      const progress = page.getByText(/^The calendar is syncing: \d+ % done/);
      await progress.waitFor();
      await screenshot(page, 'landing during the initial sync');
      expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
      relay.options.delayMs = 0;
      await ready;
      await untilVisible(page, page.locator('#events [data-event]:visible').first());
      expect(await progress.isVisible()).to.equal(false);
      expect((await watched.problems()).filter((problem) => !problem.includes('503'))).to.deep.equal([]);
    } finally {
      await watched.close();
      await ready.then(({ stop }) => stop());
      await relay.close();
    }
  });

  it('stay usable while the CMS is unavailable; say when the gateway is unavailable too', async () => {
    const relay = await startCmsProxy(harness().sandbox.url);
    const { ready } = await startBrowserGateway(harness().sandbox, { cmsUrl: relay.url });
    const { url, adminUrl, stop } = await ready;
    const watched = await openPage(DESKTOP, url);
    try {
      const { page } = watched;
      await page.goto(`${url}/`);
      await page.locator('#events [data-event]:visible').first().waitFor();
      await relay.close();
      await until(async () => (await stateOf(adminUrl)) === 'unreachable', 'the CMS is away', WAIT_MS);
      await page.reload();
      await page.locator('#events [data-event]:visible').first().click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      expect(await page.locator('#notice.error').count()).to.equal(0);
      expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
      await screenshot(page, 'landing while the CMS is away');
      expect(await watched.problems()).to.deep.equal([]);
      await stop();
      await untilVisible(page, page.getByText('The calendar does not respond'));
      await screenshot(page, 'landing while the gateway is away');
    } finally {
      await watched.close();
      await stop();
    }
  });

  it('are the documentation alone if the operator wants no calendar', async () => {
    const { url, ready } = await startBrowserGateway(harness().sandbox, { config: { pages: { landing: false } } });
    const { stop, calendar } = await ready;
    const watched = await openPage(DESKTOP, url);
    try {
      const { page } = watched;
      for (const path of ['/', '/-/assets/landing.mjs', '/-/assets/landing.css'])
        expect((await fetch(`${url}${path}`)).status, path).to.equal(404);
      expect((await fetch(`${calendar}/events`)).status).to.equal(200);
      await page.goto(`${url}/docs`);
      await page.locator('.opblock').first().waitFor();
      expect(await watched.problems()).to.deep.equal([]);
    } finally {
      await watched.close();
      await stop();
    }
  });
});

const stateOf = async (adminUrl: string): Promise<string> =>
  ((await (await fetch(`${adminUrl}/status`)).json()) as { state: string }).state;
const isAnswered = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
