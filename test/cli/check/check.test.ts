// The findings of `check`, its exit code and output, and that it deletes its draft.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from '../../../src/cli/check/check.ts';
import type { CheckRow } from '../../../src/cli/check/checks.ts';
import { commands } from '../../../src/cli/commands.ts';
import { ConfigError } from '../../../src/errors.ts';
import { type FakeOptions, type FakeSite, type FakeType, fakePost, startFakeSite } from '../fake-site.ts';
import { startFeedSite } from '../feed-site.ts';

const META = { gig_start: 'string', gig_end: 'string', price: 'string', whole_day: 'string' };
const MAPPING = {
  name: 'gigs',
  upstream: 'wordpress',
  event: {
    posts: 'gigs',
    fields: {
      start_date: 'meta.gig_start',
      end_date: 'meta.gig_end',
      cost: 'meta.price',
      all_day: { at: 'meta.whole_day', as: { boolean: ['yes', 'no'] } },
    },
  },
};

function gigs({
  meta = META,
  more = {},
}: {
  meta?: Record<string, string>;
  more?: Record<string, unknown>;
} = {}): FakeType {
  const values = {
    gig_start: '2031-05-01 19:30:00',
    gig_end: '2031-05-01 21:00:00',
    price: '12',
    whole_day: 'no',
    ...more,
  };
  const shown = Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(meta, key)));
  const records = [1, 2].map((id) => fakePost(id, { title: `Gig ${id}`, meta: shown }));
  return { type: 'gig', base: 'gigs', label: 'Gigs', meta, records };
}

interface Result {
  code: number;
  ok: boolean;
  counts: Record<CheckRow['state'], number>;
  rows: CheckRow[];
}

