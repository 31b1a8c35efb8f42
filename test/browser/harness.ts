// Browser test harness: a real WordPress with a town's calendar, gateways in front of it, a browser, and
// watched pages.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { townCalendar, townToday } from '../../sandbox/town/content.ts';
import { fillTown, wordPressUpload } from '../../sandbox/town/fill.ts';
import { freePorts } from '../free-port.ts';
import { basicAuth } from '../live/json-client.ts';
import { type GatewayProcess, MOUNT, startGateway } from '../start-gateway.ts';

/** PHP as WebAssembly on a busy machine. */
const READY_MS = 600_000;
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export interface BrowserGateway extends GatewayProcess {
  /** URL of the API: `http://127.0.0.1:PORT/calendar/events/v1`. */
  calendar: string;
}

export interface GatewaySettings {
  /** Default: the sandbox. */
  cmsUrl?: string;
  /** Keys of the configuration file. */
  config?: object;
}

export interface Harness {
  sandbox: Sandbox;
  gateway: BrowserGateway;
  browser: Browser;
}

let current: Harness | undefined;
/** In the order of the start. Gateways of tests too, since a test that fails early leaves them running. */
const ends: (() => Promise<unknown>)[] = [];

/** The harness of `mochaGlobalSetup`. */
export function harness(): Harness {
  if (!current) throw new Error('these tests are run by npx mocha --config test/browser/.mocharc.json');
  return current;
}

/** Throws an error that says how to install a missing browser. */
export function requireBrowser(): void {
  if (!existsSync(CHROMIUM)) throw new Error(`no ${CHROMIUM}: apt-get install chromium, or name another in CHROMIUM`);
}

/** Chromium's sandbox does not work for root. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

/** Starts site, gateway and browser before all tests. */
export async function mochaGlobalSetup(): Promise<void> {
  requireBrowser();
  const dir = mkdtempSync(join(tmpdir(), 'calendar-pages-'));
  ends.push(async () => rmSync(dir, { recursive: true, force: true }));
  try {
    const sandbox = await startSandbox({ dir, port: 0, fresh: true });
    ends.push(() => sandbox.stop());
    const gateway = await startBrowserGateway(sandbox).then(({ ready }) => ready);
    const authorization = basicAuth(sandbox.credentials.editor);
    await fillTown(townCalendar(townToday()), {
      ...{ calendar: gateway.calendar, authorization, upload: wordPressUpload(sandbox.url, authorization) },
      parallel: sandbox.phpRuntime === 'native' ? 4 : 1,
      onProgress: () => {},
    });
    const browser = await startBrowser();
    ends.push(() => browser.close());
    console.log(`Chromium ${browser.version()}, a town's calendar at ${gateway.url}`);
    current = { sandbox, gateway, browser };
  } catch (error) {
    await mochaGlobalTeardown();
    throw error;
  }
}

export async function mochaGlobalTeardown(): Promise<void> {
  for (const end of ends.reverse()) await end();
}

/** Starts a gateway; `ready` settles after its initial sync. */
export async function startBrowserGateway(
  sandbox: Sandbox,
  { cmsUrl = sandbox.url, config = {} }: GatewaySettings = {},
): Promise<{ url: string; ready: Promise<BrowserGateway> }> {
  const { user, applicationPassword: password } = sandbox.credentials.admin;
  const [port, adminPort] = await freePorts();
  const gateway = await startGateway({
    ...{ transport: 'process', cmsUrl, service: { user, password }, config, ports: { port, adminPort } },
    env: {
      CALENDAR_PUBLIC_URL: `http://127.0.0.1:${port}`,
      CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
      CALENDAR_SYNC_INTERVAL: '1',
    },
  });
  ends.push(() => gateway.stop());
  const { url } = gateway;
  const ready = gateway.untilReady(READY_MS).then(() => ({ ...gateway, calendar: `${url}${MOUNT}` }));
  return { url, ready };
}

/** Devices and colour schemes. */
export const DEVICES = {
  'on a desktop, light': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  'on a desktop, dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  'on a phone, light': { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
  'on a phone, dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true },
} satisfies Record<string, BrowserContextOptions>;

