// Three hundred edits within seconds are all visible within two poll intervals, in any row order of the
// site's database.

import { expect } from 'chai';
import { nativePhpProblem, nativePhpRunner } from '../../sandbox/native-php.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { wasmPhpRunner } from '../../sandbox/wasm-php.ts';
import { wordPressFiles } from '../../sandbox/wordpress-files.ts';
import type { GatewayProcess } from '../start-gateway.ts';
import { dataDir, siteUrl, users } from './environment.ts';
import { startLiveGateway } from './live-gateway.ts';
import { createEvents, deleteEvents, EDIT_COUNT, massEdit } from './mass-edits.ts';

const RUNS = Number(process.env.LIVE_MASS_RUNS ?? 3);
const INTERVAL_S = 5;

describe('three hundred edits within seconds', () => {
  let gateway: GatewayProcess;
  let php: (code: string) => Promise<string>;
  before(async () => {
    const files = await wordPressFiles(() => {});
    const runtime = (await nativePhpProblem()) === undefined ? nativePhpRunner : wasmPhpRunner;
    const { wp } = runtime(dataDir, files.wpCli);
    php = (code) => wp(['eval', code]);
    await createEvents(php, EDIT_COUNT + 100);
    gateway = await startLiveGateway({ url: siteUrl, credentials: users } as Sandbox, {
      ...{ service: true, intervalS: INTERVAL_S },
      config: { log: { level: 'warn', requests: false } },
    });
  });
  after(async () => {
    await gateway?.stop();
    await deleteEvents(php);
  });

  it(`are all visible within two poll intervals, ${RUNS} times in a row`, async () => {
    for (let run = 1; run <= RUNS; run += 1) {
      const result = await massEdit({ url: gateway.url, intervalS: INTERVAL_S, php }, `in run ${run}`);
      const took = `${(result.allVisibleMs / 1000).toFixed(1)} s`;
      process.stderr.write(
        `live: ${result.edits} edits in ${(result.editingMs / 1000).toFixed(1)} s, all visible after ${took}\n`,
      );
      expect(result.edits).to.equal(EDIT_COUNT);
      expect(result.staleAfterTwoIntervals).to.equal(0);
    }
  }).timeout(120_000 + RUNS * 60_000);
}).timeout(120_000);
