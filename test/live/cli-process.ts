// Runs the operator's commands (`init`, `check`) as processes, and reads the settings that `init` writes.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../start-gateway.ts';

export interface CliResult {
  /** Standard output and standard error. */
  text: string;
  code: number;
}

export async function runCli(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<CliResult> {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...args], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  const code = await new Promise<number>((done) => child.once('close', (exitCode) => done(exitCode ?? 1)));
  return { text, code };
}

/** Reads an environment file that `init` wrote. */
export function settingsIn(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').matchAll(/^(\w+)="(.*)"$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}
