// Costs against The Events Calendar's own answers and rows: the recorded strings, each written, read and written back
// through a gateway, and the differences one by one.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { SiteSettings } from '../../src/model/records.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { type Json, startGateway } from '../start-gateway.ts';
import { COST_DIFFERENCES, currencyOfOffer } from './cost-differences.ts';

interface Row {
  sent: string;
  cost: string;
  cost_details: Json;
  offers: { price: string; priceCurrency: string } | null;
  stored: Record<string, string>;
}

const recorded = JSON.parse(
  readFileSync(new URL('../fixtures/the-events-calendar-costs.json', import.meta.url), 'utf8'),
) as { costs: Row[]; settings: { options: Json; rows: Row[] }[] };

const CURRENCY = { symbol: 'meta._EventCurrencySymbol', position: 'meta._EventCurrencyPosition' };
const mapping = mappingWith({
  cost: { at: 'meta._EventCost', as: { currency: { ...CURRENCY, code: 'meta._EventCurrencyCode' } } },
});

async function siteWith(settings?: SiteSettings) {
  const clock = { ms: Date.UTC(2027, 0, 1) };
  const nowMs = () => clock.ms;
  const cms = createFakeCms(nowMs);
  if (settings) cms.siteFacts = { ...cms.siteFacts, settings };
  const gateway = await startGateway({ cms, mapping, nowMs, service: CREDENTIALS.admin, as: CREDENTIALS });
  const write = async (path: string, json: Json) => {
    const { status, body } = await gateway.request(path, { method: 'POST', as: 'admin', json });
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
    return body;
  };
  const create = (more: Json = {}) =>
    write('/events', { title: 'Concert', start_date: '2031-05-01 19:30', end_date: '2031-05-01 22:00', ...more });
  const update = (id: number, json: Json) => write(`/events/${id}`, json);
  /** The rows of the cost that are not empty. */
  const rows = (id: number): Record<string, string> => {
    const meta = cms.posts.get(id)?.meta ?? {};
    return Object.fromEntries(
      Object.entries(meta as Record<string, string>).filter(
        ([key, value]) => /Cost|Currency/.test(key) && value !== '',
      ),
    );
  };
  const read = async (id: number) => (await gateway.request(`/events/${id}`)).body;
  return { clock, cms, gateway, create, update, rows, read };
}

/** What the gateway should show for a row, and store. */
function expected({ sent, cost, offers, stored }: Row, settings: SiteSettings = {}) {
  const known = COST_DIFFERENCES[sent];
  const typed = currencyOfOffer(sent);
  const currency = known?.cost === 'Free' ? (settings.currencyCode ?? 'USD') : offers?.priceCurrency;
  return { cost: known?.cost ?? cost, currency: typed ?? currency, stored: known?.stored ?? stored };
}

const settingsOf = (options: Json): SiteSettings => ({
  currencySymbol: options.defaultCurrencySymbol,
  currencyCode: options.defaultCurrencyCode,
  currencyPosition: options.reverseCurrencyPosition ? 'postfix' : 'prefix',
});

const tables = [
  { title: 'its default settings', settings: undefined, rows: recorded.costs },
  ...recorded.settings.map(({ options, rows }) => ({
    title: `the symbol ${options.defaultCurrencySymbol}`,
    settings: settingsOf(options),
    rows: rows.map((row) => ({ ...row, offers: row.offers ?? null })),
  })),
];

for (const { title, settings, rows } of tables)
  describe(`costs of The Events Calendar with ${title}`, () => {
    let site: Awaited<ReturnType<typeof siteWith>>;
    before(async () => {
      site = await siteWith(settings);
    });
    after(() => site.gateway.stop());

    for (const row of rows)
      it(`${JSON.stringify(row.sent)} is shown and stored as by the plugin, and stays when it is written back`, async () => {
        const { id } = await site.create({ cost: row.sent });
        const { cost, cost_details, json_ld } = await site.read(id);
        const stored = site.rows(id);
        const { cost: shown, currency, stored: storedByPlugin } = expected(row, settings);
        expect({ cost, currency: json_ld.offers?.priceCurrency }).to.deep.equal({ cost: shown, currency });
        expect(stored).to.deep.equal(storedByPlugin);
        if (!COST_DIFFERENCES[row.sent]) {
          expect(cost_details).to.deep.equal(row.cost_details);
          expect(json_ld.offers?.price).to.equal(row.offers?.price);
        }
        const before = await site.read(id);
        await site.update(id, { cost });
        expect(site.rows(id)).to.deep.equal(stored);
        expect({ ...(await site.read(id)), json_ld: undefined }).to.deep.equal({ ...before, json_ld: undefined });
      });
  });

