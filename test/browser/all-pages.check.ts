// Every page in two languages, three widths, two colour schemes and on paper: without barriers; and what each weighs.

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { harness, openPage, screenshot, watchedPages } from './harness.ts';
import { barriers } from './landing-page.ts';

const WIDTHS = [360, 768, 1280];

/** By name. The month has no events: nobody plans for the year 2090. */
async function addresses(): Promise<Record<string, string>> {
  const response = await fetch(`${harness().gateway.calendar}/events?per_page=1`);
  const { events } = (await response.json()) as { events: { id: number }[] };
  return {
    month: '?view=month',
    list: '?view=list',
    event: `?event=${events[0]!.id}`,
    'empty month': '?view=month&month=2090-02',
    'empty list': '?view=list&search=nothinglikethat',
    'missing event': '?event=999999999',
  };
}

describe('all pages', () => {
  const pages = watchedPages();

  async function at(page: Page, width: number): Promise<void> {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), page.url()).to.equal(true);
  }

  for (const locale of ['en-US', 'de-DE'])
    for (const colorScheme of ['light', 'dark'] as const)
      it(`have nothing that axe-core finds, in ${locale}, ${colorScheme} and printed`, async () => {
        const { page, problems, close } = await openPage({ locale, colorScheme });
        for (const [name, query] of Object.entries(await addresses())) {
          await page.goto(`${harness().gateway.url}/${query}`);
          for (const width of WIDTHS) {
            await at(page, width);
            expect(await barriers(page), `${name} at ${width}`).to.deep.equal([]);
            await screenshot(page, `all ${name} ${width} ${locale} ${colorScheme}`, true);
          }
          await page.emulateMedia({ media: 'print' });
          expect(await barriers(page), `${name} printed`).to.deep.equal([]);
          await screenshot(page, `all ${name} printed ${locale} ${colorScheme}`, true);
          await page.emulateMedia({ media: 'screen' });
        }
        // The browser reports the status of the page for a missing event.
        expect((await problems()).filter((problem) => !problem.includes('404'))).to.deep.equal([]);
        await close();
      }).timeout(240_000);

  it('need few requests and little data, without the pictures of the site', async () => {
    const page = await pages.open({ viewport: { width: 1280, height: 900 } });
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    let [requests, bytes] = [0, 0];
    const own = new Set<string>();
    session.on('Network.responseReceived', ({ requestId, response, type }) => {
      if (type !== 'Image' && response.url.startsWith(harness().gateway.url)) own.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!own.has(requestId)) return;
      requests += 1;
      bytes += encodedDataLength;
    });
    const { 'missing event': _, ...others } = await addresses();
    for (const [name, query] of Object.entries(others)) {
      await session.send('Network.clearBrowserCache');
      [requests, bytes] = [0, 0];
      await page.goto(`${harness().gateway.url}/${query}`, { waitUntil: 'networkidle' });
      console.log(`      ${name}: ${requests} requests, ${(bytes / 1000).toFixed(1)} kB`);
      expect(requests, name).to.be.within(1, 8);
      expect(bytes, name).to.be.within(1000, 100_000);
    }
  });
});
