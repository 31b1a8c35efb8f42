// The documentation page: sends requests from it, anonymous and authenticated.

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { controls, DEVICES, harness, screenshot, until, watchedPages } from './harness.ts';

const DESKTOP = DEVICES['on a desktop, light'];

/** An operation of the page, by method and path. */
function operation(page: Page, method: string, path: string): Locator {
  const summary = page.locator(`.opblock-summary-path[data-path="${path}"]`);
  return page.locator(`.opblock-${method}`).filter({ has: summary });
}

async function opened(page: Page, method: string, path: string): Promise<Locator> {
  const block = operation(page, method, path);
  await block.locator('.opblock-summary-control').click();
  await block.getByRole('button', { name: 'Execute' }).waitFor();
  return block;
}

const statusOf = (tried: Locator): Promise<string | null> =>
  tried.locator('.live-responses-table .response-col_status').last().textContent();

describe('the documentation page', () => {
  const pages = watchedPages();

  async function documentation(device: Parameters<typeof pages.open>[0] = DESKTOP, path = '/docs'): Promise<Page> {
    const page = await pages.open(device);
    await page.goto(`${harness().gateway.url}${path}`);
    await page.locator('.opblock').first().waitFor();
    return page;
  }

  for (const [name, device] of Object.entries(DEVICES)) {
    describe(name, () => {
      it('sends a request and shows the response without overflow; all text is legible and all controls have names', async () => {
        const page = await documentation(device);
        await screenshot(page, `documentation ${name}`);
        expect(await page.getByRole('main').count()).to.equal(1);
        const tried = await opened(page, 'get', '/events');
        await tried.getByPlaceholder('search').fill('market');
        await tried.getByRole('button', { name: 'Execute' }).click();
        await tried.locator('.live-responses-table').waitFor();
        expect(await statusOf(tried)).to.equal('200');
        expect(await tried.locator('.request-url').textContent()).to.include(`${harness().gateway.calendar}/events?`);
        expect(await tried.locator('.live-responses-table').textContent()).to.include('Saturday Market');
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        // A button that was disabled for a moment fades in slowly.
        await until(page, 'document.getAnimations().length === 0');
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).unnamed).to.deep.equal([]);
        await tried.locator('.live-responses-table').scrollIntoViewIfNeeded();
        await screenshot(page, `documentation tried ${name}`);
      });
    });
  }

  it('creates an event as the logged-in user', async () => {
    const page = await documentation();
    await page.locator('button.authorize').first().click();
    const { user, applicationPassword } = harness().sandbox.credentials.editor;
    await page.getByLabel('Username').fill(user);
    await page.getByLabel('Password', { exact: false }).last().fill(applicationPassword);
    await page.locator('.modal-ux').getByRole('button', { name: /apply/i }).click();
    await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).last().click();
    const tried = await opened(page, 'post', '/events');
    const body = { title: 'Tried out', status: 'publish', start_date: 'tomorrow 10:00', end_date: 'tomorrow 11:00' };
    await fillBody(tried, body);
    await tried.getByRole('button', { name: 'Execute' }).click();
    await tried.locator('.live-responses-table').waitFor();
    expect(await statusOf(tried)).to.equal('201');
    const list = (await (await fetch(`${harness().gateway.calendar}/events?search=Tried+out`)).json()) as {
      total: number;
    };
    expect(list.total).to.equal(1);
  });

  it('closes the padlocks of the operations that need a login, and no others', async () => {
    const page = await documentation();
    const isClosed = (method: string, path: string) =>
      operation(page, method, path).getByRole('button', { name: 'authorization button locked', exact: true }).count();
    expect(
      await Promise.all(['/events', '/events/{id}', '/events.ics'].map((path) => isClosed('get', path))),
    ).to.deep.equal([0, 0, 0]);
    expect(await isClosed('post', '/events')).to.equal(1);
    expect(await isClosed('delete', '/events/{id}')).to.equal(1);
  });

  it('is usable by keyboard: filter, operation, execute', async () => {
    const page = await documentation();
    const tabTo = async (pattern: RegExp): Promise<void> => {
      for (let steps = 0; steps < 60; steps++) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate('inPage.focusRing()'), await page.evaluate('inPage.focused()')).to.equal(true);
        if (pattern.test(await page.evaluate<string>('inPage.focused()'))) return;
      }
      throw new Error(`nothing is called ${pattern}`);
    };
    await page.keyboard.press('Tab');
    expect(await page.evaluate('inPage.focused()')).to.equal('a Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('main');
    await tabTo(/^input/);
    await page.keyboard.type('description');
    // The page redraws its operations: the focus must not be on one of them meanwhile.
    await operation(page, 'get', '/events').waitFor({ state: 'hidden' });
    await tabTo(/^button.*\/doc/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    await tabTo(/^button Execute/);
    await page.keyboard.press('Enter');
    const tried = operation(page, 'get', '/doc');
    await tried.locator('.live-responses-table').waitFor();
    expect(await statusOf(tried)).to.equal('200');
  });

  it('executes an operation at once, before Swagger UI has resolved it', async () => {
    const page = await documentation();
    await page.evaluate('inPage.executeAtOnce("/doc")');
    const tried = operation(page, 'get', '/doc');
    await tried.locator('.live-responses-table').waitFor();
    expect(await statusOf(tried)).to.equal('200');
  });

  it('links to the calendar and back', async () => {
    const page = await documentation();
    await page.locator('header .name').click();
    await page.locator('#events [data-event]:visible').first().waitFor();
    await page.getByRole('link', { name: 'For developers' }).click();
    await page.locator('.opblock').first().waitFor();
  });

  it('shows an error if the OpenAPI document cannot be loaded', async () => {
    const page = await pages.open(DESKTOP);
    await page.route('**/doc?complete=1', (route) => route.fulfill({ status: 429, body: 'slow down' }));
    await page.goto(`${harness().gateway.url}/docs`);
    await page.getByText('The description could not be read: status 429').waitFor();
    await pages.close();
  });
});

/** Selects JSON if the form offers it. */
async function fillBody(tried: Locator, body: object): Promise<void> {
  const types = tried.locator('.opblock-section-request-body select');
  if ((await types.count()) > 0) await types.first().selectOption('application/json');
  await tried.locator('textarea.body-param__text').fill(JSON.stringify(body));
}
