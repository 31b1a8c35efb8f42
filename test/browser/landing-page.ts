// What the tests of the landing page share: its elements, and events that they create.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { basicAuth, sendJson } from '../live/json-client.ts';
import { controls, harness, type watchedPages } from './harness.ts';

/** A day of the current month at the site: `2027-03-10`. */
export const inThisMonth = (day: number): string => {
  const today = new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York' }).format(new Date());
  return `${today.slice(0, 8)}${String(day).padStart(2, '0')}`;
};

/** Sends an API request as the administrator. */
export async function ask(method: string, path: string, json?: object) {
  const { sandbox, gateway } = harness();
  const { status, body } = await sendJson<{
    id: number;
    title: string;
    total: number;
    events: { id: number; title: string }[];
  }>(`${gateway.calendar}${path}`, { method, json, authorization: basicAuth(sandbox.credentials.admin) });
  expect(status, `${method} ${path}`).to.be.within(200, 201);
  return body;
}

export const newEvent = (title: string, more: object = {}) =>
  ask('POST', '/events', {
    ...{ title, status: 'publish' },
    ...{ start_date: `${inThisMonth(10)} 19:00`, end_date: `${inThisMonth(10)} 21:00`, ...more },
  });

export const events = (page: Page) => page.locator('#events [data-event]:visible');
export const named = (page: Page, title: string) => events(page).filter({ hasText: title });
export const title = (page: Page) => page.locator('h1:visible');

/** Everything that axe-core (https://github.com/dequelabs/axe-core) finds, and where. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

interface AxeResults {
  violations: { id: string; nodes: { html: string }[] }[];
}
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Opens the page and waits for its events. */
export async function openLanding(
  pages: ReturnType<typeof watchedPages>,
  device: BrowserContextOptions,
  query = '',
): Promise<Page> {
  const page = await pages.open(device);
  await page.goto(`${harness().gateway.url}/${query}`);
  await events(page).first().waitFor();
  return page;
}

/** The page fits, is legible, and axe-core finds nothing. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await page.evaluate('inPage.faintText()')).to.deep.equal([]);
  expect((await controls(page)).unnamed).to.deep.equal([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
  expect(await barriers(page)).to.deep.equal([]);
}
