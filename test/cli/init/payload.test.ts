// `init` in front of a Payload site: the copy of the bundled mapping that it writes, and the plugin of the site.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { init } from '../../../src/cli/init/init.ts';
import { parseInitOptions } from '../../../src/cli/init/options.ts';
import { loadConfig } from '../../../src/config.ts';
import { ConfigError } from '../../../src/errors.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import { type FakePayload, startFakePayload } from '../fake-payload.ts';

const KEY = '3b241101-e2bb-4255-8caf-4136c566a962';

describe('init with Payload', () => {
  let site: FakePayload;
  let folder: string;
  let printed: string[];

  beforeEach(async () => {
    printed = [];
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-'));
    site = await startFakePayload({ collections: { gigs: { fields: ['name'], docs: [] } } });
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: Record<string, string | boolean | string[]>, env = {}): Promise<number> =>
    init(
      parseInitOptions({ out: join(folder, 'made'), yes: true, ...args }, [site.url], env),
      (line) => void printed.push(line),
    );

  it('rejects an account without its key, and a key without an account', async () => {
    for (const [args, env] of [
      [{ user: 'members' }, {}],
      [{}, { CALENDAR_UPSTREAM_PASSWORD: KEY }],
    ] as const) {
      const error = await run(args, env).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as ConfigError).message).to.match(/^--user: .*API key/);
    }
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('writes a copy of the bundled mapping for the operator to edit, and says so', async () => {
    expect(await run({ user: 'members' }, { CALENDAR_UPSTREAM_PASSWORD: KEY })).to.equal(0);
    expect(readdirSync(join(folder, 'made')).sort()).to.deep.equal(['config.json', 'mapping.json']);
    const config = loadConfig({ file: join(folder, 'made/config.json'), env: { CALENDAR_UPSTREAM_PASSWORD: KEY } });
    expect(config.upstream).to.include({ url: site.url, user: 'members' });
    const { file: source } = loadMapping(config.mapping);
    // The time zone of the example site is not that of this one: check asks for it.
    expect(source.payload).to.deep.equal({ users: 'members' });
    expect(source.event).to.deep.equal(loadMapping('payload').file.event);
    const { $schema } = source as { $schema?: string };
    expect(existsSync(join(folder, 'made', $schema ?? 'no schema'))).to.equal(true);
    expect(printed.join('\n')).to.include('a copy of the mapping payload, which you edit');
    expect(readFileSync(join(folder, 'made/config.json'), 'utf8')).to.not.include(KEY);
    expect(printed.at(-1)).to.include('serve --config');
    expect(printed.at(-2)).to.include('check --config');
  });

  it('writes nothing without --yes', async () => {
    expect(await run({ yes: false })).to.equal(1);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('writes the plugin that sends webhooks, which holds no secret, and its secret', async () => {
    await run({ 'webhook-url': 'http://10.0.0.5:3001/-/changes' });
    expect(printed.join('\n')).to.match(/put \S*made\/calendar-gateway\.ts next to payload\.config\.ts/);
    const files = ['calendar-gateway.ts', 'config.json', 'mapping.json', 'secrets.env'];
    expect(readdirSync(join(folder, 'made')).sort()).to.deep.equal(files);
    const secrets = readFileSync(join(folder, 'made/secrets.env'), 'utf8');
    expect(secrets).to.match(/^CALENDAR_WEBHOOK_SECRET="\S{32}"\n$/);
    const plugin = readFileSync(join(folder, 'made/calendar-gateway.ts'), 'utf8');
    const collections = "const COLLECTIONS = ['events', 'venues', 'organizers', 'categories', 'tags', 'media'];";
    expect(plugin).to.include('"http://10.0.0.5:3001/-/changes"').and.to.include(collections);
    expect(plugin).to.not.include(/"(.+)"/.exec(secrets)![1]);
  });

  it('refuses what it would have to ignore: a mapping, a collection or a field of WordPress', async () => {
    for (const args of [{ mapping: 'acf' }, { 'event-type': 'gigs' }, { field: ['event.cost=price'] }]) {
      const failure = await run(args).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ConfigError).and.to.have.property('message').that.includes('are for WordPress');
    }
    expect(await run({ mapping: 'payload' })).to.equal(0);
  });
});
