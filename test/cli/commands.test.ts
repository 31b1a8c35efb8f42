// The help of the commands: every option, and the settings as the schema describes them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { commands, usage } from '../../src/cli/commands.ts';
import { loadConfig, SETTINGS } from '../../src/config.ts';
import { ConfigError } from '../../src/errors.ts';

describe('--help', () => {
  it('names every command', () => {
    for (const name of Object.keys(commands)) expect(usage()).to.match(new RegExp(`^  ${name} `, 'm'));
  });

  it('has a line for each option, with the word for its value and its default', () => {
    expect(commands.init!.help).to.match(/^ {2}--user NAME +the service account/m);
    expect(commands.init!.help).to.match(/^ {2}--yes +write what it proposes$/m);
    expect(commands.init!.help).to.match(/^ {2}--out DIR .*\(default: calendar-gateway\)$/m);
    for (const option of ['config FILE', 'write', 'json']) expect(commands.check!.help).to.include(`\n  --${option} `);
  });

  it('of serve describes settings as the schema does', () => {
    const help = commands.serve!.help.replace(/\s+/g, ' ');
    const described = SETTINGS.filter(({ variable }) => commands.serve!.help.includes(`\n  ${variable} `));
    expect(described.map(({ key }) => key)).to.include.members(['upstream.url', 'dataDir', 'log.level']);
    for (const { variable, description } of described)
      expect(help).to.include(` ${variable} ${description.replace(/\s+/g, ' ')} `);
  });

  it('of serve names only settings that exist', () => {
    const variables = SETTINGS.flatMap(({ variable, fileVariable }) => [variable, fileVariable]);
    const named = commands.serve!.help.match(/\bCALENDAR_[A-Z_]+/g)!;
    expect(named).to.have.length.above(15);
    expect(named.filter((name) => name !== 'CALENDAR_CONFIG' && !variables.includes(name))).to.deep.equal([]);
  });
});

/** The plugin for Payload, as far as this test calls it. */
type CalendarGateway = (options: {
  webhookUrl: string;
  webhookSecret: string;
}) => (config: { collections: { slug: string; hooks?: object }[] }) => typeof config;

