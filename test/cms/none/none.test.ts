// A gateway whose configuration has sources and no CMS: what it serves, refuses, and says of itself.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { init } from '../../../src/cli/init/init.ts';
import { parseInitOptions } from '../../../src/cli/init/options.ts';
import { loadConfig } from '../../../src/config.ts';
import { Gateway } from '../../../src/gateway.ts';
import { sendWebhook } from '../../cli/check/followed-advice.ts';
import { freePort, freePorts } from '../../free-port.ts';
import { type Json, MOUNT, ROOT, sendRequest } from '../../start-gateway.ts';
import { until } from '../../until.ts';

const calendarOf = (uid: string, ...lines: string[]) =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:test', 'BEGIN:VEVENT', `UID:${uid}`, ...lines],
    ...['END:VEVENT', 'END:VCALENDAR', ''],
  ].join('\r\n');

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  json?: object;
}

/** Its time has no zone: it is one of the calendar's. */
const CONCERT = ['DTSTART:20350115T200000', 'DTEND:20350115T220000', 'SUMMARY:Concert', 'LOCATION:Old Hall'];
const PLAY = ['DTSTART:20350116T180000Z', 'DTEND:20350116T200000Z', 'SUMMARY:Play'];

/** Auckland is 13 hours ahead of UTC in January, and Kolkata five and a half. */
const ZONE = 'Pacific/Auckland';
const OTHER_ZONE = 'Asia/Kolkata';