describe('the currency of a cost', () => {
  const EURO: SiteSettings = { currencySymbol: '€', currencyCode: 'EUR', currencyPosition: 'postfix' };

  async function shownFor(meta: Record<string, string>, settings?: SiteSettings) {
    const site = await siteWith(settings);
    const { id } = await site.create();
    site.cms.edit(id, {
      meta: Object.fromEntries(Object.entries(meta).map(([key, value]) => [`_Event${key}`, value])),
    });
    await site.gateway.sync.poll();
    const { cost, cost_details, json_ld } = await site.read(id);
    await site.gateway.stop();
    return [cost, cost_details.currency_position, json_ld.offers?.priceCurrency];
  }

  it("is the record's, then the site's, then the gateway's", async () => {
    const pounds = { Cost: '5-25', CurrencySymbol: '£', CurrencyPosition: 'prefix' };
    expect(await shownFor(pounds)).to.deep.equal(['£5 – £25', 'prefix', 'GBP']);
    expect(await shownFor(pounds, EURO)).to.deep.equal(['£5 – £25', 'prefix', 'GBP']);
    expect(await shownFor({ Cost: '30' }, EURO)).to.deep.equal(['30€', '', 'EUR']);
    expect(await shownFor({ Cost: '30' })).to.deep.equal(['$30', '', 'USD']);
    expect(await shownFor({ Cost: '30', CurrencyCode: 'GBP' }, EURO)).to.deep.equal(['30€', '', 'GBP']);
    expect(await shownFor({ Cost: '30', CurrencyCode: 'GBP' })).to.deep.equal(['GBP30', '', 'GBP']);
    expect(await shownFor({ Cost: '30' }, { currencyCode: 'EUR' })).to.deep.equal(['EUR30', '', 'EUR']);
    expect(await shownFor({ Cost: '30' }, { currencySymbol: '' })).to.deep.equal(['30', '', undefined]);
  });

  it('has the position that the CMS names, in its own word', async () => {
    const euro = { Cost: '12.50', CurrencySymbol: '€' };
    expect(await shownFor({ ...euro, CurrencyPosition: 'suffix' })).to.deep.equal(['12.50€', 'suffix', 'EUR']);
    expect(await shownFor({ ...euro, CurrencyPosition: 'postfix' })).to.deep.equal(['12.50€', 'postfix', 'EUR']);
    expect(await shownFor(euro, EURO)).to.deep.equal(['12.50€', '', 'EUR']);
    expect(await shownFor({ Cost: '12', CurrencyPosition: 'suffix' })).to.deep.equal(['12$', 'suffix', 'USD']);
  });

  it('is the one that an editor chose, beside another in the text', async () => {
    expect(await shownFor({ Cost: '$5', CurrencySymbol: '€', CurrencyPosition: 'prefix' })).to.deep.equal([
      ...['€5', 'prefix', 'EUR'],
    ]);
  });

  it('is the one in the text if the site has more blanks in its symbol', async () => {
    expect(await shownFor({ Cost: 'ab 7 €', CurrencySymbol: 'ab  €' })).to.deep.equal(['ab 7 €', '', 'EUR']);
    expect(await shownFor({ Cost: '7 €', CurrencySymbol: ' €' })).to.deep.equal(['7€', 'postfix', 'EUR']);
  });

  it('is not named by a code if several currencies have the sign', async () => {
    expect((await shownFor({ Cost: '50 kr' }))[2]).to.equal(undefined);
    expect((await shownFor({ Cost: '50 kr' }, { currencySymbol: 'kr', currencyCode: 'SEK' }))[2]).to.equal('SEK');
    expect((await shownFor({ Cost: '€10 / £8' }))[2]).to.equal(undefined);
    expect((await shownFor({ Cost: '5', CurrencySymbol: 'constructor' }))[2]).to.equal(undefined);
    expect((await shownFor({ Cost: '$5', CurrencyCode: 'CAD' }))[2]).to.equal('CAD');
  });

  it('of the site is read again after ten minutes', async () => {
    const site = await siteWith();
    const { id } = await site.create({ cost: '30' });
    expect((await site.read(id)).cost).to.equal('$30');
    site.cms.siteFacts = { ...site.cms.siteFacts, settings: EURO };
    site.clock.ms += 600_000;
    for (let poll = 0; poll < 3; poll += 1) await site.gateway.sync.poll();
    expect((await site.read(id)).cost).to.equal('30€');
    await site.gateway.stop();
  });
});

describe('writing a cost', () => {
  let site: Awaited<ReturnType<typeof siteWith>>;
  before(async () => {
    site = await siteWith();
  });
  after(() => site.gateway.stop());

  it('stores no row for a new event without one', async () => {
    const site = await siteWith();
    const { id } = await site.create({ cost: '' });
    expect(site.cms.posts.get(id)?.meta).to.not.have.any.keys('_EventCost', '_EventCurrencySymbol');
    await site.gateway.stop();
  });

  it('leaves no row of a currency that the new cost does not have', async () => {
    const { id } = await site.create({ cost: '12.50 €' });
    expect(site.rows(id)).to.include({ _EventCurrencySymbol: '€', _EventCurrencyPosition: 'postfix' });
    await site.update(id, { cost: '15' });
    expect(site.rows(id)).to.deep.equal({ _EventCost: '15' });
  });

  it('back as it was shown changes nothing: Free - 20', async () => {
    const { id } = await site.create({ cost: 'Free - 20' });
    const stored = site.rows(id);
    const { cost, cost_details } = await site.read(id);
    expect([cost, cost_details.values]).to.deep.equal(['Free – $20', ['free', '20']]);
    await site.update(id, { cost, title: 'Other' });
    expect(site.rows(id)).to.deep.equal(stored);
    expect((await site.read(id)).cost).to.equal(cost);
  });
});