describe('plugin --config', () => {
  let folder: string;
  let printed: string;
  const write = process.stdout.write;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-plugin-'));
    printed = '';
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({
        upstream: { url: 'https://www.example.org' },
        mapping: 'acf',
        webhook: { secret: 'of the file' },
      }),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Catches what the command prints. */
  async function plugin(...args: string[]): Promise<number> {
    process.stdout.write = ((text: string) => {
      printed += text;
      return true;
    }) as typeof write;
    try {
      return await commands.plugin!.run(args);
    } finally {
      process.stdout.write = write;
    }
  }

  it("has the gateway's mapping and webhook secret", async () => {
    const file = join(folder, 'config.json');
    expect(await plugin('--config', file, '--webhook-url', 'http://10.0.0.5:3001/-/changes')).to.equal(0);
    expect(printed).to.include('Plugin Name: Calendar gateway: acf').and.to.include('"of the file"');
  });

  /** What the command refuses; it prints nothing then. */
  async function refusal(...args: string[]): Promise<string> {
    const error = await plugin(...args).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ConfigError);
    expect(printed).to.equal('');
    return (error as ConfigError).message;
  }

  it('refuses to leave out the webhooks of a gateway that has a secret, and says where init wrote it', async () => {
    const message = await refusal('--config', join(folder, 'config.json'));
    expect(message)
      .to.include('Give --webhook-url')
      .and.to.include('CALENDAR_WEBHOOK_SECRET, which init writes to secrets.env');
  });

  it('refuses webhooks without a secret, and says how to load the one that init wrote', async () => {
    const message = await refusal('--mapping', 'acf', '--webhook-url', 'http://10.0.0.5:3001/-/changes');
    expect(message).to.include('. calendar-gateway/secrets.env;').and.to.include('--webhook-secret');
  });

  it('refuses a name without its option, and an address that is none', async () => {
    expect(await refusal('payload'))
      .to.include("Unexpected argument 'payload'")
      .and.to.include('--help');
    for (const url of ['10.0.0.5:3001', 'ftp://10.0.0.5', 'http://', 'http://a.example/\u2028x', 'http://a.example/\n'])
      expect(await refusal('--mapping', 'payload', '--webhook-url', url)).to.include(
        '--webhook-url: is not a web address',
      );
    expect(await refusal('--mapping', 'payload', '--webhook-url', 'http://10.0.0.5:3001'))
      .to.include('--webhook-url: has no path')
      .and.to.include('http://10.0.0.5:3001/-/changes');
  });

  it('prints the plugin of Payload for Payload, with the collections of the mapping and without the secret', async () => {
    const mapping = join(folder, 'mapping.json');
    const payload = JSON.parse(readFileSync(new URL('../../mappings/payload.json', import.meta.url), 'utf8'));
    const media = 'pictures';
    writeFileSync(
      mapping,
      JSON.stringify({ ...payload, payload: { media }, venue: { ...payload.venue, collection: 'halls' } }),
    );
    const config = { upstream: { url: 'https://www.example.org' }, mapping, webhook: { secret: 'of the file' } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const url = "http://10.0.0.5:3001/-/changes?'$&";
    expect(await plugin('--config', join(folder, 'config.json'), '--webhook-url', url)).to.equal(0);
    expect(printed).to.not.include('of the file');
    expect(printed).to.include(
      `webhookUrl: ${JSON.stringify(url)}, webhookSecret: process.env.CALENDAR_WEBHOOK_SECRET!`,
    );
    const made = join(folder, 'calendar-gateway.ts');
    writeFileSync(made, printed);
    const { calendarGateway } = (await import(made)) as { calendarGateway: CalendarGateway };
    const slugs = ['events', 'halls', 'venues', 'organizers', 'categories', 'tags', 'media', media];
    const site = calendarGateway({ webhookUrl: url, webhookSecret: 'shared' })({
      collections: slugs.map((slug) => ({ slug })),
    });
    const reported = site.collections.filter(({ hooks }) => hooks !== undefined).map(({ slug }) => slug);
    expect(reported).to.deep.equal(['events', 'halls', 'organizers', 'categories', 'tags', media]);
  });
});

describe('config', () => {
  const write = process.stdout.write;
  const { env } = process;
  const folder = mkdtempSync(join(tmpdir(), 'calendar-config-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => {
    process.env = env;
    process.stdout.write = write;
  });

  it('prints the effective settings without secrets, as a file that serve reads', async () => {
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify({ upstream: { url: 'https://www.example.org' }, lists: { perPage: 7 } }));
    process.env = {
      CALENDAR_UPSTREAM_USER: 'ada',
      CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh',
      CALENDAR_WEBHOOK_SECRET: 'between both',
      CALENDAR_REDIS_URL: 'redis://:hunter2@cache:6379',
      CALENDAR_PORT: '4000',
    };
    let printed = '';
    process.stdout.write = (text: string | Uint8Array) => {
      printed += text;
      return true;
    };
    expect(await commands.config!.run(['--config', file])).to.equal(0);
    process.stdout.write = write;
    for (const secret of ['ada', 'abcd efgh', 'between both', 'hunter2']) expect(printed).to.not.include(secret);
    const settings = JSON.parse(printed);
    expect(settings.upstream).to.include({ url: 'https://www.example.org', user: '(secret)', readAs: 'visitor' });
    expect([settings.listen.port, settings.lists.perPage, settings.redisUrl]).to.deep.equal([4000, 7, '(secret)']);
    expect(settings.limits).to.deep.equal({ requestsPerMinute: 6000 });
    writeFileSync(file, JSON.stringify({ ...settings, redisUrl: undefined }));
    expect(loadConfig({ file, env: {} }).lists.perPage).to.equal(7);
  });
});
