// `init` in front of a Payload site: what it recognizes, proposes and writes. The responses have the form of
// Payload 3.90.2.

import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { init } from '../../../src/cli/init/init.ts';
import { parseInitOptions } from '../../../src/cli/init/options.ts';
import type { CmsRecord } from '../../../src/cms/port.ts';
import { loadConfig } from '../../../src/config.ts';
import { ConfigError } from '../../../src/errors.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import { KINDS, type Site } from '../../../src/model/records.ts';
import { sendJson } from '../../faults/stub-cms.ts';

const KEY = '3b241101-e2bb-4255-8caf-4136c566a962';
type Docs = Record<string, unknown>[];

/** A site whose collections are not called as those of the bundled mapping. */
const GIG = {
  ...{
    id: 1,
    name: 'Late Ferry Blues Band',
    slug: 'late-ferry',
    _status: 'published',
    place: 4,
    cover: 9,
    price: '12 $',
  },
  ...{
    beginsAt: '2033-03-04T15:00:00.000Z',
    endsAt: '2033-03-04T17:00:00.000Z',
    zone: 'Europe/Vienna',
    wholeDay: false,
  },
  ...{ topics: [2, 3], body: { root: {} }, bodyHtml: '<p>Loud</p>', createdAt: '2033-01-01T00:00:00.000Z' },
  updatedAt: '2033-01-01T00:00:00.000Z',
};
const SITE: Record<string, Docs> = {
  gigs: [GIG],
  places: [{ id: 4, name: 'Old Fish Hall', town: 'Gullhaven' }],
  topics: [{ id: 2, name: 'Blues' }],
  pictures: [{ id: 9, filename: 'a.png', mimeType: 'image/png' }],
  members: [],
};

