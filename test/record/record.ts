// `npm run record [scene ...]`: plays the scenes against a fresh WordPress and writes what it answered to test/fixtures.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '../../sandbox/site.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { snippet } from '../../src/cli/snippet.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';
import { createRecorder } from './recorder.ts';
import type { Scene, Stage } from './scene.ts';

const SCENES = join(import.meta.dirname, 'scenes');
const FIXTURES = join(import.meta.dirname, '../fixtures');

async function loadScenes(names: readonly string[]): Promise<Scene[]> {
  const files = readdirSync(SCENES)
    .filter((file) => file.endsWith('.ts'))
    .sort();
  const scenes: Scene[] = [];
  for (const file of files) {
    const { scene } = (await import(join(SCENES, file))) as { scene: Scene };
    if (names.length === 0 || names.includes(scene.name)) scenes.push(scene);
  }
  const missing = names.filter((name) => !scenes.some((scene) => scene.name === name));
  if (missing.length > 0) throw new Error(`no such scene: ${missing.join(', ')}`);
  return scenes;
}

async function play(scene: Scene, sandbox: Sandbox): Promise<number> {
  const recorder = createRecorder(sandbox.url);
  const { dispatcher } = recorder;
  const users = Object.entries(sandbox.credentials);
  const as = Object.fromEntries(
    users.map(([role, { user, applicationPassword }]) => [
      role,
      `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`,
    ]),
  ) as Record<Role, string>;
  const stage: Stage = {
    // The scenes wait for each other's answers, and PHP as WebAssembly takes its time.
    upstream: createWordPress({
      url: sandbox.url,
      observe: () => {},
      limits: { deadlineMs: 120_000, headersTimeoutMs: 120_000, retries: 0 },
      dispatcher,
    }),
    dispatcher,
    site: sandbox.url,
    as,
    wp: (args) => sandbox.wp(args),
  };
  await scene.run(stage);
  await recorder.close();

  const text = `${JSON.stringify(recorder.recorded, null, 1)}\n`;
  const secrets = users.flatMap(([, { password, applicationPassword }]) => [password, applicationPassword]);
  for (const secret of [...secrets, ...Object.values(as).map((header) => header.slice('Basic '.length))]) {
    if (text.includes(secret)) throw new Error(`the recording of ${scene.name} holds a password`);
  }
  writeFileSync(join(FIXTURES, `${scene.name}.json`), text);
  return recorder.recorded.length;
}

async function main(): Promise<void> {
  const scenes = await loadScenes(process.argv.slice(2));
  const dir = mkdtempSync(join(tmpdir(), 'calendar-record-'));
  const plugin = snippet(loadMapping('wordpress-meta'));
  const sandbox = await startSandbox({ dir, port: 0, mapping: false, muPlugins: { 'calendar-gateway.php': plugin } });
  try {
    for (const scene of scenes) {
      const exchanges = await play(scene, sandbox);
      process.stderr.write(`record: ${scene.name}: ${exchanges} exchanges\n`);
    }
  } finally {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
