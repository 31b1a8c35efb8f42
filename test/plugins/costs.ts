// Costs, judged by The Events Calendar: each text is written through the gateway and through the plugin's own API, and
// the rows and both APIs' answers are compared, under several settings of the plugin.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { pluginCurrency } from '../../src/text/cost.ts';
import { COST_DIFFERENCES, currencyOfOffer } from '../calendar/cost-differences.ts';
import type { Json } from '../live/json-client.ts';
import type { PluginSite } from './plugin-test.ts';
import { write } from './site-requests.ts';

const recorded = JSON.parse(
  readFileSync(new URL('../fixtures/the-events-calendar-costs.json', import.meta.url), 'utf8'),
) as {
  costs: { sent: string }[];
  settings: { options: Json }[];
};

const FURTHER = [
  ...['12.50 €', '€ 12', 'CHF 20', 'kr 100', '20 kr.', 'R$ 50', 'Rs. 100', 'Free - 20', '12 €, 15 €', '12€, 15€, Free'],
  ...['10 - 20 EUR', '10,00 – 15,00 €', '5 bis 10 Euro', '€10 / £8', '$1,000 - $2,000', "1'200 CHF", '1 200 €'],
  ...['  8  €  ', 'Tea & cake 5', 'Tea &amp; cake 5', '<b>7</b> €', '"7" €', '10&euro;'],
];
const TEXTS = [...new Set([...recorded.costs.map(({ sent }) => sent), ...FURTHER])];
const DATES = { start_date: '2033-02-01 10:00:00', end_date: '2033-02-01 12:00:00' };

interface Pair {
  sent: string;
  /** The id of the event that was written through the gateway, and of the one that was written through the plugin. */
  gateway: number;
  plugin: number;
}

/** The rows of a cost in both events, by the key. Empty ones, which the plugin leaves after an update, count as none. */
async function rowsOf(site: PluginSite, ids: number[]): Promise<Map<number, Json>> {
  const rows = await site.php<{ post_id: string; meta_key: string; meta_value: string }[]>(
    `return $wpdb->get_results( "SELECT post_id, meta_key, meta_value FROM $wpdb->postmeta WHERE post_id IN (${ids.join(',')})
      AND meta_key IN ('_EventCost', '_EventCurrencySymbol', '_EventCurrencyPosition') AND meta_value <> '' ORDER BY meta_key" );`,
  );
  const byId = new Map<number, Json>(ids.map((id) => [id, {}]));
  for (const { post_id, meta_key, meta_value } of rows) byId.get(Number(post_id))![meta_key] = meta_value;
  return byId;
}

/** What the plugin says of each event: cost, its details, price and currency of the offer. */
const shownByPlugin = (site: PluginSite, ids: number[]): Promise<Record<string, Json>> =>
  site.php(
    `$repository = tribe( 'tec.rest-v1.repository' );
    foreach ( array( ${ids.join(',')} ) as $id ) {
      $event = $repository->get_event_data( $id, 'single' );
      $ld = current( Tribe__Events__JSON_LD__Event::instance()->get_data( $id ) );
      $offer = isset( $ld->offers ) ? array( 'price' => $ld->offers->price, 'currency' => $ld->offers->priceCurrency ) : null;
      $shown[ $id ] = array( 'cost' => $event['cost'], 'details' => $event['cost_details'], 'offer' => $offer );
    }
    return $shown;`,
  );

async function shownByGateway(site: PluginSite, id: number): Promise<Json> {
  const { cost, cost_details: details, json_ld } = (await site.request(`events/${id}`)).body as Json;
  const offers = (json_ld as Json | undefined)?.offers as Json | undefined;
  return { cost, details, offer: offers ? { price: offers.price, currency: offers.priceCurrency } : null };
}

async function writeAll(site: PluginSite): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (const sent of TEXTS) {
    const json = { title: 'Cost', ...DATES, cost: sent };
    const own = await site.wordpress('tribe/events/v1/events', { method: 'POST', json });
    expect(own.status, JSON.stringify(own.body)).to.equal(201);
    const { id } = await write(site, 'events', json, 201);
    pairs.push({ sent, gateway: Number(id), plugin: Number(own.body.id) });
  }
  return pairs;
}

/** As JSON. With a classic theme the plugin keeps every blank of `ab  €`; with a block theme it stores one of several. */
const withoutRuns = (value: unknown): string =>
  String(JSON.stringify(value)).replace(/ +/g, ' ').replaceAll('" ', '"').replaceAll(' "', '"');

