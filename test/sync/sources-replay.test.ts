// Recorded events of The Events Calendar, read by a gateway as a source and asked of the gateway: every property is the
// recorded one, but for those listed.

import { expect } from 'chai';
import { isObject, type JsonObject } from '../../src/model/json.ts';
import { Sources } from '../../src/sync/sources/sources.ts';
import { CREDENTIALS } from '../cms/fake-accounts.ts';
import { createFakeCms } from '../cms/fake-cms.ts';
import { type EventsSite, recordedEvents, startEventsSite } from '../cms/sources/events-site.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';

const LINKED = 'id global_id global_id_lineage author date date_utc modified modified_utc slug url description';
const TERM = 'id term_taxonomy_id term_group filter urls.self urls.collection count description';
const within = (kind: string, names: string) => names.split(' ').map((name) => `${kind}.${name}`);

/** Which properties differ, and why. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  'ids and addresses are those of this gateway': ['id', 'global_id', 'global_id_lineage', 'rest_url'],
  'a slug has a suffix': ['slug'],
  'the author is a user of the other site': ['author'],
  'the source is named': ['source'],
  'flags say how the other site shows the event': ['show_map', 'show_map_link', 'featured', 'sticky'],
  'a public list shows the event, whatever it says': ['hide_from_listings'],
  'HTML is made safe, and entities become characters': ['title', 'description'],
  'an ampersand in the address of a website is not escaped': ['website'],
  'the currency is that of the words of the cost': [
    ...within('cost_details', 'currency_symbol currency_position values'),
  ],
  'a minus before an amount is a sign: the original takes it for the currency': ['cost'],
  'terms are found by name': [...within('categories', TERM), ...within('tags', TERM)],
  'an image is not copied': within('image', 'id filesize sizes'),
  'venues are known by name and address': within('venue', `${LINKED} stateprovince show_map_link`),
  'organizers are known by name: the first event that has one says the rest': [
    ...within('organizer', `${LINKED} email phone website`),
  ],
};

/** The properties whose values differ, by their path: `venue.id`. */
function differences(recorded: unknown, served: unknown, path = ''): string[] {
  if (Array.isArray(recorded) && Array.isArray(served) && recorded.length === served.length)
    return recorded.flatMap((one, index) => differences(one, served[index], path));
  if (!isObject(recorded) || !isObject(served))
    return JSON.stringify(recorded) === JSON.stringify(served) ? [] : [path];
  const names = new Set([...Object.keys(recorded), ...Object.keys(served)]);
  return [...names].flatMap((name) =>
    differences(recorded[name], served[name], path === '' ? name : `${path}.${name}`),
  );
}

describe('recorded events of The Events Calendar, served by a gateway whose source they are', () => {
  let site: EventsSite;
  let gateway: TestGateway;
  let sources: Sources;
  const read = Promise.withResolvers<string | undefined>();
  before(async () => {
    site = await startEventsSite();
    gateway = await startGateway({ cms: createFakeCms(Date.now), service: CREDENTIALS.admin });
    sources = new Sources({
      sources: [{ name: 'theatre', events: site.address, reader: site.reader() }],
      replica: gateway.replica,
      site: () => gateway.sync.site(),
      whenComplete: () => gateway.sync.whenComplete(),
      intervalMs: 2 ** 29,
      observe: (observation) => observation.type === 'source-read' && read.resolve(observation.problem),
    });
  });
  after(async () => {
    await sources.stop();
    await gateway.stop();
    site.close();
  });

  it('are the recorded ones, but for what is listed', async () => {
    const recorded = recordedEvents();
    site.pages = [recorded.slice(0, 50), recorded.slice(50)];
    sources.start();
    expect(await read.promise).to.equal(undefined);
    const served: Json[] = [];
    for (const page of [1, 2]) {
      const window = 'start_date=2017-01-01&end_date=2033-01-01';
      served.push(...(await gateway.request(`/events?per_page=50&page=${page}&${window}`)).body.events);
    }
    expect(served).to.have.length(recorded.length);
    const found = new Set<string>();
    const otherCosts = new Map<unknown, unknown>();
    for (const from of recorded) {
      const event: JsonObject = served.find(({ url }) => url === from.url);
      for (const path of differences(from, event)) found.add(path);
      if (event.cost !== from.cost) otherCosts.set(from.cost, event.cost);
    }
    expect([...otherCosts]).to.deep.equal([['-5', '-$5']]);
    expect([...found].toSorted()).to.deep.equal(Object.values(DOCUMENTED).flat().toSorted());
  });
});
