// SIGTERM to npm reaches Node, and no process stays behind.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../until.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** The command line of a process; empty if it has ended. */
const commandOf = (pid: number): string => spawnSync('ps', ['-o', 'stat=,args=', '-p', String(pid)]).stdout.toString();

describe('a long-running npm script', function () {
  this.timeout(60_000);

  for (const name of ['start', 'cli', 'demo', 'sandbox'])
    it(`${name}: SIGTERM to npm ends Node as well`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'calendar-npm-'));
      try {
        const pidFile = join(folder, 'pid');
        const stay = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`;
        writeFileSync(join(folder, 'stay.cjs'), stay);
        // The real script, with another JavaScript file.
        const script = scripts[name]!.replace(/ \S+\.[jt]s\b.*$/, ' stay.cjs');
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { [name]: script } }));
        const npm = spawn('npm', ['run', '--silent', name], { cwd: folder, stdio: 'ignore', detached: true });
        const read = () => {
          try {
            return Number(readFileSync(pidFile, 'utf8'));
          } catch {
            return 0;
          }
        };
        await until(() => read() > 0, 'Node runs', 30_000);
        npm.kill('SIGTERM');
        await once(npm, 'exit');
        await until(() => !/^[^Z]\S* .*stay\.cjs/.test(commandOf(read())), 'Node has ended');
        expect(script).to.match(/^exec node /);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