describe('init with Payload', () => {
  let server: Server;
  let url: string;
  let folder: string;
  let printed: string[];
  let site: Record<string, Docs>;

  beforeEach(async () => {
    [site, printed] = [SITE, []];
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-'));
    server = createServer((request, response) => {
      const [, slug = '', route] = /^\/api\/([\w-]+)(?:\/(\w+))?/.exec(request.url ?? '') ?? [];
      const isMember = request.headers.authorization === `members API-Key ${KEY}`;
      const access = Object.fromEntries(
        Object.keys(site).map((name) => [name, { fields: true, read: true, create: true, update: true, delete: true }]),
      );
      const docs = site[slug];
      if (slug === 'access') sendJson(response, 200, { collections: access });
      else if (route === 'me')
        sendJson(response, 200, { user: isMember ? { id: 1, email: 'a@example.org', role: 'admin' } : null });
      else if (docs) sendJson(response, 200, { docs, totalDocs: docs.length });
      else sendJson(response, 404, { message: `Route not found "${request.url}"` });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: Record<string, string | boolean>, env = {}): Promise<number> =>
    init(
      parseInitOptions({ out: join(folder, 'made'), yes: true, ...args }, [url], env),
      (line) => void printed.push(line),
    );

  /** How the mapping that was written reads the start of an event. */
  const startOf = (record: CmsRecord): string => {
    const { kinds } = loadMapping(join(folder, 'made/mapping.json'));
    return kinds.event.read(record, { timezone: 'Europe/Vienna' } as Site).start;
  };

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
    expect(await run({ anonymous: true }, { CALENDAR_UPSTREAM_PASSWORD: KEY })).to.equal(0);
  });

  it('proposes a mapping from the names and values of the collections, and writes it', async () => {
    expect(await run({ user: 'members' }, { CALENDAR_UPSTREAM_PASSWORD: KEY })).to.equal(0);
    const config = loadConfig({ file: join(folder, 'made/config.json'), env: { CALENDAR_UPSTREAM_PASSWORD: KEY } });
    expect(config.upstream).to.include({ url, user: 'members' });
    const { source } = loadMapping(config.mapping);
    expect(source.upstream).to.equal('payload');
    expect(source.payload).to.deep.equal({ timezone: 'Europe/Vienna', media: 'pictures', users: 'members' });
    const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.v\\Z' };
    expect(source.event).to.deep.equal({
      collection: 'gigs',
      fields: {
        start_date: { at: 'beginsAt', as },
        end_date: { at: 'endsAt', as },
        venue: { at: 'place', as: { ids: 'one' } },
        categories: 'topics',
        title: { at: 'name', as: 'plain-text' },
        slug: 'slug',
        description: { read: 'bodyHtml', write: { at: 'body', as: 'lexical' } },
        image: 'cover',
        all_day: 'wholeDay',
        timezone: 'zone',
        cost: 'price',
      },
    });
    expect(source.venue).to.deep.equal({
      collection: 'places',
      fields: { venue: { at: 'name', as: 'plain-text' }, city: 'town' },
    });
    expect(source).to.not.have.any.keys('organizer', 'tag');
    expect(printed.join('\n')).to.include('Late Ferry Blues Band');
    expect(startOf(GIG)).to.equal('2033-03-04 16:00:00');
    expect(readFileSync(join(folder, 'made/config.json'), 'utf8')).to.not.include(KEY);
    expect(printed.at(-1)).to.include('serve --config');
    expect(printed.at(-2)).to.include('check --config');
  });

  it('writes the plugin that sends webhooks, which holds no secret, and its secret', async () => {
    await run({ anonymous: true, 'webhook-url': 'http://10.0.0.5:3001/-/changes' });
    expect(printed.join('\n')).to.match(/put \S*made\/calendar-gateway\.ts next to payload\.config\.ts/);
    const files = ['calendar-gateway.ts', 'config.json', 'mapping.json', 'secrets.env'];
    expect(readdirSync(join(folder, 'made')).sort()).to.deep.equal(files);
    const secrets = readFileSync(join(folder, 'made/secrets.env'), 'utf8');
    expect(secrets).to.match(/^CALENDAR_WEBHOOK_SECRET="\S{32}"\n$/);
    const plugin = readFileSync(join(folder, 'made/calendar-gateway.ts'), 'utf8');
    const collections = "const COLLECTIONS = ['gigs', 'places', 'topics', 'pictures'];";
    expect(plugin).to.include('"http://10.0.0.5:3001/-/changes"').and.to.include(collections);
    expect(plugin).to.not.include(/"(.+)"/.exec(secrets)![1]);
  });

  /** A site with every collection and field of the bundled mapping. */
  function bundledSite(zone: string): Record<string, Docs> {
    const { source } = loadMapping('payload');
    const docs = KINDS.map((kind): [string, Docs] => {
      const names = Object.values(source[kind]?.fields ?? {}).flatMap((spec) =>
        [...JSON.stringify(spec).matchAll(/"([a-z][A-Za-z]*)"(?!:)/g)].map(([, name]) => [name, null]),
      );
      return [source[kind]?.collection ?? '', [{ ...Object.fromEntries(names), id: 1 }]];
    });
    const made = Object.fromEntries(docs);
    Object.assign(made.events![0]!, {
      timeZone: zone,
      startDate: GIG.beginsAt,
      endDate: GIG.endsAt,
      _status: 'published',
    });
    return made;
  }

  it('uses the bundled mapping if the site has all its collections and fields', async () => {
    site = bundledSite('America/New_York');
    expect(await run({ anonymous: true })).to.equal(0);
    expect(readdirSync(join(folder, 'made'))).to.deep.equal(['config.json']);
    expect(loadConfig({ file: join(folder, 'made/config.json'), env: {} }).mapping).to.equal('payload');
    expect(printed.join('\n')).to.include('the site has all its collections and fields').and.to.include('New_York');
  });

  it('copies the bundled mapping for another time zone and a name', async () => {
    site = bundledSite('Europe/Vienna');
    expect(await run({ anonymous: true, name: 'Gullhaven' })).to.equal(0);
    const { source } = loadMapping(join(folder, 'made/mapping.json'));
    expect(source.payload).to.deep.equal({ timezone: 'Europe/Vienna', name: 'Gullhaven' });
    expect(source.event).to.deep.equal(loadMapping('payload').source.event);
  });

  it('does not use the bundled mapping without one of its fields, or if the operator names other fields', async () => {
    site = bundledSite('America/New_York');
    await run({ anonymous: true, field: ['event.cost=none'] } as never);
    expect(loadMapping(join(folder, 'made/mapping.json')).source.event.fields).to.not.have.property('cost');
    delete site.events![0]!.cost;
    await run({ anonymous: true, force: true });
    expect(loadMapping(join(folder, 'made/mapping.json')).source.name).to.equal('site');
  });

  it('names the option whose collection the site lacks', async () => {
    for (const kind of KINDS) {
      const failure = await run({ anonymous: true, [`${kind}-type`]: 'shows' }).catch((error: unknown) => error);
      expect(failure)
        .to.be.instanceOf(ConfigError)
        .and.to.have.property('message')
        .that.matches(new RegExp(`^--${kind}-type: the site has no collection "shows"\\s+It has gigs, places`));
    }
  });

  it('gives the fields that the operator names the form of their values', async () => {
    const { beginsAt: go, endsAt: stop, place: spot, price: _, ...gig } = GIG;
    site = { shows: [{ ...gig, go, stop, spot, fee: 12 }], spots: SITE.places! };
    const names = { 'event-type': 'shows', 'venue-type': 'spots' };
    const field = ['event.start_date=go', 'event.venue=spot', 'event.cost=fee', 'event.title=name'];
    const eventFields = async (more: string[]) => {
      expect(await run({ anonymous: true, force: true, ...names, field: [...field, ...more] } as never)).to.equal(0);
      const { source } = loadMapping(join(folder, 'made/mapping.json'));
      expect(source.venue?.collection).to.equal('spots');
      return source.event.fields;
    };
    const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.v\\Z' };
    const named = {
      start_date: { at: 'go', as },
      venue: { at: 'spot', as: { ids: 'one' } },
      cost: { at: 'fee', as: 'number', clearWith: '' },
      title: { at: 'name', as: 'plain-text' },
    };
    const end = { end_date: { at: 'stop', as } };
    expect(await eventFields(['event.end_date=stop'])).to.deep.include({ ...named, ...end });
    expect(startOf({ ...gig, go, stop })).to.equal('2033-03-04 16:00:00');
    // The other date, which is never before the start.
    expect(await eventFields([])).to.deep.include({ ...named, ...end });
    const unknown = [...field, 'event.organizer=spot'];
    const failure = await run({ anonymous: true, ...names, field: unknown } as never).catch((error: unknown) => error);
    expect(failure)
      .to.be.instanceOf(ConfigError)
      .and.to.have.property('message')
      .that.matches(/^--field event\.organizer=spot: .* kind organizer/);
  });

  it('finds linked collections by their names where no record tells', async () => {
    const named = { title: 'A', startDate: null, endDate: null, venue: null, organizers: null, categories: null };
    site = { events: [{ ...named, _status: 'draft' }], classes: [], venues: [], organizers: [], categories: [] };
    expect(await run({ anonymous: true })).to.equal(0);
    const { source } = loadMapping(join(folder, 'made/mapping.json'));
    const collections = KINDS.map((kind) => source[kind]?.collection);
    expect(collections).to.deep.equal(['events', 'venues', 'organizers', 'categories', undefined]);
  });

  it('uses the mapping that the operator names, and refuses one for another CMS', async () => {
    expect(await run({ anonymous: true, mapping: 'payload' })).to.equal(0);
    expect(printed.join('\n')).to.include('you named it').and.to.include('does not show events');
    const failure = await run({ anonymous: true, mapping: 'acf', force: true }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ConfigError).and.to.have.property('message').that.includes('not for this CMS');
  });

  it('names the calendar by an option', async () => {
    await run({ anonymous: true, name: 'Gullhaven' });
    expect(loadMapping(join(folder, 'made/mapping.json')).source.payload?.name).to.equal('Gullhaven');
  });

  it('says that the site does not know the key', async () => {
    const failure = await run({ user: 'members' }, { CALENDAR_UPSTREAM_PASSWORD: 'wrong' }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(ConfigError).and.to.have.property('message').that.includes('API key');
  });

  it('writes nothing if no collection has a start, and says how to name it', async () => {
    site = { pages: [{ id: 1, title: 'About us' }] };
    expect(await run({ anonymous: true })).to.equal(1);
    expect(printed.join('\n')).to.include('--event-type SLUG');
  });
});
