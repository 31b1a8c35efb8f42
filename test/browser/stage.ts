// What the pages' tests need: a real WordPress with a town's calendar, gateways in front of it, a browser, and pages that are watched.

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { townCalendar, townToday } from '../../sandbox/town/content.ts';
import { fillTown } from '../../sandbox/town/fill.ts';
import { startDemoGateway } from '../../sandbox/town/gateway.ts';
import { freePort } from '../free-port.ts';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export interface GatewayPlace {
  url: string;
  port: number;
  /** The interface: `http://127.0.0.1:PORT/calendar/events/v1`. */
  calendar: string;
  adminUrl: string;
  stop(): Promise<void>;
}

export interface GatewaySettings {
  /** Default: the sandbox. */
  upstreamUrl?: string;
  /** Keys of the configuration file. */
  config?: object;
}

export interface Stage {
  sandbox: Sandbox;
  gateway: GatewayPlace;
  browser: Browser;
  close(): Promise<void>;
}

let current: Stage | undefined;
/** What the tests began; a test that fails early leaves them running. */
const begun = new Set<() => Promise<void>>();

/** What the runner opened. */
export function stage(): Stage {
  if (!current) throw new Error('these tests are run by npm run test:browser');
  return current;
}

/** Says what is missing, and where it comes from. */
export const browserLack = (): string | undefined =>
  existsSync(CHROMIUM) ? undefined : `no ${CHROMIUM}: apt-get install chromium, or name another in CHROMIUM`;

