// `init` with the address of a calendar.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { init } from '../../../src/cli/init/init.ts';
import { parseInitOptions } from '../../../src/cli/init/options.ts';
import { loadConfig } from '../../../src/config.ts';
import { startFeedSite } from '../feed-site.ts';

describe('init for a calendar', () => {
  let site: Awaited<ReturnType<typeof startFeedSite>>;
  let folder: string;
  let printed: string[];
  const file = () => join(folder, 'config.json');
  const run = (address: string, more = {}) => {
    printed = [];
    return init(parseInitOptions({ out: folder, ...more }, [address], {}), (line) => void printed.push(line));
  };
  /** The message of a run that fails. */
  const errorOf = (address: string, more = {}): Promise<string> =>
    run(address, more).then(
      () => 'none',
      (error: Error) => error.message,
    );
  const writeConfig = (more = {}) =>
    writeFileSync(
      file(),
      JSON.stringify({ upstream: { url: 'https://town.example' }, sync: { privateSources: true }, ...more }),
    );

  before(async () => {
    site = await startFeedSite();
  });
  after(() => site.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-source-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('shows its events and what is left out, and writes only with --yes', async () => {
    writeConfig();
    expect(await run(site.feed)).to.equal(1);
    const output = printed.join('\n');
    expect(output).to.include('2035-01-01 10:00 UTC · Jazz & Blues · Old Hall');
    expect(output).to.match(/Remark {6}1 × no start \(such as broken\)/);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.not.have.property('sources');
    expect(await run(site.feed, { yes: true })).to.equal(0);
    expect(loadConfig({ file: file(), env: {} })).to.deep.include({
      sources: [{ name: '127-0-0-1', icalendar: site.feed }],
    });
    expect(await run(site.feed, { yes: true })).to.equal(1);
    expect(printed.at(-1)).to.match(/has it already, as 127-0-0-1/);
  });

  it('gives a second calendar of one host another name, and keeps the first', async () => {
    const first = { name: '127-0-0-1', icalendar: 'https://other.example/a.ics' };
    writeConfig({ sources: [first] });
    expect(await run(site.feed, { yes: true })).to.equal(0);
    const second = { name: '127-0-0-1-2', icalendar: site.feed };
    expect(loadConfig({ file: file(), env: {} }).sources).to.deep.equal([first, second]);
  });

  it('says why it cannot be read or written', async () => {
    expect(await errorOf(site.feed)).to.match(/127\.0\.0\.1 is not a public host.*privateSources/s);
    expect(existsSync(file())).to.equal(false);
    writeFileSync(file(), '[]');
    expect(await errorOf(site.feed, { yes: true })).to.match(/config\.json: is not a JSON object/);
    writeConfig();
    expect(await errorOf(site.page, { yes: true })).to.match(/^the calendar: .*a web page/);
    expect(loadConfig({ file: file(), env: {} }).sources).to.deep.equal([]);
  });

  it('knows a calendar by its address', () => {
    const sourceOf = (address: string) => parseInitOptions({}, [address], {}).source;
    expect(sourceOf('library.example/events.ics?k=1')).to.deep.equal({
      icalendar: 'https://library.example/events.ics?k=1',
    });
    expect(sourceOf('webcal://library.example/a.ICS')).to.deep.equal({ icalendar: 'https://library.example/a.ICS' });
    expect(sourceOf('https://town.example/events/?ical=1')).to.deep.equal({
      icalendar: 'https://town.example/events/?ical=1',
    });
    expect(sourceOf('https://theatre.example/wp-json/tribe/events/v1/')).to.deep.equal({
      events: 'https://theatre.example/wp-json/tribe/events/v1/',
    });
    expect(sourceOf('https://town.example/wp-json')).to.equal(undefined);
  });
});
