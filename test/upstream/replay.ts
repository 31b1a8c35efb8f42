// Replays a recording: the network is shut while a suite runs, and open again, without nock, after it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import nock from 'nock';
import type { Recorded } from '../record/recorder.ts';

// It patches the process when it is loaded; other suites are not to be touched by it.
nock.restore();

/** The recording `test/fixtures/NAME.json`, as it was written. */
export function recording(name: string): Recorded[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures', `${name}.json`), 'utf8')) as Recorded[];
}

/** To be called within a `describe`: shuts the network around it. */
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

/** Lays out a recording from its exchange number `from` on, so that each of its answers is given once, in order. */
export function replay(name: string, from = 0): void {
  nock.cleanAll();
  nock.define(recording(name).slice(from) as unknown as nock.Definition[]);
}

/** What was recorded and has not been asked for. */
export function leftOver(): string[] {
  return nock.pendingMocks();
}
