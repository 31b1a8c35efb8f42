// The files that docs/internals/request-paths.md names in order are executed by the list, the create or the
// poll that it describes; and few files lie between a request and the SQL that it leads to.

import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { CREDENTIALS, createFakeCms, type FakeCms } from './cms/fake-cms.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const ROOT = join(import.meta.dirname, '..');
const text = readFileSync(join(ROOT, 'docs/internals/request-paths.md'), 'utf8');

/**
 * The numbered files of a section. Those of the network are not executed here: the gateway is in memory, and
 * its CMS a fake.
 */
function filesOf(heading: string): string[] {
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const items = section.split('\n## ')[0]!.match(/^\d+\. .*$/gm) ?? [];
  return items
    .flatMap((item) => [...item.matchAll(/\]\(\.\.\/\.\.\/(src\/[\w/.-]+)\)/g)].map(([, file]) => file!))
    .filter((file) => file !== 'src/http/server.ts' && !file.startsWith('src/cms/'));
}

/** The files of `src/` in which `work` called a function. */
async function executedBy(work: () => Promise<unknown>): Promise<Set<string>> {
  const prefix = `${pathToFileURL(ROOT).href}/`;
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]!.count > 0));
    return new Set(called.map(({ url }) => url.replace(prefix, '')));
  } finally {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

const STATEMENT_METHODS = ['all', 'get', 'run', 'iterate'] as const;
const FRAMES = 200;

/**
 * The files of `src/` that are on the call stack, awaiting callers included, whenever `work` runs a statement
 * of SQL.
 */
async function callersOfSql(work: () => Promise<unknown>): Promise<Set<string>> {
  const files = new Set<string>();
  const original = { ...Object.getOwnPropertyDescriptors(StatementSync.prototype) };
  const { stackTraceLimit } = Error;
  for (const name of STATEMENT_METHODS) {
    const run = original[name].value!;
    const recording = function (this: StatementSync, ...args: Parameters<typeof run>) {
      for (const [file] of new Error('the call stack').stack!.matchAll(/src\/[\w/.-]+\.ts/g)) files.add(file);
      return Reflect.apply(run, this, args);
    };
    Object.defineProperty(StatementSync.prototype, name, { ...original[name], value: recording });
  }
  Error.stackTraceLimit = FRAMES;
  try {
    await work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    for (const name of STATEMENT_METHODS) Object.defineProperty(StatementSync.prototype, name, original[name]);
  }
  return files;
}

describe('docs/internals/request-paths.md', () => {
  let cms: FakeCms;
  let gateway: TestGateway;

  before(async () => {
    cms = createFakeCms(Date.now);
    cms.createTerm('event_categories', { slug: 'music', name: 'Music' });
    cms.createPost('events');
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    await gateway.sync.poll();
  });
  after(() => gateway.stop());

  const create = {
    title: 'Concert',
    status: 'publish',
    start_date: '2027-01-10 10:00:00',
    end_date: '2027-01-10 12:00:00',
    categories: ['music'],
    venue: { venue: 'Hall' },
  };
  let requests = 0;
  const WAYS: [heading: string, named: number, crossed: number, work: () => Promise<unknown>][] = [
    [
      'A list that no cache has',
      20,
      // server.ts and fast-path.ts come before these: the gateway of this test is in memory.
      18,
      async () => {
        // Another list every time.
        requests += 1;
        expect((await gateway.request(`/events?categories=music&per_page=${requests}`)).status).to.equal(200);
      },
    ],
    [
      'A create',
      18,
      40,
      async () => {
        requests += 1;
        const json = { ...create, venue: { venue: `Hall ${requests}` } };
        expect((await gateway.request('/events', { method: 'POST', as: 'admin', json })).status).to.equal(201);
      },
    ],
    [
      'A poll',
      15,
      20,
      async () => {
        cms.createPost('events');
        expect(await gateway.sync.poll()).to.equal(true);
      },
    ],
  ];

  for (const [heading, named, crossed, work] of WAYS) {
    it(`${heading}: names files that it executes`, async () => {
      const files = filesOf(heading);
      expect(files.length).to.be.at.least(named);
      const executed = await executedBy(work);
      expect(files.filter((file) => !executed.has(file))).to.deep.equal([]);
    });

    it(`${heading}: crosses at most ${crossed} files on the way to the SQL of the replica`, async () => {
      const files = await callersOfSql(work);
      expect(files).to.include('src/store/database.ts');
      expect(files.size, [...files].join(' ')).to.be.at.most(crossed);
    });
  }
});
