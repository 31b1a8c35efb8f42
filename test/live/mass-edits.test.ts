// Three hundred edits within seconds are all visible within two intervals, whatever order the site's database gives to rows of the same second.

import { expect } from 'chai';
import { wordPressFiles } from '../../sandbox/files.ts';
import { nativePhpLack, nativeRuntime } from '../../sandbox/native.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { wasmRuntime } from '../../sandbox/wasm.ts';
import { type GatewayProcess, startGateway } from './gateway-process.ts';
import { EDITS, makeEvents, massEdit, removeEvents } from './mass-edits.ts';
import { dataDir, siteUrl, users } from './site.ts';

const RUNS = Number(process.env.LIVE_MASS_RUNS ?? 3);
const INTERVAL_S = 5;

describe('three hundred edits within seconds', () => {
  let gateway: GatewayProcess;
  let php: (code: string) => Promise<string>;
  before(async () => {
    const files = await wordPressFiles(() => {});
    const runtime = (await nativePhpLack()) === undefined ? nativeRuntime : wasmRuntime;
    const { wp } = runtime(dataDir, files.wpCli);
    php = (code) => wp(['eval', code]);
    await makeEvents(php, EDITS + 100);
    gateway = await startGateway({ url: siteUrl, credentials: users } as Sandbox, {
      ...{ service: true, intervalS: INTERVAL_S },
      config: { log: { level: 'warn', requests: false } },
    });
  });
  after(async () => {
    await gateway?.stop();
    await removeEvents(php);
  });

  it(`are all visible within two intervals, ${RUNS} times in a row`, async () => {
    for (let run = 1; run <= RUNS; run += 1) {
      const seen = await massEdit({ url: gateway.url, intervalS: INTERVAL_S, php }, `in run ${run}`);
      const took = `${(seen.allVisibleMs / 1000).toFixed(1)} s`;
      process.stderr.write(
        `live: ${seen.edits} edits in ${(seen.editingMs / 1000).toFixed(1)} s, all visible after ${took}\n`,
      );
      expect(seen.edits).to.equal(EDITS);
      expect(seen.staleAfterTwoIntervals).to.equal(0);
    }
  }).timeout(120_000 + RUNS * 60_000);
}).timeout(120_000);