export interface WatchedPage {
  page: Page;
  /**
   * Console errors and warnings, script errors, failed and cross-origin requests, violations of the Content
   * Security Policy.
   */
  problems(): Promise<string[]>;
  close(): Promise<void>;
}

/** Opens a page that records its problems. It may send requests only to `origin`, and load pictures of the site. */
export async function openPage(
  device: BrowserContextOptions,
  origin = harness().gateway.url,
  browser = harness().browser,
  siteUrl = harness().sandbox.url,
): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-US', ...device });
  await context.addInitScript({ path: join(import.meta.dirname, 'in-page.mjs') });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`error in a script: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    // Pictures of events come from the site.
    const isPicture = request.resourceType() === 'image' && url.startsWith(`${siteUrl}/`);
    if (!`${url}/`.startsWith(`${origin}/`) && !isPicture && !/^(data|about|blob):/.test(url))
      problems.push(`asked elsewhere: ${url}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The page aborts requests that it repeats.
    if (reason !== 'net::ERR_ABORTED') problems.push(`failed: ${request.url()} ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) problems.push(`answered with ${response.status()}: ${response.url()}`);
  });
  return {
    page,
    async problems() {
      const violations = await page.evaluate<string[]>('inPage.violations');
      return [...problems, ...violations.map((violation) => `against the policy: ${violation}`)];
    },
    close: () => context.close(),
  };
}

/**
 * Opens one page per test of a `describe`, and closes it after the test, which fails if the page had
 * problems.
 */
export function watchedPages(): { open(device: BrowserContextOptions): Promise<Page>; close(): Promise<void> } {
  let watched: WatchedPage | undefined;
  afterEach(async () => {
    const [ended, problems] = [watched, await watched?.problems()];
    watched = undefined;
    await ended?.close();
    expect(problems ?? []).to.deep.equal([]);
  });
  return {
    async open(device) {
      watched = await openPage(device);
      return watched.page;
    },
    /** Closes the page before the end of its test and ignores its problems. */
    async close() {
      await watched?.close();
      watched = undefined;
    },
  };
}

/** Accessible names of all controls, and the controls without one. */
export async function controls(page: Page): Promise<{ named: string[]; unnamed: string[] }> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const operated = /^(button|link|textbox|searchbox|combobox|checkbox|radio|tab|switch|slider|spinbutton|menuitem)$/i;
  const all = nodes
    .filter(({ ignored, role }) => !ignored && operated.test(role?.value ?? ''))
    .map(({ role, name, backendDOMNodeId }) => ({ role: role!.value, name: name?.value.trim(), id: backendDOMNodeId }));
  return {
    named: all.filter(({ name }) => name).map(({ role, name }) => `${role} ${name}`),
    unnamed: all.filter(({ name }) => !name).map(({ role, id }) => `${role} (node ${id})`),
  };
}

const WAIT_MS = 20_000;

/**
 * Waits until the expression is true in the page. Playwright's own function uses `eval`, which the page's
 * policy forbids.
 */
export async function until(page: Page, expression: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > endMs) throw new Error(`not true within ${WAIT_MS / 1000} s: ${expression}`);
    await page.waitForTimeout(50);
  }
}

/**
 * Makes the page request the state immediately, as it does when it becomes visible; otherwise it does so
 * every few seconds.
 */
export const triggerRefresh = (page: Page): Promise<void> =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** Waits for an element that depends on the state. */
export async function untilVisible(page: Page, locator: Locator): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await locator.isVisible())) {
    if (performance.now() > endMs) throw new Error(`not visible within ${WAIT_MS / 1000} s: ${locator}`);
    // The page may be reloading.
    await triggerRefresh(page).catch(() => {});
    await page.waitForTimeout(200);
  }
}

const shots = process.env.SCREENSHOTS;

/** Saves a screenshot if SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string, fullPage = false): Promise<void> {
  if (shots === undefined) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name.replace(/\W+/g, '-')}.png`), fullPage });
}
