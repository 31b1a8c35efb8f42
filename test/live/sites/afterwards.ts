// At the end of every contract: what the gateway answers from what it was told on the way is what another one copies.

import { expect } from 'chai';
import type { GatewayProcess } from '../gateway-process.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';

const LISTS = ['events?start_date=2000-01-01&end_date=2040-01-01', 'venues', 'organizers', 'categories', 'tags'];

async function everything(site: SiteUnderTest, gateway: GatewayProcess): Promise<Json> {
  const lists: Json = {};
  for (const path of LISTS) {
    const { status, body } = await site.ask(`${path}${path.includes('?') ? '&' : '?'}per_page=50`, { gateway });
    lists[path] = status === 200 ? body : body.code;
  }
  return JSON.parse(JSON.stringify(lists).replace(/http:[^"]*?(?=\/calendar\/events\/v1)/g, 'http://gateway')) as Json;
}

/** The gateway answers as a fresh copy does. */
export async function afterwards(site: SiteUnderTest, { check }: Tally): Promise<void> {
  await check('a copy made anew says the same', async () => {
    await site.afterRound();
    const fresh = await everything(site, await site.anotherGateway());
    const known = await everything(site, site.gateway);
    for (const path of LISTS) expect(known[path], path).to.deep.equal(fresh[path]);
  });
}
