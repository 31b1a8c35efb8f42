// Callers' passwords are gone from the process's memory when their requests have ended: what is kept of them is a keyed hash.

import { createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { as, basic, PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { until } from '../until.ts';
import { type Serving, serve, untilReady } from './serving.ts';

const WRONG = 'wr0ng-passw0rd-of-somebody';
const header = (authorization: string): string => authorization.replace('Basic ', '');

/** Which of the texts occur in a file that is too large to be read at once. */
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

describe('the memory of the process', function () {
  this.timeout(120_000);
  let wordpress: WordPressStandIn;
  let serving: Serving;
  let dir: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-memory-'));
    wordpress = await startWordPress();
    serving = await serve(wordpress.url.href, {
      password: PASSWORD,
      flags: ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${dir}`],
    });
    await untilReady(serving);
  });
  after(async () => {
    serving.child.kill('SIGKILL');
    await serving.ended;
    await wordpress.close();
    rmSync(dir, { recursive: true });
  });

  it('holds no credentials of those who called', async () => {
    const ask = (authorization: string, path: string, body?: string) =>
      exchange(serving.port, MOUNT + path, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body }),
      });
    const callers = [as('author'), as('editor'), basic('author', WRONG)];
    const statuses: number[] = [];
    for (const caller of callers) {
      for (const path of ['/events', '/events/2', '/events?status=draft']) await ask(caller, path);
      statuses.push((await ask(caller, '/events/1', '{"title":"x"}')).status);
    }
    expect(statuses).to.deep.equal([403, 200, 401]);
    // What the connections to the CMS sent last is forgotten with the next that is sent.
    for (let n = 0; n < 20; n += 1)
      await exchange(serving.port, `${MOUNT}/events`, { headers: { 'cache-control': 'no-cache' } });
    serving.child.kill('SIGUSR2');
    const place = () => readdirSync(dir).find((name) => name.endsWith('.heapsnapshot'));
    await until(() => place() !== undefined, 'a picture of the heap', 60_000);
    // The signal is handled where JavaScript runs: whoever is answered after it knows that the file is whole.
    await untilReady(serving);
    const texts = [...callers.map(header), WRONG];
    expect(await occurring(join(dir, place()!), [...texts, header(as('admin'))])).to.deep.equal([header(as('admin'))]);
  });
});
