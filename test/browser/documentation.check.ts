// The documentation page: requests are tried on it, as anybody and as somebody.

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { controls, LOOKS, picture, stage, until, watchedPages } from './stage.ts';

const DESKTOP = LOOKS['on a desktop, light'];

/** One operation of the list, by its method and path. */
function operation(page: Page, method: string, path: string): Locator {
  const place = page.locator(`.opblock-summary-path[data-path="${path}"]`);
  return page.locator(`.opblock-${method}`).filter({ has: place });
}

async function opened(page: Page, method: string, path: string): Promise<Locator> {
  const found = operation(page, method, path);
  await found.locator('.opblock-summary-control').click();
  await found.getByRole('button', { name: 'Execute' }).waitFor();
  return found;
}

const statusOf = (tried: Locator): Promise<string | null> =>
  tried.locator('.live-responses-table .response-col_status').last().textContent();

describe('the documentation page', () => {
  const pages = watchedPages();

  async function documentation(look: Parameters<typeof pages.open>[0] = DESKTOP, path = '/docs'): Promise<Page> {
    const page = await pages.open(look);
    await page.goto(`${stage().gateway.url}${path}`);
    await page.locator('.opblock').first().waitFor();
    return page;
  }

  for (const [name, look] of Object.entries(LOOKS)) {
    describe(name, () => {
      it('tries a request and shows what was answered, nothing beside the screen; all can be read and has a name', async () => {
        const page = await documentation(look);
        await picture(page, `documentation ${name}`);
        expect(await page.getByRole('main').count()).to.equal(1);
        const tried = await opened(page, 'get', '/events');
        await tried.getByPlaceholder('search').fill('market');
        await tried.getByRole('button', { name: 'Execute' }).click();
        await tried.locator('.live-responses-table').waitFor();
        expect(await statusOf(tried)).to.equal('200');
        expect(await tried.locator('.request-url').textContent()).to.include(`${stage().gateway.calendar}/events?`);
        expect(await tried.locator('.live-responses-table').textContent()).to.include('Saturday Market');
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
        // A button that was off for a moment comes back slowly.
        await until(page, 'document.getAnimations().length === 0');
        expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
        expect((await controls(page)).nameless).to.deep.equal([]);
        await tried.locator('.live-responses-table').scrollIntoViewIfNeeded();
        await picture(page, `documentation tried ${name}`);
      });
    });
  }

  it('creates an event as whoever logs in', async () => {
    const page = await documentation();
    await page.locator('button.authorize').first().click();
    const { user, applicationPassword } = stage().sandbox.credentials.editor;
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
    const found = (await (await fetch(`${stage().gateway.calendar}/events?search=Tried+out`)).json()) as {
      total: number;
    };
    expect(found.total).to.equal(1);
  });

  it('is usable by keyboard: filter, operation, execute', async () => {
    const page = await documentation();
    const tabTo = async (wanted: RegExp): Promise<void> => {
      for (let steps = 0; steps < 60; steps++) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate('inPage.focusRing()'), await page.evaluate('inPage.focused()')).to.equal(true);
        if (wanted.test(await page.evaluate<string>('inPage.focused()'))) return;
      }
      throw new Error(`nothing is called ${wanted}`);
    };
    await page.keyboard.press('Tab');
    expect(await page.evaluate('inPage.focused()')).to.equal('a Skip to the documentation');
    await page.keyboard.press('Enter');
    await tabTo(/^button.*\/doc/);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    await tabTo(/^button Execute/);
    await page.keyboard.press('Enter');
    const tried = operation(page, 'get', '/doc');
    await tried.locator('.live-responses-table').waitFor();
    expect(await statusOf(tried)).to.equal('200');
  });

  it('is also found at /doc, and with a slash at the end', async () => {
    const page = await documentation(DESKTOP, '/doc/');
    expect(page.url()).to.equal(`${stage().gateway.url}/docs`);
    for (const path of ['/doc', '/docs/']) {
      expect((await fetch(stage().gateway.url + path)).url).to.equal(`${stage().gateway.url}/docs`);
    }
  });

  it('leads to the calendar and back', async () => {
    const page = await documentation();
    await page.getByRole('link', { name: 'Calendar', exact: true }).click();
    await page.locator('#calendar [data-event]').first().waitFor();
    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.locator('.opblock').first().waitFor();
  });

  it('says so when the description cannot be read', async () => {
    const page = await pages.open(DESKTOP);
    await page.route('**/doc?complete=1', (route) => route.fulfill({ status: 429, body: 'slow down' }));
    await page.goto(`${stage().gateway.url}/docs`);
    await page.getByText('The description could not be read: answered with 429').waitFor();
    await pages.close();
  });
});

/** As JSON where the form offers it. */
async function fillBody(tried: Locator, body: object): Promise<void> {
  const types = tried.locator('.opblock-section-request-body select');
  if ((await types.count()) > 0) await types.first().selectOption('application/json');
  await tried.locator('textarea.body-param__text').fill(JSON.stringify(body));
}
