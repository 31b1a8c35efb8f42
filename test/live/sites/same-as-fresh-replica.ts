// The end of every contract: the replica that followed all changes equals one from a new initial sync.

import { expect } from 'chai';
import type { GatewayProcess } from '../../start-gateway.ts';
import type { Results } from './results.ts';
import type { Json, TestSite } from './test-site.ts';

const LISTS = ['events?start_date=2000-01-01&end_date=2040-01-01', 'venues', 'organizers', 'categories', 'tags'];

async function readAllLists(site: TestSite, gateway: GatewayProcess): Promise<Json> {
  const lists: Json = {};
  for (const path of LISTS) {
    const { status, body } = await site.request(`${path}${path.includes('?') ? '&' : '?'}per_page=50`, { gateway });
    lists[path] = status === 200 ? body : body.code;
  }
  return JSON.parse(JSON.stringify(lists).replace(/http:[^"]*?(?=\/calendar\/events\/v1)/g, 'http://gateway')) as Json;
}

export async function testSameAsFreshReplica(site: TestSite, { check }: Results): Promise<void> {
  await check('a new replica has the same lists', async () => {
    await site.nextPoll();
    const expected = await readAllLists(site, await site.startSecondGateway());
    const lists = await readAllLists(site, site.gateway);
    for (const path of LISTS) expect(lists[path], path).to.deep.equal(expected[path]);
  });
}
