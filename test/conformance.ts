// The recorded answers of the original, if they are beside the project: a gateway is asked the same, and compared.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from './start-gateway.ts';

const RUNNER = resolve(ROOT, '../shared/conformance/run.mjs');

/** Runs a script with this Node, with its output on the terminal. Resolves with the exit code. */
export async function runNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  return Number(code);
}

export interface ConformanceOptions {
  base: string;
  /** Where images are uploaded. */
  media: string;
  /** Of the site. */
  origin: string;
  /** `USER:PASSWORD` by role. */
  logins: Record<string, string>;
  /** Reasons of the steps that may differ. */
  known: Record<string, string>;
  /** Further options of the runner. */
  more?: string[];
}

export interface ConformanceResult {
  total: number;
  passed: number;
  statusAndCode: number;
  /** Steps that differ without a reason, each with its first difference. */
  unexplained: string[];
}

interface Step {
  step: string;
  result: string;
  diffs?: { path: string; expected: unknown; got: unknown }[];
}

const describeStep = ({ step, diffs: [first] = [] }: Step): string =>
  first ? `${step} (${first.path}: ${first.expected}, and not ${first.got})` : step;

/** Undefined if the recorded answers are not there. */
export async function playRecordedAnswers(options: ConformanceOptions): Promise<ConformanceResult | undefined> {
  if (!existsSync(RUNNER)) return undefined;
  const { base, media, origin, logins, known, more = [] } = options;
  const dir = mkdtempSync(join(tmpdir(), 'calendar-conformance-'));
  const file = join(dir, 'report.json');
  const auth = Object.entries(logins).map(([role, login]) => `${role}=${login}`);
  const site = ['--base', base, '--media', media, '--origin', origin];
  await runNode([RUNNER, ...site, '--auth', auth.join(','), '--json', file, ...more]);
  const report = JSON.parse(readFileSync(file, 'utf8')) as {
    pass: number;
    total: number;
    status_and_code: number;
    steps: Step[];
  };
  rmSync(dir, { recursive: true });
  const failed = report.steps.filter(({ step, result }) => result === 'fail' && !(step in known));
  const { pass: passed, total, status_and_code: statusAndCode } = report;
  return { total, passed, statusAndCode, unexplained: failed.map(describeStep) };
}
