// The response cache takes no more memory than `cache.responseBytes`, whatever clients accept.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { on } from '../calendar/list-fixture.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { TestGateway } from '../start-gateway.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const RESPONSE_BYTES = 512 * 1024;
const LISTS = 150;

describe('memory of the response cache', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    const events = [on(1, { description: 'One of many small lists. '.repeat(40) })];
    gateway = await seededGateway(events, { cache: { responseBytes: RESPONSE_BYTES } });
  });
  afterEach(() => gateway.stop());

  /** Bytes of buffers without garbage, which leaves in several turns. */
  async function arrayBuffers(): Promise<number> {
    for (let turn = 0; turn < 5; turn += 1) {
      await nextTurn();
      collect();
    }
    return process.memoryUsage().arrayBuffers;
  }

  const cases: [what: string, query: string, accepted: readonly string[]][] = [
    ['small lists with gzip, br and zstd', '', ['gzip', 'br', 'zstd']],
    ['bodies of a few bytes', '_fields=total&', ['identity']],
  ];
  for (const [what, query, accepted] of cases)
    it(`is at most cache.responseBytes for ${what}`, async function () {
      this.timeout(60_000);
      const ask = async (list: number) => {
        const path = `/events?${query}unknown=${list}`;
        for (const encoding of accepted)
          expect((await gateway.request(path, { headers: { 'accept-encoding': encoding } })).status).to.equal(200);
      };
      await ask(0);
      const before = await arrayBuffers();
      for (let list = 1; list <= LISTS; list += 1) await ask(list);
      // The first request with an encoding does not wait for the compressed form.
      await sleep(500);
      expect((await arrayBuffers()) - before).to.be.below(RESPONSE_BYTES);
    });
});
