// The landing page: changed events, links to copy, untrusted contents, no JavaScript.

import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { DEVICES, harness, screenshot, triggerRefresh, until, watchedPages } from './harness.ts';
import { ask, events, inThisMonth, named, newEvent, openLanding } from './landing-page.ts';

const DESKTOP = DEVICES['on a desktop, light'];

describe("the landing page's contents", () => {
  const pages = watchedPages();
  const landing = (device: BrowserContextOptions = DESKTOP, query = '') => openLanding(pages, device, query);

  it('shows events created, changed and deleted by the API without a reload', async () => {
    const page = await landing();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    const { id } = await newEvent('Lanterns on the ice');
    await triggerRefresh(page);
    await named(page, 'Lanterns on the ice').waitFor();
    await ask('POST', `/events/${id}`, { title: 'Lanterns on the lake' });
    await triggerRefresh(page);
    await named(page, 'Lanterns on the lake').waitFor();
    await ask('DELETE', `/events/${id}`);
    await triggerRefresh(page);
    await named(page, 'Lanterns on the lake').waitFor({ state: 'detached' });
    expect(loads).to.equal(0);
  });

  it("shows new events after a reload in spite of the browser's cache", async () => {
    const page = await landing();
    const { id } = await newEvent('Fresh at breakfast');
    await page.reload();
    await events(page).first().waitFor();
    expect(await named(page, 'Fresh at breakfast').count()).to.equal(1);
    await ask('DELETE', `/events/${id}`);
  });

  it('keeps the keyboard focus when events are redrawn, also below an open dialog', async () => {
    const page = await landing();
    const { id } = await newEvent('Here before');
    await triggerRefresh(page);
    await named(page, 'Here before').focus();
    const other = await newEvent('Here later', {
      start_date: `${inThisMonth(17)} 19:00`,
      end_date: `${inThisMonth(17)} 20:00`,
    });
    await triggerRefresh(page);
    await named(page, 'Here later').waitFor();
    await until(page, 'inPage.focused().includes("Here before")');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Here before' }).waitFor();
    await ask('DELETE', `/events/${other.id}`);
    await triggerRefresh(page);
    await named(page, 'Here later').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await until(page, 'inPage.focused().includes("Here before")');
    await ask('DELETE', `/events/${id}`);
  });

  it('copies the link of an event', async () => {
    const page = await landing({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, '?view=list');
    await events(page).first().click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const name = await page.getByRole('dialog').getByRole('heading', { level: 1 }).textContent();
    await page.goto(copied);
    expect(await page.locator('main h1').textContent()).to.equal(name);
  });

  it('runs no script of an event', async () => {
    const picture = `${harness().gateway.url}/-/assets/icon.svg`;
    const bad = `<img src="${picture}" onerror="document.title=1"><script>document.title=2</script>`;
    const { id } = await newEvent('Tom <b>&amp;</b> Jerry <script>x</script>', { description: `<p>Fine</p>${bad}` });
    const page = await landing();
    await triggerRefresh(page);
    await named(page, 'Tom').first().click();
    await page.getByRole('dialog').getByText('Fine').waitFor();
    expect(await page.title()).to.match(/^Tom & Jerry/);
    await page.keyboard.press('Escape');
    await ask('DELETE', `/events/${id}`);
  });

  it('works without JavaScript: list, months, search, details', async () => {
    const page = await pages.open({ ...DESKTOP, javaScriptEnabled: false });
    const { url } = harness().gateway;
    await page.goto(`${url}/`);
    await page.getByRole('heading', { name: 'Upcoming events' }).waitFor();
    expect(await page.locator('.week').first().isVisible()).to.equal(false);
    await screenshot(page, 'landing without JavaScript');
    await named(page, 'Saturday Market').first().click();
    await page.getByRole('heading', { name: 'Saturday Market' }).waitFor();
    await screenshot(page, 'landing event without JavaScript');
    expect(await page.getByRole('button').count()).to.equal(0);
    await page.getByRole('link', { name: 'All events' }).click();
    await page.getByLabel('Search').fill('chowder');
    await page.getByRole('button', { name: 'Search' }).click();
    await named(page, 'Chowder').first().waitFor();
    expect(new URL(page.url()).searchParams.get('search')).to.equal('chowder');
    await page.getByRole('link', { name: 'Month', exact: true }).click();
    await page.locator('.week').first().waitFor();
    await pages.close();
  });
});
