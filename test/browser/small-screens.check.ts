// The landing page on screens of 320 to 768 pixels and on paper: nothing is broken, cut off or alone on a line.

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { DEVICES, harness, screenshot, watchedPages } from './harness.ts';
import { openLanding } from './landing-page.ts';

const PHONE = DEVICES['on a phone, light'];

/** The events that visitors see: staff get their drafts too. */
async function publicEvents(): Promise<{ id: number }[]> {
  const response = await fetch(`${harness().gateway.calendar}/events?per_page=50`);
  return ((await response.json()) as { events: { id: number }[] }).events;
}

describe('the landing page', () => {
  const pages = watchedPages();
  const isWide = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');

  for (const locale of ['en-US', 'de-DE'])
    it(`breaks no word and no time of the town's events between 320 and 400 pixels (${locale})`, async () => {
      const events = await publicEvents();
      expect(events.length).to.be.above(20);
      const page = await openLanding(pages, { ...PHONE, locale }, '?view=list');
      const { url } = harness().gateway;
      for (const query of ['?view=list', '?view=month', ...events.map(({ id }) => `?event=${id}`)]) {
        await page.goto(`${url}/${query}`);
        for (const width of [320, 360, 400]) {
          await page.setViewportSize({ width, height: 800 });
          expect(await page.evaluate('inPage.brokenWords()'), `${query} at ${width}`).to.deep.equal([]);
          expect(await isWide(page), `${query} at ${width}`).to.equal(false);
        }
      }
    }).timeout(300_000);

  for (const locale of ['en-US', 'de-DE', 'fr-FR'])
    it(`has its filters and their button in one row of a tablet (${locale})`, async () => {
      const page = await openLanding(pages, { viewport: { width: 768, height: 900 }, locale });
      const [search, button] = ['#filter-search', '#filters button'].map((one) => page.locator(one).boundingBox());
      expect((await search)!.y).to.equal((await button)!.y);
      await screenshot(page, `landing tablet ${locale}`);
      expect(await isWide(page)).to.equal(false);
    });

  it('prints events without form and buttons, with the addresses of links', async () => {
    const events = await publicEvents();
    const page = await openLanding(pages, DEVICES['on a desktop, light'], '?view=list');
    await page.emulateMedia({ media: 'print' });
    await screenshot(page, 'landing printed', true);
    expect(await page.locator('form:visible, button:visible, input:visible, .button:visible').count()).to.equal(0);
    expect(await page.locator('#events [data-event]:visible').count()).to.be.above(10);
    for (const { id } of events.slice(0, 5)) {
      await page.goto(`${harness().gateway.url}/?event=${id}`);
      const link = `document.querySelector('#event a[href^="http"]:not(.button)')`;
      const shown = await page.evaluate(`getComputedStyle(${link}, '::after').content`);
      expect(shown).to.include(await page.evaluate(`${link}.getAttribute('href')`));
      expect(await page.locator('.button:visible, button:visible').count()).to.equal(0);
    }
    await screenshot(page, 'landing event printed', true);
  });

  it('gives an event the whole width of a desktop, and the description its half', async () => {
    const page = await pages.open(DEVICES['on a desktop, light']);
    const [event] = await publicEvents();
    await page.goto(`${harness().gateway.url}/?event=${event!.id}`);
    const [article, text] = await Promise.all(['#event', '#event .text'].map((one) => page.locator(one).boundingBox()));
    expect(article!.width).to.be.above(1000);
    expect(text!.x).to.be.above(article!.x + article!.width / 2 - 20);
  });
});