/** Each text, with what both store and show. Throws for a difference without a reason. */
export async function compareCosts(site: PluginSite): Promise<void> {
  const pairs = await writeAll(site);
  const ids = pairs.flatMap(({ gateway, plugin }) => [gateway, plugin]);
  const rows = await rowsOf(site, ids);
  const unexplained: string[] = [];
  const note = (sent: string, what: string, here: unknown, there: unknown) => {
    if (withoutRuns(here) !== withoutRuns(there))
      unexplained.push(
        `${JSON.stringify(sent)}: ${what}: ${JSON.stringify(here)}, the plugin ${JSON.stringify(there)}`,
      );
  };
  for (const { sent, gateway, plugin } of pairs)
    if (!COST_DIFFERENCES[sent]?.stored) note(sent, 'rows', rows.get(gateway), rows.get(plugin));
  for (const options of [{}, ...recorded.settings.map((each) => each.options)]) {
    await setOptions(site, options);
    const own = await shownByPlugin(site, ids);
    console.log(
      `\ncosts with ${JSON.stringify(options)}: sent | stored by plugin | by gateway | shown by plugin | by gateway | why`,
    );
    for (const { sent, gateway, plugin } of pairs) {
      const [here, there] = [await shownByGateway(site, gateway), own[plugin] as Json];
      const known = COST_DIFFERENCES[sent];
      const currency = currencyOfOffer(sent);
      const stored = [rows.get(plugin), rows.get(gateway)].map((each) => JSON.stringify(each));
      const shown = [there, here].map(({ cost, offer }) => `${cost} (${(offer as Json | null)?.currency ?? '-'})`);
      console.log(
        [sent, ...stored, ...shown, known?.why ?? (currency ? 'the offer is in the typed currency' : '')].join(' | '),
      );
      note(sent, 'the plugin about both events', own[gateway], known?.stored ? own[gateway] : there);
      note(sent, 'the gateway about both events', here, known?.stored ? here : await shownByGateway(site, plugin));
      if (known) continue;
      note(sent, 'cost', [here.cost, here.details], [there.cost, there.details]);
      const [ours, theirs] = [here.offer, there.offer] as (Json | null)[];
      note(sent, 'price', ours?.price, theirs?.price);
      if (currency !== '') note(sent, 'currency', ours?.currency, currency ?? theirs?.currency);
    }
  }
  await setOptions(site, {});
  expect(unexplained).to.deep.equal([]);
}

/** The gateway reads the description of the site when it starts. */
async function setOptions(site: PluginSite, options: Json): Promise<void> {
  const names = ['defaultCurrencySymbol', 'defaultCurrencyCode', 'reverseCurrencyPosition'];
  const values = JSON.stringify(Object.fromEntries(names.map((name) => [name, options[name] ?? null])));
  await site.php(
    `$all = Tribe__Settings_Manager::get_options();
    foreach ( json_decode( '${values}', true ) as $name => $value ) {
      if ( null === $value ) { unset( $all[ $name ] ); } else { $all[ $name ] = $value; }
    }
    return Tribe__Settings_Manager::set_options( $all );`,
  );
  await site.restartGateway();
}

/** Pieces of costs. Texts of them reach every case of the plugin's rule. */
const PIECES = [
  ...[
    '5',
    '10',
    '0',
    '05',
    '12.50',
    '.50',
    '5.',
    '1,000',
    '1.000,50',
    ' ',
    ' ',
    ' - ',
    '-',
    '–',
    ', ',
    ',',
    '/',
    '(',
    ')',
  ],
  ...[
    '€',
    '$',
    '£',
    'R$',
    'CHF',
    'EUR',
    'kr',
    'kr.',
    'zł',
    'Free',
    'from',
    'per person',
    'ab',
    '&',
    'x',
    "'",
    '\u00a0',
  ],
];
const SEED = 7;

/** Generated texts: what the gateway would store is what the plugin's functions say. */
export async function compareRule(site: PluginSite): Promise<void> {
  const text = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((all) => all.join('').trim());
  const texts = fc.sample(text, { numRuns: 3000, seed: SEED }).filter((one) => one !== '');
  const said = await site.php<[string | false, string | false][]>(
    `$rule = tribe( 'cost-utils' );
    return array_map( static fn( $cost ) => array( $rule->parse_currency_symbol( $cost ), $rule->parse_currency_position( $cost ) ), json_decode( <<<'JSON'
${JSON.stringify(texts)}
JSON
, true ) );`,
  );
  const stored = (value: string | false): string => (value || '').replace(/[\t\n\r ]+/g, ' ');
  const differing = texts.flatMap((cost, at) => {
    const [symbol, position] = said[at]!.map(stored);
    const here = pluginCurrency(cost);
    return here.symbol === symbol && here.position === position ? [] : [{ cost, here, plugin: { symbol, position } }];
  });
  console.log(`  ${texts.length} generated costs, ${differing.length} with another symbol or position`);
  expect(differing).to.deep.equal([]);
}
