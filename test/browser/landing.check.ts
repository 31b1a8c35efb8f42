// The landing page: calendar, filters, state and examples, by mouse, touch, keyboard and screen reader.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { controls, DEVICES, harness, screenshot, triggerRefresh, until, watchedPages } from './harness.ts';

const run = promisify(execFile);
const DESKTOP = DEVICES['on a desktop, light'];
const PHONE = DEVICES['on a phone, light'];

/** A day of the current month at the site: `2027-03-10`. */
const inThisMonth = (day: number): string => {
  const today = new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York' }).format(new Date());
  return `${today.slice(0, 8)}${String(day).padStart(2, '0')}`;
};

/** Sends an API request as the administrator. */
async function ask(method: string, path: string, body?: object) {
  const { user, applicationPassword } = harness().sandbox.credentials.admin;
  const response = await fetch(`${harness().gateway.calendar}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status, `${method} ${path}`).to.be.within(200, 201);
  return (await response.json()) as { id: number; title: string; total: number; events: { title: string }[] };
}

const newEvent = (title: string, more: object = {}) =>
  ask('POST', '/events', {
    ...{ title, status: 'publish' },
    ...{ start_date: `${inThisMonth(10)} 19:00`, end_date: `${inThisMonth(10)} 21:00`, ...more },
  });

const events = (page: Page) => page.locator('#calendar [data-event]');
const named = (page: Page, title: string) => events(page).filter({ hasText: title });
const monthShown = (page: Page) => page.locator('#calendar [role=heading]').first().textContent();

describe('the landing page', () => {
  const pages = watchedPages();

  async function landing(device: Parameters<typeof pages.open>[0] = DESKTOP): Promise<Page> {
    const page = await pages.open(device);
    await page.goto(`${harness().gateway.url}/`);
    await events(page).first().waitFor();
    return page;
  }

  for (const [name, device] of Object.entries(DEVICES)) {
    describe(name, () => {
      it('shows the month, the state, the filters and the examples without overflow', async () => {
        const page = await landing(device);
        await page.getByText('Replica: up to date').waitFor();
        expect(await page.locator('#cms-text').textContent()).to.equal('CMS: reachable');
        expect(await page.locator('#counts').textContent()).to.match(/\d+ events, \d+ venues?, /);
        expect(await page.getByLabel('Venue').locator('option').count()).to.be.above(2);
        expect(await page.getByLabel('Category').locator('option').count()).to.be.above(2);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        await screenshot(page, `landing ${name}`);
        await screenshot(page, `landing whole ${name}`, true);
      });

      it('is legible: contrast of every text, names of all controls, one page heading', async () => {
        const page = await landing(device);
        await page.getByText('Replica: up to date').waitFor();
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).unnamed).to.deep.equal([]);
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.getByRole('main').count()).to.equal(1);
        if ('isMobile' in device) expect(await page.evaluate('inPage.smallTargets()')).to.deep.equal([]);
      });

      it('shows an event in a dialog that fits', async () => {
        const page = await landing(device);
        await events(page).first().click();
        await page.getByRole('dialog').waitFor();
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).unnamed).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        await screenshot(page, `landing dialog ${name}`);
        await page.getByRole('button', { name: 'Close' }).click();
        expect(await page.getByRole('dialog').count()).to.equal(0);
      });
    });
  }

  it('starts with the list on a phone and with the month elsewhere; both can be switched', async () => {
    const phone = await landing(PHONE);
    await phone.getByRole('tab', { name: 'List view', selected: true }).waitFor();
    await phone.getByRole('tab', { name: 'Month view' }).click();
    await phone.getByRole('grid').waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    expect(await phone.evaluate('inPage.faintText()')).to.deep.equal([]);
    await screenshot(phone, 'landing month on a phone');
    await pages.close();
    const desktop = await landing();
    await desktop.getByRole('tab', { name: 'Month view', selected: true }).waitFor();
    await desktop.getByRole('tab', { name: 'List view' }).click();
    await desktop.getByRole('listitem').first().waitFor();
    await screenshot(desktop, 'landing list on a desktop');
  });

  it('shows events created, changed and deleted by the API without a reload', async () => {
    const page = await landing();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    const { id } = await newEvent('Lanterns on the ice');
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

  it("shows the API's events for each filter", async () => {
    const page = await landing();
    const visibleIds = async () => [
      ...new Set(await events(page).evaluateAll((all) => all.map((element) => element.dataset.event))),
    ];
    for (const [label, parameter] of [
      ['Venue', 'venue'],
      ['Category', 'categories'],
    ] as const) {
      const select = page.getByLabel(label);
      const value = await select.locator('option').nth(2).getAttribute('value');
      const filtered = page.waitForResponse((response) => response.url().includes(`${parameter}=${value}`));
      await select.selectOption(value);
      const expected = (await (await filtered).json()) as { events: { id: number }[]; total: number };
      expect(expected.total, 'on one page').to.be.at.most(50);
      await until(
        page,
        `new Set([...document.querySelectorAll('#calendar [data-event]')].map((one) => one.dataset.event)).size === ${expected.events.length}`,
      );
      expect((await visibleIds()).sort()).to.deep.equal(expected.events.map(({ id }) => String(id)).sort());
      await select.selectOption('');
    }
  });

  it('is usable by keyboard: skip link, filters, months, views, events', async () => {
    const page = await landing();
    const press = async (key: string): Promise<string> => {
      await page.keyboard.press(key);
      expect(await page.evaluate('inPage.focusRing()'), `seen after ${key}`).to.equal(true);
      return page.evaluate<string>('inPage.focused()');
    };
    expect(await press('Tab')).to.equal('a Skip to the calendar');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().left >= 0'), 'skip link').to.equal(true);
    const order: string[] = [];
    for (let steps = 0; steps < 8; steps++) order.push(await press('Tab'));
    // "Today" is disabled while the current month is shown.
    expect(order).to.deep.equal([
      ...['a Documentation', 'a Use it', 'select Venue', 'select Category'],
      ...['tab Month view', 'tab List view', 'button Previous Month', 'button Next Month'],
    ]);
    const before = await monthShown(page);
    await page.keyboard.press('Enter');
    await until(page, `document.querySelector('#calendar [role=heading]').textContent !== ${JSON.stringify(before)}`);
    expect(await page.evaluate('inPage.focused()')).to.equal('button Next Month');
    expect(await press('Shift+Tab')).to.equal('button This Month');
    await page.keyboard.press('Space');
    await until(page, `document.querySelector('#calendar [role=heading]').textContent === ${JSON.stringify(before)}`);
    await page.getByRole('button', { name: 'Next Month' }).focus();
    await events(page).first().waitFor();
    const event = await press('Tab');
    expect(event).to.match(/^button /);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await press('Tab')).to.match(/^(a Page on the site|button Close)/);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.evaluate('inPage.focused()')).to.equal(event);
    await page.getByRole('tab', { name: 'List view' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').first().waitFor();
    await page.getByLabel('Venue').focus();
    const filtered = page.waitForResponse((response) => /[?&]venue=\d/.test(response.url()));
    await page.keyboard.press('ArrowDown');
    await filtered;
  });

  it('opens the hidden events of a full day by keyboard', async () => {
    const page = await landing();
    const created = [];
    for (const part of ['one', 'two', 'three', 'four', 'five', 'six'])
      created.push(await newEvent(`Full day, ${part}`));
    const more = page.getByRole('button', { name: /more/ }).or(page.getByText(/^\+\s?\d+ more/));
    await triggerRefresh(page);
    await more.first().waitFor();
    await more.first().focus();
    expect(await page.evaluate('inPage.focusRing()')).to.equal(true);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Full day, six').waitFor();
    expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
    await screenshot(page, 'landing full day');
    await page.keyboard.press('Escape');
    for (const { id } of created) await ask('DELETE', `/events/${id}`);
  });

  it("shows examples that work unchanged, with this gateway's URL", async () => {
    const page = await landing();
    const { calendar } = harness().gateway;
    const { user, applicationPassword } = harness().sandbox.credentials.editor;
    const examples = await page.locator('#use pre').allTextContents();
    expect(examples).to.have.length(4);
    for (const example of examples) {
      expect(example).to.include(`"${calendar}/events`);
      if (!example.startsWith('curl')) continue;
      const command = example.replace('USER:APPLICATION PASSWORD', `${user}:${applicationPassword}`);
      const { stdout } = await run('sh', ['-c', command.replace(/^curl/, 'curl -sS --fail-with-body')]);
      const printed = JSON.parse(stdout) as { events?: object[]; title?: string; id: number };
      if (printed.title === undefined) expect(printed.events, example).not.to.equal(undefined);
      else {
        expect(printed.title).to.equal('Open evening');
        await ask('DELETE', `/events/${printed.id}`);
      }
    }
    const inPage = examples.find((example) => example.startsWith('const'))!;
    const total = await page.evaluate(`(async () => { ${inPage}; return [events.length, total]; })()`);
    const expected = (await (await fetch(`${calendar}/events?per_page=10`)).json()) as {
      events: object[];
      total: number;
    };
    expect(total).to.deep.equal([expected.events.length, expected.total]);
  });

  it('copies an example', async () => {
    const page = await landing({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).to.equal(`curl "${harness().gateway.calendar}/events?per_page=5"`);
  });

  it('runs no script of an event and loads nothing from other origins', async () => {
    const bad =
      '<img src="https://elsewhere.example/x.png" onerror="document.title=1"><script>document.title=2</script>';
    const { id } = await newEvent('Tom <b>&amp;</b> Jerry <script>x</script>', { description: `<p>Fine</p>${bad}` });
    const page = await landing();
    await named(page, 'Tom').first().click();
    await page.getByRole('dialog').waitFor();
    expect(await page.title()).to.match(/: calendar$/);
    await page.keyboard.press('Escape');
    await ask('DELETE', `/events/${id}`);
  });

  it('links to the events without JavaScript', async () => {
    const page = await pages.open({ ...DESKTOP, javaScriptEnabled: false });
    await page.goto(`${harness().gateway.url}/`);
    const { calendar } = harness().gateway;
    await page.getByRole('link', { name: `${calendar}/events` }).waitFor();
    await pages.close();
  });
});
