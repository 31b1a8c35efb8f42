// The gateway scenarios, on the recorded responses of a real WordPress.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cms } from '../../src/cms/port.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { recording, replay, watchUnrecorded, withoutNetwork } from '../cms/replay.ts';
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
      const { failed, observe } = watchUnrecorded();
      cms = createWordPress({ url: 'http://cms.example', observe, limits: { retries: 0 } });
      const recordedMs = Date.parse(recording(scenario.name)[0]?.rawHeaders.date ?? '');
      context = await Promise.race([scenario.open({ cms, as, nowMs: () => recordedMs }), failed]);
    });
    after(async () => {
      await context?.gateway.stop();
      await cms.close();
    });
    for (const { name, run } of scenario.cases) it(name, () => run(context!));
  });
}