/** Whoever is root has no sandbox of Chromium's own. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

/** Starts it all; the runner's. */
export async function openStage(dir: string, say: (text: string) => void): Promise<Stage> {
  const lack = browserLack();
  if (lack) throw new Error(lack);
  const ends: (() => Promise<void>)[] = [];
  const close = async () => {
    await Promise.allSettled([...begun].map((end) => end()));
    for (const end of ends) await end();
  };
  try {
    const sandbox = await startSandbox({ dir, port: 0, fresh: true });
    ends.unshift(() => sandbox.stop());
    const gateway = await beginGateway(sandbox).then(({ ready }) => ready);
    const { user, applicationPassword } = sandbox.credentials.editor;
    await fillTown(townCalendar(townToday()), {
      ...{ calendar: gateway.calendar, siteUrl: sandbox.url, user, applicationPassword },
      parallel: sandbox.way === 'native' ? 4 : 1,
      onProgress: () => {},
    });
    say(`a town's calendar at ${gateway.url}`);
    const browser = await startBrowser();
    ends.unshift(() => browser.close());
    say(`Chromium ${browser.version()}`);
    current = { sandbox, gateway, browser, close };
    return current;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts a gateway; `ready` settles when its copy is complete. */
export async function beginGateway(
  sandbox: Sandbox,
  settings: GatewaySettings = {},
): Promise<{ url: string; ready: Promise<GatewayPlace> }> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const dir = mkdtempSync(join(tmpdir(), 'calendar-browser-'));
  const configFile = join(dir, 'config.json');
  writeFileSync(configFile, JSON.stringify(settings.config ?? {}));
  const { upstreamUrl } = settings;
  const started = startDemoGateway(
    sandbox,
    { port, adminPort, configFile, logFile: join(dir, 'gateway.log') },
    {
      ...(upstreamUrl === undefined ? {} : { CALENDAR_UPSTREAM_URL: upstreamUrl }),
      CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
      CALENDAR_SYNC_INTERVAL: '1',
    },
    () => {},
  );
  const ready = started.then(({ stop }) => ({
    ...{ url, port, adminUrl, stop },
    calendar: `${url}/calendar/events/v1`,
  }));
  ready.then(
    ({ stop }) => begun.add(stop),
    () => {}, // whoever waits for it is told
  );
  return { url, ready };
}

/** How a page is looked at. */
export const LOOKS = {
  'on a desktop, light': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  'on a desktop, dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  'on a phone, light': { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
  'on a phone, dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true },
} satisfies Record<string, BrowserContextOptions>;

export interface Watched {
  page: Page;
  /** Errors and warnings of the console, errors of scripts, failed and foreign requests, violations of the policy; asked at the end. */
  problems(): Promise<string[]>;
  close(): Promise<void>;
}

/** A page of its own that notes everything that goes wrong in it. `origin` is the only one that may be asked. */
export async function openPage(
  look: BrowserContextOptions,
  origin = stage().gateway.url,
  browser = stage().browser,
): Promise<Watched> {
  const context = await browser.newContext({ locale: 'en-US', ...look });
  await context.addInitScript({ path: join(import.meta.dirname, 'in-page.mjs') });
  const page = await context.newPage();
  const found: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) found.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => found.push(`error in a script: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!`${url}/`.startsWith(`${origin}/`) && !/^(data|about|blob):/.test(url)) found.push(`asked elsewhere: ${url}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The page itself gives up what it asks anew.
    if (reason !== 'net::ERR_ABORTED') found.push(`failed: ${request.url()} ${reason}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 500) found.push(`answered with ${response.status()}: ${response.url()}`);
  });
  return {
    page,
    async problems() {
      const violations = await page.evaluate<string[]>('inPage.violations');
      return [...found, ...violations.map((one) => `against the policy: ${one}`)];
    },
    close: () => context.close(),
  };
}

/** Pages that the tests of a `describe` open, one in a test: each is closed behind it, which fails where anything went wrong in it. */
export function watchedPages(): { open(look: BrowserContextOptions): Promise<Page>; close(): Promise<void> } {
  let watched: Watched | undefined;
  afterEach(async () => {
    const [ended, problems] = [watched, await watched?.problems()];
    watched = undefined;
    await ended?.close();
    expect(problems ?? []).to.deep.equal([]);
  });
  return {
    async open(look) {
      watched = await openPage(look);
      return watched.page;
    },
    /** Before the end of its test, and whatever went wrong in it. */
    async close() {
      await watched?.close();
      watched = undefined;
    },
  };
}

/** The names that assistive technology has for what can be operated; those without one are the second list. */
export async function controls(page: Page): Promise<{ named: string[]; nameless: string[] }> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const operated = /^(button|link|textbox|searchbox|combobox|checkbox|radio|tab|switch|slider|spinbutton|menuitem)$/i;
  const all = nodes
    .filter(({ ignored, role }) => !ignored && operated.test(role?.value ?? ''))
    .map(({ role, name, backendDOMNodeId }) => ({ role: role!.value, name: name?.value.trim(), id: backendDOMNodeId }));
  return {
    named: all.filter(({ name }) => name).map(({ role, name }) => `${role} ${name}`),
    nameless: all.filter(({ name }) => !name).map(({ role, id }) => `${role} (node ${id})`),
  };
}

const WAIT_MS = 20_000;

/** Waits until the expression is true in the page. Playwright's own way would evaluate text, which the page's policy forbids. */
export async function until(page: Page, expression: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > endMs) throw new Error(`not true within ${WAIT_MS / 1000} s: ${expression}`);
    await page.waitForTimeout(50);
  }
}

/** The page asks for the state every few seconds and whenever it is seen again: so that a test need not wait. */
export const seenAgain = (page: Page): Promise<void> =>
  page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** Waits for something that the state tells. */
export async function untilTold(page: Page, place: Locator): Promise<void> {
  const endMs = performance.now() + WAIT_MS;
  while (!(await place.isVisible())) {
    if (performance.now() > endMs) throw new Error(`not told within ${WAIT_MS / 1000} s: ${place}`);
    await seenAgain(page);
    await page.waitForTimeout(200);
  }
}

const shots = process.env.SCREENSHOTS;

/** Keeps a picture for a person to look at, where SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  if (shots === undefined) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name.replace(/\W+/g, '-')}.png`), fullPage });
}
