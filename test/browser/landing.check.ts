// The landing page: month, list, details, filters and deep links, by mouse, touch, keyboard and screen reader.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { DEVICES, harness, screenshot, triggerRefresh, until, watchedPages } from './harness.ts';
import { ask, events, expectAccessible, inThisMonth, named, newEvent, openLanding, title } from './landing-page.ts';

const DESKTOP = DEVICES['on a desktop, light'];
const PHONE = DEVICES['on a phone, light'];

/** The site's date. */
const today = () => new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York' }).format(new Date());

/** The name of the month so many months from now, as on the buttons. */
function shortMonth(step: number): string {
  const [year, month] = today().split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, month - 1 + step, 1)).toLocaleString('en-US', { month: 'short', timeZone: 'UTC' });
}

describe('the landing page', () => {
  const pages = watchedPages();

  const landing = (device: BrowserContextOptions = DESKTOP, query = '') => openLanding(pages, device, query);

  for (const [name, device] of Object.entries(DEVICES)) {
    describe(name, () => {
      for (const view of ['month', 'list']) {
        it(`shows the ${view} with filters, legible and without barriers`, async () => {
          const page = await landing(device, `?view=${view}`);
          await screenshot(page, `landing ${view} ${name}`);
          await screenshot(page, `landing ${view} whole ${name}`, true);
          await expectAccessible(page);
          expect(await page.getByLabel('Venue').locator('option').count()).to.be.above(2);
          expect(await page.getByLabel('Category').locator('option').count()).to.be.above(2);
          expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
          expect(await page.getByRole('main').count()).to.equal(1);
          if ('isMobile' in device) expect(await page.evaluate('inPage.smallTargets()')).to.deep.equal([]);
        });
      }

      it('shows an event in a dialog that fits, and on a page of its own', async () => {
        const page = await landing(device, '?view=list');
        await named(page, 'Chowder Night').first().click();
        await page.getByRole('dialog').waitFor();
        await screenshot(page, `landing dialog ${name}`);
        await expectAccessible(page);
        await page.reload();
        await page.locator('main > #event').waitFor();
        expect(await page.getByRole('dialog').count()).to.equal(0);
        await screenshot(page, `landing event ${name}`);
        await expectAccessible(page);
        await page.getByRole('link', { name: 'All events' }).click();
        await named(page, 'Chowder Night').first().waitFor();
      });
    });
  }

  it('starts with the list on a phone and with the month elsewhere; both can be switched', async () => {
    const phone = await landing(PHONE);
    await phone.getByRole('heading', { name: 'Upcoming events' }).waitFor();
    // The first screen of a phone shows what is on today.
    expect((await events(phone).first().boundingBox())!.y).to.be.below(PHONE.viewport.height / 2);
    await phone.getByRole('link', { name: 'Month', exact: true }).click();
    await phone.locator('.week').first().waitFor();
    expect(new URL(phone.url()).search).to.equal('?view=month');
    await pages.close();
    const desktop = await landing();
    expect(await desktop.locator('.week').count()).to.be.above(3);
    expect(await desktop.locator('.views [aria-current]').textContent()).to.equal('Month');
    await desktop.getByRole('link', { name: 'List', exact: true }).click();
    await desktop.getByRole('heading', { name: 'Upcoming events' }).waitFor();
    await desktop.setViewportSize(PHONE.viewport);
    expect(await desktop.locator('.views [aria-current]').textContent()).to.equal('List');
  });

  it('saves an event as a calendar file, and names the files of the shown events', async () => {
    const page = await landing(DESKTOP, '?view=list&search=chowder');
    const subscription = await page.getByRole('link', { name: 'Subscribe', exact: true }).getAttribute('href');
    const addresses = await page.locator('link[rel=alternate]').evaluateAll((all) => all.map((one) => one.href));
    expect(addresses.map((address) => address.replace(/^.*\/events/, ''))).to.deep.equal([
      '.ics?ends_after=-1month&search=chowder',
      '.atom?ends_after=yesterday&search=chowder',
    ]);
    expect(subscription).to.equal(addresses[0].replace(/^http/, 'webcal').replace('webcals', 'webcal'));
    for (const address of addresses) {
      const file = await fetch(address);
      expect([file.status, await file.text()].join(' '), address).to.match(/^200 .*Chowder/s);
    }
    await named(page, 'Chowder Night').first().click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('dialog').getByRole('link', { name: 'Add to calendar' }).click(),
    ]);
    expect(download.suggestedFilename()).to.match(/^event-\d+\.ics$/);
    expect(readFileSync(await download.path(), 'utf8')).to.match(/^BEGIN:VCALENDAR\r\n.*SUMMARY:Chowder Night/s);
  });

  it('names a long event once in the list, with its range, and cuts long titles with an ellipsis', async () => {
    const exhibition = await newEvent('Exhibition of nineteen days', {
      all_day: true,
      end_date: `${inThisMonth(28)} 21:00`,
    });
    const long = await newEvent('A title that is longer than any cell of a month is wide');
    const page = await landing(DESKTOP, `?view=list&month=${inThisMonth(1).slice(0, 7)}`);
    expect(await named(page, 'Exhibition of nineteen days').count()).to.equal(1);
    const row = page.locator('.item').filter({ hasText: 'Exhibition of nineteen days' });
    expect(await row.locator('time').textContent()).to.match(/^\w+ 10\s–\s28$/);
    await page.goto(`${harness().gateway.url}/?view=month`);
    expect(await named(page, 'Exhibition of nineteen days').count()).to.be.above(1);
    const bar = `document.querySelector('.week [data-event="${long.id}"]')`;
    expect(
      await page.evaluate(`[getComputedStyle(${bar}).textOverflow, ${bar}.scrollWidth > ${bar}.clientWidth]`),
    ).to.deep.equal(['ellipsis', true]);
    for (const { id } of [exhibition, long]) await ask('DELETE', `/events/${id}`);
  });

  it('has a URL for each month, filter, search and event, which back and forward follow', async () => {
    const page = await landing();
    const month = await title(page).textContent();
    await page.locator('#next').click();
    await until(page, `document.querySelector('h1.in-month').textContent !== ${JSON.stringify(month)}`);
    const next = await title(page).textContent();
    expect(new URL(page.url()).search).to.match(/^\?month=\d{4}-\d\d$/);
    await page.getByLabel('Venue').selectOption({ label: 'Market Square' });
    await page.waitForURL(/venue=\d+/);
    await page.reload();
    await events(page).first().waitFor();
    expect(await title(page).textContent()).to.equal(next);
    expect(await page.getByLabel('Venue').locator(':checked').textContent()).to.equal('Market Square');
    await named(page, 'Saturday Market').first().click();
    await page.getByRole('dialog', { name: 'Saturday Market' }).waitFor();
    expect(page.url()).to.match(/event=\d+/);
    await page.goBack();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.goBack();
    await page.waitForURL((url) => !url.search.includes('venue'));
    await until(page, 'document.querySelector("#filter-venue").value === ""');
    await page.goBack();
    await until(page, `document.querySelector('h1.in-month').textContent === ${JSON.stringify(month)}`);
    await page.goForward();
    await until(page, `document.querySelector('h1.in-month').textContent === ${JSON.stringify(next)}`);
    await page.getByLabel('Search').fill('chowder');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Upcoming events with “chowder”' }).waitFor();
    expect(new URL(page.url()).search).to.equal('?search=chowder');
    expect(await named(page, 'Chowder').count()).to.equal(await events(page).count());
    await page.getByRole('link', { name: 'Remove all filters' }).click();
    await page.waitForURL(`${harness().gateway.url}/`);
    await until(page, 'document.querySelector("#filter-search").value === ""');
  });

  it("shows the API's events for each filter", async () => {
    const page = await landing(DESKTOP, '?view=list');
    for (const [label, parameter] of [
      ['Venue', 'venue'],
      ['Category', 'categories'],
    ] as const) {
      const select = page.getByLabel(label);
      const value = await select.locator('option').nth(2).getAttribute('value');
      await select.selectOption(value);
      await page.waitForURL(new RegExp(`${parameter}=${value}`));
      const query = `ends_after=${today()}+00:00&strict_dates=1&per_page=30&${parameter}=${value}`;
      const listed = (await ask('GET', `/events?${query}`)).events.map(({ id }) => String(id));
      await until(page, `document.querySelectorAll('.list [data-event]').length === ${listed.length}`);
      const shown = await events(page).evaluateAll((all) => all.map((element) => element.dataset.event));
      expect(shown).to.deep.equal(listed);
      await select.selectOption('');
      await page.waitForURL((url) => !url.searchParams.has(parameter));
    }
  });

  it('is usable by keyboard: skip link, filters, months, views, events', async () => {
    const page = await landing();
    const press = async (key: string): Promise<string> => {
      await page.keyboard.press(key);
      expect(await page.evaluate('inPage.focusRing()'), `seen after ${key}`).to.equal(true);
      return page.evaluate<string>('inPage.focused()');
    };
    const month = () => title(page).textContent();
    expect(await press('Tab')).to.equal('a Skip to the content');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().left >= 0'), 'skip link').to.equal(true);
    const order: string[] = [];
    for (let steps = 0; steps < 10; steps++) order.push(await press('Tab'));
    const around = [-1, 1].map((step) => shortMonth(step));
    expect(order).to.deep.equal([
      ...['a Harbour Town Calendar', 'input Search', 'select Venue', 'select Category', 'button Search'],
      ...[`a ‹ ${around[0]}`, 'a Today', `a ${around[1]} ›`, 'a Month', 'a List'],
    ]);
    const before = await month();
    await page.locator('#next').focus();
    await page.keyboard.press('Enter');
    await until(page, `document.querySelector('h1.in-month').textContent !== ${JSON.stringify(before)}`);
    expect(await page.evaluate('document.activeElement.id')).to.equal('next');
    expect(await press('Shift+Tab')).to.equal('a Today');
    await page.keyboard.press('Enter');
    await until(page, `document.querySelector('h1.in-month').textContent === ${JSON.stringify(before)}`);
    await page.locator('#view-list').focus();
    const event = await press('Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await press('Tab');
    expect(await page.evaluate('document.querySelector("dialog").contains(document.activeElement)')).to.equal(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await until(page, `inPage.focused() === ${JSON.stringify(event)}`);
    await page.getByLabel('Venue').focus();
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/[?&]venue=\d/);
  });

  it('lists the events of a full day', async () => {
    const page = await landing();
    const created = [];
    for (const part of ['one', 'two', 'three', 'four', 'five', 'six'])
      created.push(await newEvent(`Full day, ${part}`));
    const more = page.getByText(/^\+\s?\d+ more/);
    await triggerRefresh(page);
    await more.first().waitFor();
    await screenshot(page, 'landing full day');
    await more.first().focus();
    expect(await page.evaluate('inPage.focusRing()')).to.equal(true);
    await page.keyboard.press('Enter');
    await named(page, 'Full day, six').waitFor();
    expect(new URL(page.url()).search).to.equal(`?day=${inThisMonth(10)}`);
    await expectAccessible(page);
    for (const { id } of created) await ask('DELETE', `/events/${id}`);
  });
});
