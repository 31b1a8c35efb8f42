// The landing page: calendar, filters, state and examples, for eyes, fingers and keyboards.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { controls, LOOKS, picture, seenAgain, stage, until, watchedPages } from './stage.ts';

const run = promisify(execFile);
const DESKTOP = LOOKS['on a desktop, light'];
const PHONE = LOOKS['on a phone, light'];

/** The date of the site's today with another day of the month: `2027-03-10`. */
const inThisMonth = (day: number): string => {
  const today = new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York' }).format(new Date());
  return `${today.slice(0, 8)}${String(day).padStart(2, '0')}`;
};

/** Asks the interface as the administrator. */
async function ask(method: string, path: string, body?: object) {
  const { user, applicationPassword } = stage().sandbox.credentials.admin;
  const answer = await fetch(`${stage().gateway.calendar}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(answer.status, `${method} ${path}`).to.be.within(200, 201);
  return (await answer.json()) as { id: number; title: string; total: number; events: { title: string }[] };
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

  async function landing(look: Parameters<typeof pages.open>[0] = DESKTOP): Promise<Page> {
    const page = await pages.open(look);
    await page.goto(`${stage().gateway.url}/`);
    await events(page).first().waitFor();
    return page;
  }

  for (const [name, look] of Object.entries(LOOKS)) {
    describe(name, () => {
      it('shows the month, the state, the filters and the examples, and nothing beside the screen', async () => {
        const page = await landing(look);
        await page.getByText('Copy: up to date').waitFor();
        expect(await page.locator('#cms-text').textContent()).to.equal('CMS: reachable');
        expect(await page.locator('#counts').textContent()).to.match(/\d+ events, \d+ venues?, /);
        expect(await page.getByLabel('Venue').locator('option').count()).to.be.above(2);
        expect(await page.getByLabel('Category').locator('option').count()).to.be.above(2);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        await picture(page, `landing ${name}`);
        await picture(page, `landing whole ${name}`, true);
      });

      it('can be read: contrast of every text, names of all controls, one heading for the page', async () => {
        const page = await landing(look);
        await page.getByText('Copy: up to date').waitFor();
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).nameless).to.deep.equal([]);
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.getByRole('main').count()).to.equal(1);
        if ('isMobile' in look) expect(await page.evaluate('inPage.smallTargets()')).to.deep.equal([]);
      });

      it('shows an event in a dialog that fits', async () => {
        const page = await landing(look);
        await events(page).first().click();
        await page.getByRole('dialog').waitFor();
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).nameless).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        await picture(page, `landing dialog ${name}`);
        await page.getByRole('button', { name: 'Close' }).click();
        expect(await page.getByRole('dialog').count()).to.equal(0);
      });
    });
  }

  it('begins with the list on a phone and with the month elsewhere; each can be changed', async () => {
    const phone = await landing(PHONE);
    await phone.getByRole('tab', { name: 'List view', selected: true }).waitFor();
    await phone.getByRole('tab', { name: 'Month view' }).click();
    await phone.getByRole('grid').waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    expect(await phone.evaluate('inPage.faintText()')).to.deep.equal([]);
    await picture(phone, 'landing month on a phone');
    await pages.close();
    const desktop = await landing();
    await desktop.getByRole('tab', { name: 'Month view', selected: true }).waitFor();
    await desktop.getByRole('tab', { name: 'List view' }).click();
    await desktop.getByRole('listitem').first().waitFor();
    await picture(desktop, 'landing list on a desktop');
  });

  it('shows what is created, changed and deleted by the interface without being loaded again', async () => {
    const page = await landing();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    const { id } = await newEvent('Lanterns on the ice');
    await named(page, 'Lanterns on the ice').waitFor();
    await ask('POST', `/events/${id}`, { title: 'Lanterns on the lake' });
    await seenAgain(page);
    await named(page, 'Lanterns on the lake').waitFor();
    await ask('DELETE', `/events/${id}`);
    await seenAgain(page);
    await named(page, 'Lanterns on the lake').waitFor({ state: 'detached' });
    expect(loads).to.equal(0);
  });

  it('shows what is new right after a reload, though the browser may keep answers', async () => {
    const page = await landing();
    const { id } = await newEvent('Fresh at breakfast');
    await page.reload();
    await events(page).first().waitFor();
    expect(await named(page, 'Fresh at breakfast').count()).to.equal(1);
    await ask('DELETE', `/events/${id}`);
  });

  it('leaves the keyboard where it is when events are drawn anew, also below an open dialog', async () => {
    const page = await landing();
    const { id } = await newEvent('Here before');
    await seenAgain(page);
    await named(page, 'Here before').focus();
    const other = await newEvent('Here later', {
      start_date: `${inThisMonth(17)} 19:00`,
      end_date: `${inThisMonth(17)} 20:00`,
    });
    await seenAgain(page);
    await named(page, 'Here later').waitFor();
    await until(page, 'inPage.focused().includes("Here before")');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Here before' }).waitFor();
    await ask('DELETE', `/events/${other.id}`);
    await seenAgain(page);
    await named(page, 'Here later').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await until(page, 'inPage.focused().includes("Here before")');
    await ask('DELETE', `/events/${id}`);
  });

  it('shows with each filter what the interface says', async () => {
    const page = await landing();
    const shown = async () => [
      ...new Set(await events(page).evaluateAll((all) => all.map((one) => one.dataset.event))),
    ];
    for (const [label, parameter] of [
      ['Venue', 'venue'],
      ['Category', 'categories'],
    ] as const) {
      const select = page.getByLabel(label);
      const value = await select.locator('option').nth(2).getAttribute('value');
      const answered = page.waitForResponse((one) => one.url().includes(`${parameter}=${value}`));
      await select.selectOption(value);
      const wanted = (await (await answered).json()) as { events: { id: number }[]; total: number };
      expect(wanted.total, 'on one page').to.be.at.most(50);
      await until(
        page,
        `new Set([...document.querySelectorAll('#calendar [data-event]')].map((one) => one.dataset.event)).size === ${wanted.events.length}`,
      );
      expect((await shown()).sort()).to.deep.equal(wanted.events.map(({ id }) => String(id)).sort());
      await select.selectOption('');
    }
  });

  it('is wholly usable by keyboard: skip link, filters, months, views, events', async () => {
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
    // Today is off while this month is shown.
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
    const answered = page.waitForResponse((one) => /[?&]venue=\d/.test(one.url()));
    await page.keyboard.press('ArrowDown');
    await answered;
  });

  it('leads to the hidden events of a full day by keyboard', async () => {
    const page = await landing();
    const made = [];
    for (const part of ['one', 'two', 'three', 'four', 'five', 'six']) made.push(await newEvent(`Full day, ${part}`));
    const more = page.getByRole('button', { name: /more/ }).or(page.getByText(/^\+\s?\d+ more/));
    await seenAgain(page);
    await more.first().waitFor();
    await more.first().focus();
    expect(await page.evaluate('inPage.focusRing()')).to.equal(true);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Full day, six').waitFor();
    expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
    await picture(page, 'landing full day');
    await page.keyboard.press('Escape');
    for (const { id } of made) await ask('DELETE', `/events/${id}`);
  });

  it('gives examples that work as they are, for this very address', async () => {
    const page = await landing();
    const { calendar } = stage().gateway;
    const { user, applicationPassword } = stage().sandbox.credentials.editor;
    const examples = await page.locator('#use pre').allTextContents();
    expect(examples).to.have.length(4);
    for (const example of examples) {
      expect(example).to.include(`"${calendar}/events`);
      if (!example.startsWith('curl')) continue;
      const command = example.replace('USER:APPLICATION PASSWORD', `${user}:${applicationPassword}`);
      const { stdout } = await run('sh', ['-c', command.replace(/^curl/, 'curl -sS --fail-with-body')]);
      const answer = JSON.parse(stdout) as { events?: object[]; title?: string; id: number };
      if (answer.title === undefined) expect(answer.events, example).not.to.equal(undefined);
      else {
        expect(answer.title).to.equal('Open evening');
        await ask('DELETE', `/events/${answer.id}`);
      }
    }
    const inPage = examples.find((one) => one.startsWith('const'))!;
    const total = await page.evaluate(`(async () => { ${inPage}; return [events.length, total]; })()`);
    const wanted = (await (await fetch(`${calendar}/events?per_page=10`)).json()) as {
      events: object[];
      total: number;
    };
    expect(total).to.deep.equal([wanted.events.length, wanted.total]);
  });

  it('copies an example', async () => {
    const page = await landing({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).to.equal(`curl "${stage().gateway.calendar}/events?per_page=5"`);
  });

  it('runs nothing that an event brings along, and loads nothing from elsewhere', async () => {
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

  it('says without JavaScript where the events are', async () => {
    const page = await pages.open({ ...DESKTOP, javaScriptEnabled: false });
    await page.goto(`${stage().gateway.url}/`);
    const { calendar } = stage().gateway;
    await page.getByRole('link', { name: `${calendar}/events` }).waitFor();
    await pages.close();
  });
});
