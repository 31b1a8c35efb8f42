// The gateway scenarios, on the recorded responses of a real WordPress.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cms } from '../../src/cms/port.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import type { Observation } from '../../src/observability/observations.ts';
import { recording, replay, withoutNetwork } from '../cms/replay.ts';
import type { GatewayScenario, ScenarioContext } from '../record/gateway-scenario.ts';
import type { RecordingContext } from '../record/scenario.ts';

const SCENARIOS = join(import.meta.dirname, '../record/scenarios');
const ROLES = ['admin', 'editor', 'author', 'contributor', 'subscriber'] as const;
const as = Object.fromEntries(
  ROLES.map((role) => [role, `Basic ${Buffer.from(`${role}:recorded`).toString('base64')}`]),
) as RecordingContext['as'];

const scenarios: GatewayScenario[] = [];
for (const file of readdirSync(SCENARIOS).sort()) {
  if (file.startsWith('gateway-'))
    scenarios.push(((await import(join(SCENARIOS, file))) as { scenario: GatewayScenario }).scenario);
}

for (const scenario of scenarios) {
  describe(`recorded: ${scenario.name}`, () => {
    withoutNetwork();
    let cms: Cms;
    let context: ScenarioContext | undefined;
    before(async () => {
      replay(scenario.name);
      // Without this, the gateway would wait for an initial sync that never ends.
      const unrecorded = Promise.withResolvers<never>();
      const observe = (event: Observation) => {
        if (event.type === 'cms-failed')
          unrecorded.reject(new Error(`not recorded, see \`npm run record\`: ${event.method} ${event.path}`));
      };
      cms = createWordPress({ url: 'http://cms.example', observe, limits: { retries: 0 } });
      const recordedMs = Date.parse(recording(scenario.name)[0]?.rawHeaders.date ?? '');
      unrecorded.promise.catch(() => undefined);
      context = await Promise.race([scenario.open({ cms, as, nowMs: () => recordedMs }), unrecorded.promise]);
    });
    after(async () => {
      await context?.gateway.stop();
      await cms.close();
    });
    for (const { name, run } of scenario.cases) it(name, () => run(context!));
  });
}
