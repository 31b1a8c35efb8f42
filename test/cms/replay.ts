// Replays recorded HTTP exchanges with nock; no test of the suite reaches the network.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import nock from 'nock';
import type { Observation } from '../../src/observability/observations.ts';
import { type RecordedExchange, withoutPoll } from '../record/recorder.ts';

// Loading nock patches the process; this undoes it for other suites.
nock.restore();

/** Reads the recording `test/fixtures/NAME.json`. */
export function recording(name: string): RecordedExchange[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '../fixtures', `${name}.json`), 'utf8'),
  ) as RecordedExchange[];
}

/** Blocks the network around the tests of the enclosing `describe`. A test that fails names the first call without an answer. */
export function withoutNetwork(): void {
  const unknown: string[] = [];
  const note = ({ method, url }: { method: string; url: string }) => {
    const { pathname, search } = new URL(url);
    unknown.push(`${method} ${pathname}${search}`);
  };
  before(() => {
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    nock.emitter.on('no match', note);
  });
  afterEach(function () {
    const [call] = unknown.splice(0);
    if (call === undefined || this.currentTest?.state !== 'failed') return;
    throw new Error(`the gateway made a call that the recording does not have (\`npm run record\`): ${call}`);
  });
  after(() => {
    nock.emitter.off('no match', note);
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  });
}

/** Replays a recording from exchange number `from` on: each response once, in order. */
export function replay(name: string, from = 0): void {
  nock.cleanAll();
  const scopes = nock.define(recording(name).slice(from) as unknown as nock.Definition[]);
  // The types lack its parameter.
  type Filtering = { filteringPath(change: (path: string) => string): unknown };
  for (const scope of scopes) (scope as unknown as Filtering).filteringPath(withoutPoll);
}

/**
 * `failed` rejects with the first call that got no answer, such as one for a new field of the mapping. Without it, a
 * gateway would wait for an initial sync that never ends.
 */
export function watchUnrecorded(): { failed: Promise<never>; observe(event: Observation): void } {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  const observe = (event: Observation) => {
    if (event.type === 'cms-failed')
      reject(new Error(`not recorded, see \`npm run record\`: ${event.method} ${event.path}`));
  };
  return { failed, observe };
}

/** Recorded requests that were not sent. */
export function pendingMocks(): string[] {
  return nock.pendingMocks();
}