describe('check', () => {
  let folder: string;
  let site: FakeSite;
  const configFile = (more = {}, mappingFile: object = MAPPING) => {
    const mapping = join(folder, 'mapping.json');
    writeFileSync(mapping, JSON.stringify(mappingFile));
    const config = join(folder, 'config.json');
    writeFileSync(
      config,
      JSON.stringify({ upstream: { url: site.url, user: 'service', password: 'right' }, mapping, ...more }),
    );
    return config;
  };
  const runCheck = async (
    options: Partial<FakeOptions> = {},
    how: { write?: boolean; config?: object; mapping?: object } = {},
  ): Promise<Result> => {
    site = await startFakeSite({ types: [gigs()], logins: ['service:right'], ...options });
    let text = '';
    const code = await check({ config: configFile(how.config, how.mapping), json: true, write: how.write }, (part) => {
      text += part;
    });
    return { code, ...(JSON.parse(text) as Omit<Result, 'code'>) };
  };
  /** A failed row always has advice. */
  const row = ({ rows }: Result, area: string, name: string): CheckRow => {
    const match = rows.find((each) => each.area === area && each.name === name);
    if (!match) throw new Error(`no row ${area} ${name}: ${JSON.stringify(rows)}`);
    if (match.state === 'fail') expect(match.advice, `${area} ${name}`).to.be.a('string').and.not.equal('');
    return match;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-check-'));
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reads each source, and says what the running gateway merged', async () => {
    const feeds = await startFeedSite();
    const merged = [
      { source: 'library', why: 'same UID and start' },
      { source: 'other', why: 'same address and start' },
    ];
    const admin = createServer((_request, response) =>
      response.end(JSON.stringify({ sources: [{ name: 'library', merged: 1 }], merged })),
    );
    await once(admin.listen(0, '127.0.0.1'), 'listening');
    try {
      const result = await runCheck(
        {},
        {
          config: {
            listen: { adminPort: (admin.address() as AddressInfo).port },
            sync: { privateSources: true },
            sources: [
              { name: 'library', icalendar: feeds.feed },
              { name: 'page', icalendar: feeds.page },
            ],
          },
        },
      );
      expect(row(result, 'sources', 'library')).to.deep.include({
        state: 'warn',
        message:
          "1 event; the running gateway shows 1 as another calendar's (same UID and start); " +
          '1 × no start (such as broken)',
      });
      expect(row(result, 'sources', 'page').state).to.equal('fail');
      expect(row(result, 'sources', 'page').message).to.match(/a web page/);
    } finally {
      admin.close();
      feeds.close();
    }
  });

  it('passes for a site that fits its mapping, as JSON and as a table', async () => {
    const result = await runCheck();
    expect(result.rows.filter(({ state }) => state === 'fail')).to.deep.equal([]);
    expect([result.code, result.ok, result.counts.fail]).to.deep.equal([0, true, 0]);
    for (const [area, name] of [
      ['site', 'clock'],
      ['site', 'time zone'],
      ['account', 'service'],
      ['lists', 'gigs'],
      ['event fields', 'start_date'],
    ] as const)
      expect(row(result, area, name).state, name).to.equal('ok');
    let table = '';
    expect(
      await check({ config: configFile() }, (part) => {
        table += part;
      }),
    ).to.equal(0);
    expect(table)
      .to.match(/^ok +site +address/)
      .and.to.match(/\d+ ok, \d+ warn, 0 fail\n$/);
  });

  it('fails if the site does not show which events its plugin hides: the gateway would list them', async () => {
    const values = { _EventStartDate: '2031-05-01 19:30:00', _EventEndDate: '2031-05-01 21:00:00' };
    const keys = Object.fromEntries(Object.keys(values).map((key) => [key, 'string']));
    const type = (meta: Record<string, string>, more = {}): FakeType => ({
      type: 'tribe_events',
      base: 'tribe_events',
      label: 'Events',
      meta,
      records: [fakePost(1, { title: 'Party', meta: { ...values, ...more } })],
    });
    const config = { mapping: 'tribe-events-native' };
    // The companion plugin is there, and made for another mapping.
    const namespaces = ['calendar-gateway/v1'];
    const closedSite = { types: [type(keys)], namespaces };
    const closed = row(await runCheck(closedSite, { config }), 'event fields', 'hide_from_listings');
    expect(closed).to.include({ state: 'fail' });
    expect(closed.message).to.include('_EventHideFromUpcoming').and.to.include('lists the events that the site hides');
    expect(closed.advice).to.include('calendar-gateway plugin --config').and.to.include('remove the line');
    await site.close();
    const opened = type({ ...keys, _EventHideFromUpcoming: 'string' }, { _EventHideFromUpcoming: '' });
    const open = await runCheck({ types: [opened], namespaces }, { config });
    expect(row(open, 'event fields', 'hide_from_listings').state).to.equal('ok');
  });

  it('names the companion plugin once, for every key that the site does not show without it', async () => {
    const mapping = { ...MAPPING, wordpress: { requiresCompanionPlugin: true } };
    const result = await runCheck({ types: [gigs({ meta: {} })] }, { mapping });
    const advice = new Set(result.rows.filter(({ state }) => state === 'fail').map((each) => each.advice));
    expect([...advice]).to.have.length(1);
    expect([...advice][0]).to.match(/Make the companion plugin of the mapping/);
  });

  it('prints no control characters of the site', async () => {
    site = await startFakeSite({ types: [gigs({ more: { price: '\u001b[2J\u009b12' } })], logins: ['service:right'] });
    let table = '';
    await check({ config: configFile() }, (part) => {
      table += part;
    });
    expect(table)
      .to.include('such as [2J12')
      .and.to.not.match(/[^\P{Cc}\n]/u);
  });

  it('prints the same advice once for all rows', async () => {
    site = await startFakeSite({
      types: [gigs({ meta: { gig_start: 'string', gig_end: 'string' } })],
      logins: ['service:right'],
    });
    let table = '';
    await check({ config: configFile() }, (part) => {
      table += part;
    });
    expect(table.match(/WordPress silently drops/g)?.length).to.equal(1);
    expect(table).to.match(/\nfail +all_day .*\n +As for event fields cost\.\n/);
  });

  it('does not run if the site refuses the service account, and says what to do', async () => {
    const error = await runCheck({ logins: ['service:another'] }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as ConfigError).message).to.match(/does not accept this user .*\n.*not the login password/);
  });

  it('writes each field on a draft, reads it back, clears it, and deletes the draft', async () => {
    const result = await runCheck({}, { write: true });
    expect(row(result, 'writes', 'event').state).to.equal('ok');
    expect(result.code, JSON.stringify(result.rows.filter(({ state }) => state === 'fail'))).to.equal(0);
    expect(site.requests.filter((each) => each.startsWith('DELETE')).length).to.equal(1);
    expect(site.types[0]?.records.map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  it('shows an event that lacks a part of its date', async () => {
    const parts = [
      { at: 'meta.gig_day', format: 'Y-m-d' },
      { at: 'meta.gig_time', format: 'H:i' },
    ];
    const mapping = { ...MAPPING, event: { ...MAPPING.event, fields: { start_date: { parts }, end_date: { parts } } } };
    const records = [{ gig_day: '2031-05-01', gig_time: '19:30' }, { gig_time: '20:00' }].map((meta, index) =>
      fakePost(index + 1, { title: 'Gig', meta }),
    );
    const type = { ...gigs({ meta: { gig_day: 'string', gig_time: 'string' } }), records };
    const start = row(await runCheck({ types: [type] }, { mapping }), 'event fields', 'start_date');
    expect(start.message).to.include('1 of 2 events have no readable value (such as nothing 20:00)');
  });

  it('shows an event whose time of day has another format', async () => {
    const parts = [
      { at: 'meta.gig_day', format: 'Y-m-d' },
      { at: 'meta.gig_time', format: 'H:i' },
    ];
    const mapping = { ...MAPPING, event: { ...MAPPING.event, fields: { start_date: { parts }, end_date: { parts } } } };
    const records = ['19:30', '7:30 pm', ''].map((gig_time, index) =>
      fakePost(index + 1, { title: 'Gig', meta: { gig_day: '2031-05-01', gig_time } }),
    );
    const type = { ...gigs({ meta: { gig_day: 'string', gig_time: 'string' } }), records };
    const start = row(await runCheck({ types: [type] }, { mapping }), 'event fields', 'start_date');
    expect(start.state).to.equal('warn');
    expect(start.message).to.include(
      '1 of 3 events have a time of day that is not readable (such as 2031-05-01 7:30 pm)',
    );
    expect(start.advice).to.include('"format" of each of the "parts"');
  });

  it('writes nothing into a collection whose list failed', async () => {
    const mapping = { ...MAPPING, venue: { posts: 'rooms' }, event: { ...MAPPING.event, posts: 'gigz' } };
    const result = await runCheck({}, { write: true, mapping });
    expect(row(result, 'lists', 'gigz').state).to.equal('fail');
    expect(row(result, 'lists', 'rooms').state).to.equal('warn');
    expect(result.rows.filter(({ area }) => area === 'writes')).to.deep.equal([]);
    expect(site.requests.filter((each) => each.startsWith('POST'))).to.deep.equal([]);
  });

  it('fails with --write for a value that reads back and that the plugin shows as another, or not at all', async () => {
    site = await startFakeSite({ types: [gigs({ meta: { ...META, seats: 'string' } })], logins: ['service:right'] });
    // The Events Calendar takes "12.50 €" without a symbol in its row for 12.50 of its own currency.
    site.before = ({ url = '' }, response) => {
      if (!url.includes('/tribe/events/v1/events/')) return false;
      response.setHeader('content-type', 'application/json');
      const texts = { description: '<p>Written by check.</p>', excerpt: '<p>Written by check.</p>' };
      response.end(JSON.stringify({ ...texts, cost: '$12.50', all_day: true, start_date: '2031-05-01 19:30:00' }));
      return true;
    };
    const { event } = MAPPING;
    // The original has no custom fields: that it does not show one says nothing.
    const mapping = {
      ...{ ...MAPPING, wordpress: { hooks: 'the-events-calendar' } },
      event: { ...event, custom_fields: { seats: 'meta.seats' } },
    };
    let text = '';
    await check({ config: configFile({}, mapping), json: true, write: true }, (part) => {
      text += part;
    });
    const { rows } = JSON.parse(text) as Result;
    const failed = rows.filter(({ area, state }) => area === 'writes' && state === 'fail');
    const reason = 'the plugin takes it for something else: tribe/events/v1 shows';
    expect(failed.map(({ name, message }) => [name, message])).to.deep.equal([
      ['event.end_date', `${reason} nothing after 2031-05-01 21:00:00 was written`],
      // A constant equals one of the two values.
      ['event.all_day', `${reason} true after false was written`],
      ['event.cost', `${reason} $12.50 after 12.50 € was written`],
    ]);
  });

  it('warns with --write if the API of the plugin refuses the draft, which nothing but the site then judges', async () => {
    const mapping = { ...MAPPING, wordpress: { hooks: 'the-events-calendar' } };
    const result = await runCheck({}, { write: true, mapping });
    const writes = result.rows.filter(({ area }) => area === 'writes').map(({ state, message }) => [state, message]);
    expect(writes[0]).to.deep.equal(['warn', 'tribe/events/v1 refuses the draft']);
    expect(writes[1]?.[1]).to.include('were written, read back and cleared');
  });

  it('fails with --write for a value that was accepted and not stored', async () => {
    const { whole_day: _, ...registered } = META;
    const result = await runCheck({ types: [gigs({ meta: registered })] }, { write: true });
    const lost = row(result, 'writes', 'event.all_day');
    expect(lost.state).to.equal('fail');
    expect(lost.message).to.include('meta.whole_day');
    const { advice } = row(result, 'event fields', 'all_day');
    expect(advice).to.include('calendar-gateway plugin');
    expect(advice).to.include('keys that the site shows: meta.gig_start, meta.gig_end, meta.price. If');
    // However many fields are lost.
    expect(site.requests.filter((request) => request.startsWith('OPTIONS'))).to.have.length(1);
    expect(site.types[0]?.records.length).to.equal(2);
  });

  it('advises no companion plugin for a value that the site drops although it shows the key', async () => {
    const store = (key: string, value: unknown, before: unknown) => (key === 'whole_day' ? before : value);
    const result = await runCheck({ types: [{ ...gigs(), store }] }, { write: true });
    const lost = row(result, 'writes', 'event.all_day');
    expect(lost.state).to.equal('fail');
    expect(lost.advice).to.not.include('plugin');
  });

  it('passes for a telephone number that the site formats, and fails if it drops digits', async () => {
    const mapping = { ...MAPPING, venue: { posts: 'halls', fields: { phone: 'meta.phone' } } };
    const halls = { type: 'hall', base: 'halls', label: 'Halls', meta: { phone: 'string' }, records: [] };
    const check = async (store: (key: string, value: unknown) => unknown) =>
      (await runCheck({ types: [gigs(), { ...halls, store, records: [] }] }, { write: true, mapping })).rows;
    const format = (_: string, value: unknown) =>
      String(value)
        .replace(/\D/g, '')
        .replace(/^(...)(...)/, '($1) $2-');
    const isPhone = ({ name }: CheckRow) => name === 'venue.phone';
    expect((await check(format)).find(isPhone)).to.equal(undefined);
    await site.close();
    expect((await check((_, value) => String(value).slice(0, 5))).find(isPhone)?.state).to.equal('fail');
  });

  it('passes with --write for a telephone number and a cost that the site stores as numbers, of which one is an integer', async () => {
    const halls: FakeType = { type: 'hall', base: 'halls', label: 'Halls', meta: { phone: 'number' }, records: [] };
    const venue = { posts: 'halls', fields: { phone: { at: 'meta.phone', as: 'number', clearWith: null } } };
    const cost = { at: 'meta.price', as: 'number', clearWith: null };
    const store = (key: string, value: unknown): unknown => {
      if (key === 'price' && value !== null && !Number.isInteger(value)) throw new Error('price is not an integer.');
      return value;
    };
    const event = { ...MAPPING.event, fields: { ...MAPPING.event.fields, cost } };
    const result = await runCheck(
      { types: [{ ...gigs({ more: { price: 12 } }), store }, halls] },
      { write: true, mapping: { ...MAPPING, event, venue } },
    );
    expect(
      result.rows.filter(({ area, name, state }) => area === 'writes' && state !== 'ok' && name !== 'event links'),
    ).to.deep.equal([]);
    expect(row(result, 'writes', 'venue').message).to.match(/(\d+) of \1 fields were written/);
  });

  it('fails for a custom field whose key the schema lacks, also if no record can show it', async () => {
    const mapping = { ...MAPPING, event: { ...MAPPING.event, custom_fields: { seats: 'meta.seats' } } };
    const seats = row(
      await runCheck({ types: [{ ...gigs(), records: [] }] }, { mapping }),
      'event fields',
      'custom_fields.seats',
    );
    expect([seats.state, seats.message]).to.deep.equal([
      'fail',
      'meta.seats is not in the schema of gigs: WordPress drops what is written there',
    ]);
  });

  describe('with --write, of custom fields', () => {
    const META_KEYS = { ...META, seats: 'number', level: 'string', note: 'string', outdoors: 'boolean' };
    const CUSTOM = {
      seats: { at: 'meta.seats', as: 'number', clearWith: null },
      level: 'meta.level',
      note: { at: 'meta.note', readOnly: true },
      outdoors: { at: 'meta.outdoors', type: 'boolean' },
    };
    let written: [key: string, value: unknown][];
    const runOn = (store: (key: string, value: unknown) => unknown, more: Partial<FakeOptions> = {}) => {
      written = [];
      const type = gigs({ meta: META_KEYS, more: { seats: 40, level: 'easy', note: 'x', outdoors: false } });
      const storeAndTell = (key: string, value: unknown): unknown => {
        written.push([key, value]);
        return store(key, value);
      };
      return runCheck(
        { types: [{ ...type, store: storeAndTell }], ...more },
        { write: true, mapping: { ...MAPPING, event: { ...MAPPING.event, custom_fields: CUSTOM } } },
      );
    };
    const valuesOf = (wanted: string) => written.flatMap(([key, value]) => (key === wanted ? [value] : []));
    const refuse = (reason: string): never => {
      throw new Error(reason);
    };

    it('writes numbers, texts and booleans, reads them back and clears them, and removes its draft', async () => {
      const result = await runOn((_, value) => value);
      expect(result.rows.filter(({ area, state }) => area === 'writes' && state !== 'ok')).to.deep.equal([]);
      expect(row(result, 'writes', 'event').message).to.match(/(\d+) of \1 fields were written/);
      expect(valuesOf('seats')).to.deep.equal([12.5, null]);
      expect(valuesOf('level')).to.deep.equal(['Check 12', '']);
      expect(valuesOf('outdoors')).to.deep.equal([true]);
      expect(valuesOf('note')).to.deep.equal([]);
      expect(site.requests.filter((request) => request.startsWith('DELETE'))).to.have.length(1);
      expect(site.types[0]!.records.map(({ id }) => id)).to.deep.equal([1, 2]);
    });

    it('writes an integer where the site takes no fraction, and a value of the site where it takes only some', async () => {
      const result = await runOn((key, value) => {
        if (key === 'seats' && value !== null && !Number.isInteger(value)) refuse('seats is not an integer.');
        if (key === 'level' && value !== '' && value !== 'easy') refuse('level is easy or hard.');
        return value;
      });
      expect(result.rows.filter(({ area, state }) => area === 'writes' && state !== 'ok')).to.deep.equal([]);
      expect(valuesOf('seats')).to.deep.equal([12.5, 12, null]);
      expect(valuesOf('level')).to.deep.equal(['Check 12', 'easy', '']);
    });

    it('writes a number of the site where it takes none below twenty', async () => {
      const result = await runOn((key, value) => {
        if (key === 'seats' && value !== null && Number(value) < 20) refuse('seats is 20 or more.');
        return value;
      });
      expect(result.rows.filter(({ area, state }) => area === 'writes' && state !== 'ok')).to.deep.equal([]);
      expect(valuesOf('seats')).to.deep.equal([12.5, 12, 1, 40, null]);
    });

    it('fails for a number that comes back as another, and for one that the site refuses', async () => {
      const comma = await runOn((key, value) => (key === 'seats' && value !== null ? Number(value) * 10 : value));
      const changed = row(comma, 'writes', 'event.custom_fields.seats');
      expect([changed.state, changed.message]).to.deep.equal([
        'fail',
        'writing it was accepted, but meta.seats reads back as 125 instead of 12.5',
      ]);
      expect(changed.advice).to.include('"decimal": ","');
      await site.close();
      const closed = await runOn((key, value) => (key === 'seats' ? refuse('seats is closed.') : value));
      const refused = row(closed, 'writes', 'event.custom_fields.seats');
      expect(refused.state).to.equal('fail');
      expect(refused.message).to.include('seats is closed.');
      expect(site.requests.filter((request) => request.startsWith('DELETE'))).to.have.length(1);
    });
  });

  it('passes with --write for the coordinates of a venue', async () => {
    const meta = { lat: 'string', lng: 'string' };
    const halls: FakeType = { type: 'hall', base: 'halls', label: 'Halls', meta, records: [] };
    const venue = { posts: 'halls', fields: { geo_lat: 'meta.lat', geo_lng: 'meta.lng' } };
    const result = await runCheck({ types: [gigs(), halls] }, { write: true, mapping: { ...MAPPING, venue } });
    expect(result.rows.filter(({ state }) => state === 'fail')).to.deep.equal([]);
    expect(row(result, 'writes', 'venue').message).to.match(/(\d+) of \1 fields were written/);
  });

  it('passes for a venue without coordinates, for which plugins store zeros', async () => {
    const meta = { lat: 'string', lng: 'string' };
    const hall = fakePost(7, { title: 'Hall', meta: { lat: '0', lng: '0.000000' } });
    const halls: FakeType = { type: 'hall', base: 'halls', label: 'Halls', meta, records: [hall] };
    const venue = { posts: 'halls', fields: { geo_lat: 'meta.lat', geo_lng: 'meta.lng' } };
    const result = await runCheck({ types: [gigs(), halls] }, { mapping: { ...MAPPING, venue } });
    for (const name of ['geo_lat', 'geo_lng']) {
      const { state, message } = row(result, 'venue fields', name);
      expect([state, message]).to.deep.equal(['ok', `meta.${name.slice(4)}: 0 of 1 have it`]);
    }
  });

  it('says of events without an end that they end when they start', async () => {
    const type = gigs();
    const [first] = type.records;
    first!.meta = { ...(first!.meta as object), gig_end: '' };
    const result = await runCheck({ types: [type] });
    expect(row(result, 'event fields', 'end_date').message).to.include(
      '1 of 2 events have no readable value, and end when',
    );
  });

  it('fails with --write without an account, and writes nothing', async () => {
    site = await startFakeSite({ types: [gigs()] });
    let text = '';
    const config = configFile({ upstream: { url: site.url } });
    const code = await check({ config, json: true, write: true }, (part) => {
      text += part;
    });
    expect(code).to.equal(1);
    expect(row({ code, ...JSON.parse(text) }, 'writes', 'service').advice).to.include('CALENDAR_UPSTREAM_USER');
    expect(site.requests.some((each) => /^(POST|DELETE)/.test(each))).to.equal(false);
  });

  it('throws ConfigError if the site does not answer', async () => {
    site = await startFakeSite({ types: [gigs()] });
    const config = configFile({ upstream: { url: 'http://127.0.0.1:9' } });
    let error: unknown;
    await check({ config }).catch((thrown) => {
      error = thrown;
    });
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as ConfigError).message).to.include('http://127.0.0.1:9');
  });

  it('has the exit codes in its help', async () => {
    site = await startFakeSite({ types: [] });
    expect(commands.check?.help).to.match(/Exit code: 0[\s\S]*1[\s\S]*2/);
  });
});
