// The pages in front of a copy that is not complete, of a CMS that is away, and turned off.

import { expect } from 'chai';
import { startRelay } from '../live/relay.ts';
import { beginGateway, LOOKS, openPage, picture, stage, untilTold } from './stage.ts';

const DESKTOP = LOOKS['on a desktop, light'];
const PHONE = LOOKS['on a phone, dark'];
const SLOW_MS = 700;

describe('the pages', () => {
  it('tell how far the copy is, and show the events when it is there', async () => {
    const relay = await startRelay(stage().sandbox.url, { delayMs: SLOW_MS });
    const { url, ready } = await beginGateway(stage().sandbox, { upstreamUrl: relay.url });
    const watched = await openPage(PHONE, url);
    try {
      const { page } = watched;
      await untilAnswered(`${url}/-/status.json`);
      await page.goto(`${url}/`);
      await page.getByText(/^Copy: (being made|not begun), \d+ %$/).waitFor();
      await page.getByRole('progressbar', { name: 'Copied' }).waitFor();
      const notice = page.getByText(/^The calendar is being copied: \d+ % done/);
      await notice.waitFor();
      await page.getByText('The events are not known yet').waitFor();
      await picture(page, 'landing while the copy is made');
      expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
      relay.options.delayMs = 0;
      await ready;
      await untilTold(page, page.getByText('Copy: up to date'));
      await page.locator('#calendar [data-event]').first().waitFor();
      expect(await notice.isVisible()).to.equal(false);
      expect(await page.getByRole('progressbar').count()).to.equal(0);
      expect((await watched.problems()).filter((one) => !one.includes('503'))).to.deep.equal([]);
    } finally {
      await watched.close();
      await ready.then(({ stop }) => stop());
      await relay.close();
    }
  });

  it('go on while the CMS is away and say so; and say when the gateway is away too', async () => {
    const relay = await startRelay(stage().sandbox.url);
    const { ready } = await beginGateway(stage().sandbox, { upstreamUrl: relay.url });
    const { url, stop } = await ready;
    const watched = await openPage(DESKTOP, url);
    try {
      const { page } = watched;
      await page.goto(`${url}/`);
      await page.getByText('CMS: reachable').waitFor();
      await relay.close();
      await untilTold(page, page.getByText('CMS: not reachable; reading goes on'));
      await page.reload();
      await page.locator('#calendar [data-event]').first().waitFor();
      await page.getByText('CMS: not reachable; reading goes on').waitFor();
      expect(await page.locator('#notice').isVisible()).to.equal(false);
      expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
      await picture(page, 'landing while the CMS is away');
      expect(await watched.problems()).to.deep.equal([]);
      await stop();
      await untilTold(page, page.getByText('The gateway does not answer'));
      await picture(page, 'landing while the gateway is away');
    } finally {
      await watched.close();
      await stop();
    }
  });

  for (const [landing, documentation] of [
    [false, false],
    [true, false],
    [false, true],
  ] as const) {
    const named = `${landing ? 'with' : 'without'} the one, ${documentation ? 'with' : 'without'} the other`;
    it(`can be turned off: ${named}`, async () => {
      const { url, ready } = await beginGateway(stage().sandbox, { config: { pages: { landing, documentation } } });
      const { stop, calendar } = await ready;
      const watched = await openPage(DESKTOP, url);
      try {
        const { page } = watched;
        const statuses = async (...paths: string[]) =>
          Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
        expect(await statuses('/', '/-/status.json', '/-/assets/landing.css')).to.deep.equal(
          Array(3).fill(landing ? 200 : 404),
        );
        expect(await statuses('/docs', '/doc', '/-/assets/swagger-ui.js')).to.deep.equal(
          Array(3).fill(documentation ? 200 : 404),
        );
        // Then `/` is an address like any other that the interface does not have.
        const { code } = (await (await fetch(`${url}${landing ? '/docs' : '/'}`)).json().catch(() => ({}))) as {
          code?: string;
        };
        expect(code).to.equal(landing && documentation ? undefined : 'rest_no_route');
        expect((await fetch(`${calendar}/events`)).status).to.equal(200);
        if (landing) {
          await page.goto(`${url}/`);
          await page.locator('#calendar [data-event]').first().waitFor();
          expect(await page.getByRole('link', { name: /documentation/i }).count()).to.equal(0);
        }
        if (documentation) {
          await page.goto(`${url}/docs`);
          await page.locator('.opblock').first().waitFor();
          expect(await page.getByRole('link', { name: 'Calendar', exact: true }).count()).to.equal(0);
        }
        if (landing || documentation) expect(await watched.problems()).to.deep.equal([]);
      } finally {
        await watched.close();
        await stop();
      }
    });
  }
});

async function untilAnswered(url: string): Promise<void> {
  const answers = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; !(await answers()); tries++) {
    if (tries > 300) throw new Error(`${url} does not answer`);
    await new Promise((later) => setTimeout(later, 50));
  }
}
