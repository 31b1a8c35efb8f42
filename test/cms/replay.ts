// Replays recorded HTTP exchanges with nock; no test of the suite reaches the network.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import nock from 'nock';
import { type RecordedExchange, withoutPoll } from '../record/recorder.ts';

// Loading nock patches the process; this undoes it for other suites.
nock.restore();

/** Reads the recording `test/fixtures/NAME.json`. */
export function recording(name: string): RecordedExchange[] {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '../fixtures', `${name}.json`), 'utf8'),
  ) as RecordedExchange[];
}

/** Blocks the network around the tests of the enclosing `describe`. */
export function withoutNetwork(): void {
  before(() => {
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
  });
  after(() => {
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

/** Recorded requests that were not sent. */
export function pendingMocks(): string[] {
  return nock.pendingMocks();
}
