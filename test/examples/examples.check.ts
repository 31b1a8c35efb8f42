// Each of `examples/` shows the concerts of a gateway.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { requireBrowser, startBrowser } from '../browser/harness.ts';
import { CONCERTS, HTML_TITLE, startTown, type Town } from '../openapi/town.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../examples');
/** Nothing listens on it. */
const UNREACHABLE = 'http://127.0.0.1:9/calendar/events/v1';

/** Runs a program in an example's folder; rejects with its output if it fails. */
async function run(example: string, calendarUrl: string, command: string, ...args: string[]): Promise<void> {
  const env = {
    ...process.env,
    CALENDAR_URL: calendarUrl,
    ASTRO_TELEMETRY_DISABLED: '1',
    NEXT_TELEMETRY_DISABLED: '1',
  };
  await promisify(execFile)(command, args, { cwd: join(EXAMPLES, example), env, maxBuffer: 2 ** 26 }).catch(
    ({ message, stdout, stderr }) => {
      throw new Error([message, stdout, stderr].join('\n'));
    },
  );
}
const build = (example: string, url: string) => run(example, url, 'npm', 'run', '--silent', 'build');
const page = (example: string, file: string) => readFileSync(join(EXAMPLES, example, file), 'utf8');

describe('examples', () => {
  let town: Town;
  before(async () => {
    town = await startTown();
  });
  after(() => town.gateway.stop());

  for (const [example, list] of [
    ['eleventy', '_site/index.html'],
    ['astro', 'dist/index.html'],
    ['nextjs', '.next/server/app/index.html'],
  ] as const)
    it(`${example} lists all concerts`, async () => {
      await run(example, town.url, 'npm', 'ci', '--loglevel=error', '--no-audit', '--no-fund');
      await build(example, town.url);
      const html = page(example, list);
      expect(html.match(/<li[ >]/g)).to.have.length(CONCERTS);
      expect(html).to.contain(HTML_TITLE).and.contain('2027-01-12 19:00').and.contain('Concert 12');
    });

  it('astro has a page for each concert, with its venue', () => {
    expect(page('astro', 'dist/events/concert-12/index.html'))
      .to.contain('<h1>Concert 12</h1>')
      .and.contain('Old Pier');
  });

  it('eleventy builds nothing from a calendar that cannot be reached', async () => {
    let failure: Error | undefined;
    await build('eleventy', UNREACHABLE).catch((error) => {
      failure = error;
    });
    expect(failure?.message).to.contain('fetch failed');
  });

  describe('fetch, in a browser, from another origin than the gateway', () => {
    let browser: Browser;
    before(async () => {
      requireBrowser();
      browser = await startBrowser();
    });
    after(() => browser?.close());

    /** The text of each line of the page that uses this calendar. */
    async function lines(calendarUrl: string): Promise<string[]> {
      const html = page('fetch', 'index.html').replace(/data-calendar="[^"]*"/, `data-calendar="${calendarUrl}"`);
      const server = createServer((_, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end(html));
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const list = tab.locator('#events:not(:has-text("Loading"))');
      await list.waitFor();
      const items = await list.locator('li').allTextContents();
      const text = await list.textContent();
      await tab.close();
      server.closeAllConnections();
      server.close();
      return items.length > 0 ? items : [text ?? ''];
    }

    it('lists all concerts of two pages, with titles as text', async () => {
      const shown = await lines(town.url);
      expect(shown).to.have.length(CONCERTS);
      expect(shown[1]).to.equal('2027-01-02 19:00 Drums & Bass');
    });

    it('says that the calendar cannot be read', async () => {
      expect((await lines(UNREACHABLE)).join()).to.contain('The calendar cannot be read: ');
    });
  });
});
