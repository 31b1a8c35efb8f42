// The rules of the gateway-level scenes, on what a real WordPress answered when they were recorded.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Upstream } from '../../src/upstream/port.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';
import type { GatewayScene, Play } from '../record/gateway-scene.ts';
import type { Stage } from '../record/scene.ts';
import { recording, replay, withoutNetwork } from '../upstream/replay.ts';

const SCENES = join(import.meta.dirname, '../record/scenes');
const ROLES = ['admin', 'editor', 'author', 'contributor', 'subscriber'] as const;
const as = Object.fromEntries(
  ROLES.map((role) => [role, `Basic ${Buffer.from(`${role}:recorded`).toString('base64')}`]),
) as Stage['as'];

const scenes: GatewayScene[] = [];
for (const file of readdirSync(SCENES).sort()) {
  if (file.startsWith('gateway-')) scenes.push(((await import(join(SCENES, file))) as { scene: GatewayScene }).scene);
}

for (const scene of scenes) {
  describe(`recorded: ${scene.name}`, () => {
    withoutNetwork();
    let upstream: Upstream;
    let play: Play;
    before(async () => {
      replay(scene.name);
      upstream = createWordPress({ url: 'http://cms.example', observe: () => {}, limits: { retries: 0 } });
      const recordedMs = Date.parse(recording(scene.name)[0]?.rawHeaders.date ?? '');
      play = await scene.open({ upstream, as, nowMs: () => recordedMs });
    });
    after(async () => {
      await play.gateway.close();
      await upstream.close();
    });
    for (const { name, show } of scene.rules) it(name, () => show(play));
  });
}