/** A web server with two calendars, of which one answers when the test lets it. */
async function startCalendars() {
  const library = Promise.withResolvers<void>();
  let isBroken = false;
  const server = createServer(async ({ url, headers }, response) => {
    if (url === '/library.ics') await library.promise;
    if (isBroken || !['/library.ics', '/theatre.ics'].includes(url!)) return response.writeHead(500).end();
    if (headers['if-none-match'] === '"1"') return response.writeHead(304).end();
    response.setHeader('ETag', '"1"');
    return response.end(url === '/library.ics' ? calendarOf('concert', ...CONCERT) : calendarOf('play', ...PLAY));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    addressOf: (name: string) => `${origin}/${name}.ics`,
    answer: () => library.resolve(),
    fail: () => {
      isBroken = true;
      library.resolve();
    },
    close: () => {
      library.resolve();
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('a gateway without a CMS', () => {
  const machineZone = process.env.TZ;
  let calendars: Awaited<ReturnType<typeof startCalendars>>;
  let folder: string;
  let gateway: Gateway | undefined;
  let ports: [port: number, adminPort: number];
  const file = () => join(folder, 'config.json');

  beforeEach(async () => {
    process.env.TZ = ZONE;
    calendars = await startCalendars();
    folder = mkdtempSync(join(tmpdir(), 'calendar-no-cms-'));
    ports = await freePorts();
    writeConfig();
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
    calendars.close();
    rmSync(folder, { recursive: true, force: true });
    if (machineZone === undefined) delete process.env.TZ;
    else process.env.TZ = machineZone;
  });

  function writeConfig(more: object = {}) {
    const [port, adminPort] = ports;
    const sources = ['library', 'theatre'].map((name) => ({ name, icalendar: calendars.addressOf(name) }));
    const listen = { host: '127.0.0.1', port, adminPort };
    const config = { sources, listen, sync: { privateSources: true }, dataDir: 'data', ...more };
    writeFileSync(file(), JSON.stringify(config));
  }
  async function start() {
    gateway = new Gateway(loadConfig({ file: file(), env: {} }), () => {});
    await gateway.start();
  }
  async function request(path: string, { method, headers, json }: Sent = {}) {
    const body = json && { body: JSON.stringify(json), method: method ?? 'POST' };
    const type = json && { 'content-type': 'application/json' };
    const sent = { ...(method && { method }), headers: { ...type, ...headers }, ...body };
    const { status, text } = await sendRequest(ports[0], path, sent);
    return { status, text, body: parsed(text) };
  }
  const api = (path: string, sent?: Sent) => request(MOUNT + path, sent);
  const admin = (path: string) =>
    sendRequest(ports[1], path).then(({ status, text }) => ({ status, body: JSON.parse(text) }));
  const untilReady = () => until(async () => (await admin('/ready')).status === 200, 'ready');
  const eventsOf = async () => (await api('/events?start_date=2035-01-01&end_date=2035-12-31')).body.events as Json[];
  const startReady = async () => {
    calendars.answer();
    await start();
    await untilReady();
  };

  it('is ready, and has lists, once each source has been read', async () => {
    await start();
    await until(async () => (await admin('/status')).body.sources[1].events === 1, 'the theatre');
    expect((await admin('/ready')).status).to.equal(503);
    for (const headers of [{}, { 'cache-control': 'no-cache' }]) {
      const early = await api('/events', { headers });
      expect([early.status, early.body.code]).to.deep.equal([503, 'calendar_not_ready']);
    }
    expect((await api('/events', { json: { title: 'New' } })).status).to.equal(403);
    expect((await request('/?view=month')).status).to.equal(503);
    calendars.answer();
    await untilReady();
    expect((await eventsOf()).map(({ title }) => title)).to.deep.equal(['Concert', 'Play']);
    expect((await admin('/ready?strict=1')).status).to.equal(200);
  });

  it('is ready without the sources that cannot be read, and says which', async () => {
    calendars.fail();
    await start();
    await untilReady();
    expect((await eventsOf()).length).to.equal(0);
    const { sources } = (await admin('/status')).body;
    expect(sources.map(({ problem }: Json) => problem)).to.have.length(2);
    for (const { problem } of sources) expect(problem).to.match(/500/);
  });

  it('stops while a source is being read', async () => {
    await start();
    await gateway!.stop();
    // The next start does not take the calendar for complete.
    await start();
    expect((await admin('/ready')).status).to.equal(503);
  });

  it('serves the API, feeds, pages and changes in the time zone of the machine', async () => {
    await startReady();
    const [concert, play] = await eventsOf();
    expect(concert).to.include({ start_date: '2035-01-15 20:00:00', utc_start_date: '2035-01-15 07:00:00' });
    expect(play).to.include({ title: 'Play', utc_start_date: '2035-01-16 18:00:00', source: 'theatre' });
    expect((await api(`/events/${play!.id}`)).body.title).to.equal('Play');
    expect((await api('/venues')).body.venues.map(({ venue }: Json) => venue)).to.deep.equal(['Old Hall']);
    expect((await api('/events/7')).body.code).to.equal('rest-event-not-found');
    expect((await api('/events.ics?start_date=2035-01-01&end_date=2035-12-31')).text).to.match(
      /SUMMARY:Concert[\s\S]*SUMMARY:Play/,
    );
    expect((await api('/events.atom?start_date=2035-01-01&end_date=2035-12-31')).text).to.include('Concert');
    expect((await request('/?view=month&month=2035-01')).text).to.match(/Concert[\s\S]*Play/);
    expect((await api('/changes')).status).to.equal(200);
    expect((await api('/doc')).body.openapi).to.be.a('string');
  });

  it('shows each category at its own address', async () => {
    const sources = [{ name: 'theatre', icalendar: calendars.addressOf('theatre'), categories: ['Stage'] }];
    writeConfig({ sources, publicUrl: `http://127.0.0.1:${ports[0]}` });
    await startReady();
    const [category] = (await api('/categories')).body.categories;
    const { href } = (await api(`/categories/${category.id}`)).body._links.self[0];
    const own = await fetch(href);
    expect([own.status, ((await own.json()) as Json).name]).to.deep.equal([200, 'Stage']);
  });

  it('answers every write with the same 403, with and without credentials', async () => {
    await startReady();
    const [{ id }] = (await eventsOf()) as [Json];
    const headers = { authorization: `Basic ${btoa('admin:secret')}` };
    for (const [method, path] of [
      ...(['events', 'venues', 'organizers', 'categories', 'tags'] as const).map((list) => ['POST', `/${list}`]),
      ...[
        ['PUT', `/events/${id}`],
        ['DELETE', `/events/${id}`],
        ['DELETE', '/events/7'],
        ['POST', '/venues/7'],
      ],
    ] as [string, string][])
      for (const options of [{}, { headers }]) {
        const { status, body } = await api(path, { method, json: { title: 'New' }, ...options });
        expect([status, body.code], `${method} ${path}`).to.deep.equal([403, 'calendar_source_read_only']);
        expect(body.message).to.match(/no CMS/);
      }
  });

  it('takes callers with credentials, and for drafts, as anonymous', async () => {
    await startReady();
    for (const authorization of [`Basic ${btoa('admin:secret')}`, 'Bearer token', 'nonsense']) {
      const path = '/events?start_date=2035-01-01&end_date=2035-12-31';
      const { status, body } = await api(path, { headers: { authorization } });
      expect([status, body.total], authorization).to.deep.equal([200, 2]);
    }
    const asked = await api('/events?start_date=2035-01-01&end_date=2035-12-31&status=draft');
    const withToken = { headers: { authorization: 'Bearer token' } };
    const drafts = await api('/events?start_date=2035-01-01&end_date=2035-12-31&status=draft', withToken);
    expect(drafts.body).to.deep.equal(asked.body);
    expect([asked.status, Object.keys(asked.body.data.params)]).to.deep.equal([400, ['status']]);
  });

  it('lets assistants search, and answers those that write with the error of the API', async () => {
    writeConfig({ mcp: 'write' });
    await startReady();
    const call = async (name: string, args: object) => {
      const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
      const headers = { accept: 'application/json, text/event-stream' };
      return (await request('/mcp', { json, headers })).body.result;
    };
    const found = await call('search_events', { start_date: '2035-01-01', starts_before: '2035-12-31' });
    expect(found.structuredContent.events.map(({ title }: Json) => title)).to.deep.equal(['Concert', 'Play']);
    const day = { start_date: '2035-02-01 10:00', end_date: '2035-02-01 11:00' };
    const refused = await call('create_event', { title: 'New', ...day });
    expect([refused.isError, refused.structuredContent.code]).to.deep.equal([true, 'calendar_source_read_only']);
  });

  it('says in its status that it has no CMS, and takes webhooks for nothing', async () => {
    writeConfig({ webhook: { secret: 'shared by both' } });
    await startReady();
    const { body } = await admin('/status');
    expect(body.cms.note).to.match(/^no CMS/);
    expect(body).to.not.have.any.keys('mapping', 'readAs');
    expect(body).to.include({ state: 'live', complete: true });
    await sendWebhook(ports[1], 'shared by both', ['events']);
    expect((await admin('/ready?strict=1')).status).to.equal(200);
  });

  it('serves what it has at once after a restart, under the same ids', async () => {
    await startReady();
    const before = await eventsOf();
    await gateway!.stop();
    calendars.close();
    await start();
    expect((await admin('/ready')).status).to.equal(200);
    expect((await eventsOf()).map(({ id }) => id)).to.deep.equal(before.map(({ id }) => id));
  });

  it('takes times without a zone for those of another one after a restart there', async () => {
    await startReady();
    await gateway!.stop();
    process.env.TZ = OTHER_ZONE;
    await start();
    const concert = async () => (await eventsOf())[0]!.utc_start_date;
    await until(async () => (await concert()) === '2035-01-15 14:30:00', 'the concert in another zone');
    expect((await eventsOf())[1]).to.include({ utc_start_date: '2035-01-16 18:00:00' });
  });

  it('takes over another public URL, which is in the UID of each event, only at a restart', async () => {
    await startReady();
    const config = loadConfig({ file: file(), env: {} });
    const ofSite = [{ publicUrl: 'https://calendar.example.org' }, { pages: { ...config.pages, name: 'Other' } }];
    for (const change of ofSite)
      expect(await gateway!.reload({ ...config, ...change }).catch(String)).to.include(
        'publicUrl or pages.name: changed',
      );
    expect(await gateway!.reload({ ...config, lists: { ...config.lists, perPage: 7 } })).to.deep.equal(['lists']);
  });
});

describe('the commands without a CMS', () => {
  let calendars: Awaited<ReturnType<typeof startCalendars>>;
  let folder: string;
  const out = () => join(folder, 'calendar-gateway');
  const file = () => join(out(), 'config.json');
  const env: Record<string, string> = { CALENDAR_SYNC_PRIVATE_SOURCES: 'true' };
  const runInit = async (address: string, yes: boolean, environment: object = env) => {
    const printed: string[] = [];
    const options = parseInitOptions({ out: out(), yes }, [address], { ...environment });
    const code = await init(options, (line) => void printed.push(line));
    return { code, text: printed.join('\n') };
  };
  /** Runs the command as an operator does. */
  const run = (command: string) =>
    new Promise<{ code: unknown; text: string }>((resolve) => {
      const args = ['src/main.ts', command, '--config', file()];
      const options = { cwd: ROOT, env: { PATH: process.env.PATH, ...env } };
      execFile(process.execPath, args, options, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, text: stdout + stderr }),
      );
    });

  beforeEach(async () => {
    calendars = await startCalendars();
    calendars.answer();
    // Nothing listens there.
    env.CALENDAR_ADMIN_PORT = String(await freePort());
    folder = mkdtempSync(join(tmpdir(), 'calendar-no-cms-'));
  });
  afterEach(() => {
    calendars.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('init begins a configuration in an empty folder, and adds to it', async () => {
    const shown = await runInit(calendars.addressOf('library'), false);
    expect(shown.code, shown.text).to.equal(1);
    expect(shown.text).to.match(/Concert.*Old Hall[\s\S]*CMS +none[\s\S]*Nothing is written/);
    for (const name of ['library', 'theatre']) {
      const { code, text } = await runInit(calendars.addressOf(name), true);
      expect(code, text).to.equal(0);
    }
    const sources = [
      { name: '127-0-0-1', icalendar: calendars.addressOf('library') },
      { name: '127-0-0-1-2', icalendar: calendars.addressOf('theatre') },
    ];
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.deep.equal({ sources });
    expect(loadConfig({ file: file(), env: {} })).to.deep.include({ sources });
  });

  it('init keeps to public networks unless the operator allows others', async () => {
    const refused = await runInit(calendars.addressOf('library'), true, {}).catch((error: Error) => error.message);
    expect(refused).to.match(/not a public host.*CALENDAR_SYNC_PRIVATE_SOURCES=true/s);
  });

  it('check reads the sources, config shows the settings, and health asks the admin port', async () => {
    await runInit(calendars.addressOf('library'), true);
    const checked = await run('check');
    expect(checked.code, checked.text).to.equal(0);
    expect(checked.text).to.match(/site +address +no CMS/);
    expect(checked.text).to.match(/sources +127-0-0-1 +1 event/);
    const shown = await run('config');
    expect([shown.code, JSON.parse(shown.text).sources]).to.deep.equal([0, '(secret)']);
    expect(JSON.parse(shown.text).upstream).to.not.have.property('url');
    const asked = await run('health');
    expect(asked.code, asked.text).to.equal(1);
    expect(asked.text).to.match(/does not answer/);
  });

  it('check names the source that cannot be read', async () => {
    await runInit(calendars.addressOf('library'), true);
    calendars.fail();
    const { code, text } = await run('check');
    expect(code, text).to.equal(1);
    expect(text).to.match(/fail +sources +127-0-0-1 .*500/);
  });
});

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    // A page or a calendar file.
    return undefined;
  }
}
