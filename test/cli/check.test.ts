// Shows what `check` finds in a site, in what words and with which exit code, and that its draft leaves nothing behind.

import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from '../../src/cli/check.ts';
import { listRow, pastRows } from '../../src/cli/check-lists.ts';
import { listenForNotices } from '../../src/cli/check-notices.ts';
import { CHECK_HELP, CHECK_OPTIONS } from '../../src/cli/check-options.ts';
import type { Row } from '../../src/cli/table.ts';
import { loadConfig } from '../../src/config.ts';
import { ConfigError } from '../../src/errors.ts';
import { type FakeOptions, type FakeSite, type FakeType, fakePost, fakeSite } from './fake-site.ts';

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
  counts: Record<Row['state'], number>;
  rows: Row[];
}

describe('check', () => {
  let folder: string;
  let site: FakeSite;
  const settings = (more = {}) => {
    const mapping = join(folder, 'mapping.json');
    writeFileSync(mapping, JSON.stringify(MAPPING));
    const config = join(folder, 'config.json');
    writeFileSync(
      config,
      JSON.stringify({ upstream: { url: site.url, user: 'service', password: 'right' }, mapping, ...more }),
    );
    return config;
  };
  const checked = async (
    options: Partial<FakeOptions> = {},
    how: { write?: boolean; config?: object } = {},
  ): Promise<Result> => {
    site = await fakeSite({ types: [gigs()], logins: ['service:right'], ...options });
    let text = '';
    const code = await check({ config: settings(how.config), json: true, write: how.write }, (part) => {
      text += part;
    });
    return { code, ...(JSON.parse(text) as Omit<Result, 'code'>) };
  };
  /** The row; every one that is not good has to say what to do. */
  const row = ({ rows }: Result, area: string, what: string): Row => {
    const found = rows.find((each) => each.area === area && each.what === what);
    if (!found) throw new Error(`no row ${area} ${what}: ${JSON.stringify(rows)}`);
    if (found.state === 'fail') expect(found.todo, `${area} ${what}`).to.be.a('string').and.not.equal('');
    return found;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-check-'));
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('finds nothing wrong with a site that fits, and says so to machines and people', async () => {
    const result = await checked();
    expect(result.rows.filter(({ state }) => state === 'fail')).to.deep.equal([]);
    expect([result.code, result.ok, result.counts.fail]).to.deep.equal([0, true, 0]);
    for (const [area, what] of [
      ['site', 'clock'],
      ['site', 'time zone'],
      ['account', 'service'],
      ['account', 'gigs'],
      ['lists', 'gigs'],
      ['event fields', 'start_date'],
    ] as const)
      expect(row(result, area, what).state, what).to.equal('ok');
    let table = '';
    expect(
      await check({ config: settings() }, (part) => {
        table += part;
      }),
    ).to.equal(0);
    expect(table)
      .to.match(/^ok +site +address/)
      .and.to.match(/\d+ ok, \d+ warn, 0 fail\n$/);
  });

  it('is red for a key that the site would drop silently, and names the key and the PHP file', async () => {
    const { price: _, ...registered } = META;
    const result = await checked({ types: [gigs({ meta: registered })] });
    expect(result.code).to.equal(1);
    expect(result.ok).to.equal(false);
    const cost = row(result, 'event fields', 'cost');
    expect(cost).to.include({ state: 'fail' });
    expect(cost.says).to.include('meta.price');
    expect(cost.todo).to.include('calendar-gateway snippet --mapping').and.to.include('mu-plugins');
  });

  it('is red where the site does not show which events its plugin hides, and says that they are listed', async () => {
    const values = { _EventStartDate: '2031-05-01 19:30:00', _EventEndDate: '2031-05-01 21:00:00' };
    const keys = Object.fromEntries(Object.keys(values).map((key) => [key, 'string']));
    const type = (meta: Record<string, string>, more = {}): FakeType => ({
      ...{ type: 'tribe_events', base: 'tribe_events', label: 'Events', meta },
      records: [fakePost(1, { title: 'Party', meta: { ...values, ...more } })],
    });
    const config = { mapping: 'tribe-events-native' };
    const closed = row(await checked({ types: [type(keys)] }, { config }), 'event fields', 'hide_from_listings');
    expect(closed).to.include({ state: 'fail' });
    expect(closed.says).to.include('_EventHideFromUpcoming').and.to.include('lists the events that the site hides');
    expect(closed.todo).to.include('calendar-gateway snippet --mapping').and.to.include('take the line');
    await site.close();
    const opened = type({ ...keys, _EventHideFromUpcoming: 'string' }, { _EventHideFromUpcoming: '' });
    expect(row(await checked({ types: [opened] }, { config }), 'event fields', 'hide_from_listings').state).to.equal(
      'ok',
    );
  });

  it('says what anonymous readers are shown of the published records', async () => {
    const readers = async (options: Partial<FakeOptions>) =>
      row(await checked({ types: [gigs()], ...options }), 'readers', 'gigs');
    expect((await readers({})).state).to.equal('ok');
    await site.close();
    const closed = await readers({ closed: true });
    expect(closed.state).to.equal('warn');
    expect(closed.says).to.include('everybody is shown what the site renders for the service account');
    await site.close();
    const partly = gigs();
    Object.assign(partly.records[0]!, { hiddenFromPublic: true });
    const hidden = await readers({ types: [partly] });
    expect(hidden).to.include({ state: 'warn' });
    expect(hidden.says).to.include('1 of 2 published records are not shown to anonymous readers');
  });

  it('gives one piece of advice once, whatever it is good for', async () => {
    site = await fakeSite({
      types: [gigs({ meta: { gig_start: 'string', gig_end: 'string' } })],
      logins: ['service:right'],
    });
    let table = '';
    await check({ config: settings() }, (part) => {
      table += part;
    });
    expect(table).to.match(/\nfail +event fields cost, all_day\n/);
    expect(table.match(/WordPress drops/g)?.length).to.equal(1);
  });

  it('is red for values that the codec does not read', async () => {
    const result = await checked({ types: [gigs({ more: { gig_start: 'May Day' } })] });
    expect(row(result, 'event fields', 'start_date')).to.include({ state: 'fail' });
    expect(row(result, 'event fields', 'start_date').says).to.include('May Day');
  });

  it('says what the service account lacks', async () => {
    const some = await checked({ capabilities: ['edit_posts', 'edit_others_posts', 'read_private_posts'] });
    expect(row(some, 'account', 'gigs').state).to.equal('warn');
    await site.close();
    const few = await checked({ capabilities: ['edit_posts'] });
    expect(row(few, 'account', 'gigs').says).to.include('read_private_posts');
    expect(few.code).to.equal(1);
  });

  it('wonders when nothing that was ever made is over, and only then', async () => {
    const upcoming = gigs();
    upcoming.records = Array.from({ length: 25 }, (_, at) => fakePost(at + 1, { ...upcoming.records[0], id: at + 1 }));
    expect(row(await checked({ types: [upcoming] }), 'lists', 'past events').state).to.equal('warn');
    await site.close();
    const old = fakePost(99, {
      title: 'Old',
      meta: { ...META, gig_start: '2020-05-01 19:30:00', gig_end: '2020-05-01 21:00:00' },
    });
    const { rows } = await checked({ types: [{ ...upcoming, records: [...upcoming.records, old] }] });
    expect(rows.some(({ what }) => what === 'past events')).to.equal(false);
  });

  it('stops after an account that the site refuses', async () => {
    const result = await checked({ logins: ['service:another'] });
    expect(row(result, 'account', 'service').state).to.equal('fail');
    expect(result.rows.some(({ area }) => area === 'lists')).to.equal(false);
  });

  it('compares the clocks', async () => {
    expect(row(await checked({ skewMs: 20_000 }), 'site', 'clock').says).to.match(/^(19|20|21) s ahead/);
    await site.close();
    expect(row(await checked({ skewMs: -400_000 }), 'site', 'clock').state).to.equal('fail');
  });

  it('warns of a time zone without summer time', async () => {
    const result = await checked({ timezone: '+02:00' });
    expect(row(result, 'site', 'time zone').state).to.equal('warn');
    expect(row(result, 'site', 'time zone').todo).to.include('Settings');
  });

  it('is red for a collection that is not there', async () => {
    const result = await checked({ types: [{ ...gigs(), base: 'shows' }] });
    expect(row(result, 'lists', 'gigs').says).to.include('no collection');
    expect(row(result, 'lists', 'gigs').todo).to.include('snippet');
  });

  it('writes each field on a draft, reads it back, clears it, and leaves nothing behind', async () => {
    const result = await checked({}, { write: true });
    expect(row(result, 'writes', 'event').state).to.equal('ok');
    expect(result.code, JSON.stringify(result.rows.filter(({ state }) => state === 'fail'))).to.equal(0);
    expect(site.asked.filter((each) => each.startsWith('DELETE')).length).to.equal(1);
    expect(site.types[0]?.records.map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  it('tells with --write what was accepted and not kept', async () => {
    const { whole_day: _, ...registered } = META;
    const result = await checked({ types: [gigs({ meta: registered })] }, { write: true });
    const lost = row(result, 'writes', 'event.all_day');
    expect(lost.state).to.equal('fail');
    expect(lost.says).to.include('meta.whole_day');
    expect(lost.todo).to.include('snippet');
    expect(site.types[0]?.records.length).to.equal(2);
  });

  it('writes nothing without an account, and says so', async () => {
    site = await fakeSite({ types: [gigs()] });
    let text = '';
    const config = settings({ upstream: { url: site.url } });
    const code = await check({ config, json: true, write: true }, (part) => {
      text += part;
    });
    expect(code).to.equal(1);
    expect(row({ code, ...JSON.parse(text) }, 'writes', 'service').todo).to.include('CALENDAR_UPSTREAM_USER');
    expect(site.asked.some((each) => /^(POST|DELETE)/.test(each))).to.equal(false);
  });

  it('is a mistake of its own when the site does not answer', async () => {
    site = await fakeSite({ types: [gigs()] });
    const config = settings({ upstream: { url: 'http://127.0.0.1:9' } });
    let error: unknown;
    await check({ config }).catch((thrown) => {
      error = thrown;
    });
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as ConfigError).message).to.include('http://127.0.0.1:9');
  });

  it('names every option in its help, and what the exit codes mean', async () => {
    site = await fakeSite({ types: [] });
    for (const option of Object.keys(CHECK_OPTIONS)) expect(CHECK_HELP).to.include(`--${option}`);
    expect(CHECK_HELP).to.match(/Exit code: 0[\s\S]*1[\s\S]*2/);
  });

  describe('of change notices', () => {
    const heard = async (secret: string): Promise<Row | undefined> => {
      site = await fakeSite({ types: [] });
      const config = loadConfig({
        file: settings({ listen: { adminPort: 0 }, notices: { secret: 'shared between both' } }),
        env: {},
      });
      const { createServer } = await import('node:net');
      const port = await new Promise<number>((done) => {
        const probe = createServer().listen(0, '127.0.0.1', () => {
          const { port: free } = probe.address() as { port: number };
          probe.close(() => done(free));
        });
      });
      const notices = await listenForNotices({ ...config, listen: { ...config.listen, adminPort: port } });
      const body = JSON.stringify({ changes: [{ collection: 'gigs', id: 1 }] });
      const time = Math.floor(Date.now() / 1000);
      const mark = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      await fetch(`http://127.0.0.1:${port}/-/changes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-calendar-signature': `t=${time},v1=${mark}` },
        body,
      });
      return (await notices?.rows())?.[0];
    };

    it('hears one that is signed', async () => {
      const found = await heard('shared between both');
      expect(found, JSON.stringify(found)).to.include({ state: 'ok' });
    });

    it('tells one that is signed with something else', async () => {
      const found = await heard('another');
      expect(found).to.include({ state: 'fail' });
      expect(found?.todo).to.include('CALENDAR_NOTICE_SECRET');
    });
  });

  describe('of lists', () => {
    const kind = { base: 'gigs', kind: 'event', dedupe: false } as const;
    const walk = (more: object) => ({ total: 3, ids: [1, 2, 3], firstPage: 3, cut: false, ...more });
    beforeEach(async () => {
      site = await fakeSite({ types: [] });
    });

    it('is red for ids that repeat, unless the mapping knows it', () => {
      const repeated = walk({ ids: [1, 1, 2] });
      expect(listRow(kind, repeated)).to.include({
        state: 'fail',
        todo: 'Add "dedupe": true to "event" in the mapping.',
      });
      expect(listRow({ ...kind, dedupe: true }, repeated).state).to.equal('warn');
    });

    it('is red for a total that the list does not keep', () => {
      expect(listRow(kind, walk({ total: 5 })).state).to.equal('fail');
      expect(listRow(kind, walk({ total: 5, firstPage: 5 })).todo).to.include('listParams');
    });

    it('wonders when nothing of much is over', () => {
      const ahead = Array.from({ length: 10 }, () => ({ endUtc: '2031-01-01 00:00:00' }));
      expect(pastRows(ahead, '2026-11-21 10:00:00')[0]?.state).to.equal('warn');
      expect(pastRows(ahead, '2031-11-21 10:00:00')).to.deep.equal([]);
      expect(pastRows(ahead.slice(1), '2026-11-21 10:00:00')).to.deep.equal([]);
    });
  });
});
