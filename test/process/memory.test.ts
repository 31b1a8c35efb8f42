// After a request, the memory of the process has no credentials of the caller, only a keyed hash.

import { createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { authorization, basic, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, MOUNT, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const WRONG = 'wr0ng-passw0rd-of-somebody';
const header = (authorization: string): string => authorization.replace('Basic ', '');

/** Which of these texts occur in a file, read in chunks. */
async function occurring(file: string, texts: string[]): Promise<string[]> {
  const found = new Set<string>();
  let tail = '';
  for await (const chunk of createReadStream(file, 'latin1')) {
    const text = tail + String(chunk);
    for (const one of texts) if (text.includes(one)) found.add(one);
    tail = text.slice(-200);
  }
  return [...found];
}

describe('process memory', function () {
  this.timeout(120_000);
  let wordpress: FakeWordPress;
  let serving: GatewayProcess;
  let dir: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-memory-'));
    wordpress = await startFakeWordPress();
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
      flags: ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${dir}`],
    });
    await serving.untilReady();
  });
  after(async () => {
    serving.child.kill('SIGKILL');
    await serving.exited;
    await wordpress.close();
    rmSync(dir, { recursive: true });
  });

  it('contains no credentials of callers', async () => {
    const ask = (authorization: string, path: string, body?: string) =>
      sendRequest(serving.port, MOUNT + path, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body }),
      });
    const callers = [authorization('author'), authorization('editor'), basic('author', WRONG)];
    const statuses: number[] = [];
    for (const caller of callers) {
      for (const path of ['/events', '/events/2', '/events?status=draft']) await ask(caller, path);
      statuses.push((await ask(caller, '/events/1', '{"title":"x"}')).status);
    }
    expect(statuses).to.deep.equal([403, 200, 401]);
    // Each connection to the CMS keeps its last request until the next one.
    for (let n = 0; n < 20; n += 1)
      await sendRequest(serving.port, `${MOUNT}/events`, { headers: { 'cache-control': 'no-cache' } });
    serving.child.kill('SIGUSR2');
    const place = () => readdirSync(dir).find((name) => name.endsWith('.heapsnapshot'));
    await until(() => place() !== undefined, 'a heap snapshot', 60_000);
    // The signal handler blocks JavaScript: the snapshot is complete when the gateway responds again.
    await serving.untilReady();
    const texts = [...callers.map(header), WRONG];
    expect(await occurring(join(dir, place()!), [...texts, header(authorization('admin'))])).to.deep.equal([
      header(authorization('admin')),
    ]);
  });
});
