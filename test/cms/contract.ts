// The contract of a CMS: calls of two recorded scenarios, and the results that every implementation must
// have.

import { expect } from 'chai';
import type { Cms, CmsRecord } from '../../src/cms/port.ts';
import { CmsRejected, type RejectionKind } from '../../src/errors.ts';
import type { RecordingContext, Scenario } from '../record/scenario.ts';
import { scenario as collections } from '../record/scenarios/collections.ts';
import { scenario as media } from '../record/scenarios/media.ts';

/**
 * A call and its result, reduced to what implementations have in common; ids are numbered by first
 * appearance.
 */
type Result = [method: string, result: unknown];

const rejected = (kind: RejectionKind, more: object = {}) => ({ rejected: kind, written: 'no', ...more });
const post = (id: string, title: string, slug: string, status = 'publish') => ({ id, title, slug, status });
const term = { id: '#4', name: 'Café & Bar', slug: 'cafe-bar' };

const COLLECTIONS: Result[] = [
  ['create', post('#1', 'One', 'one')],
  ['create', post('#2', 'Two & a half', 'two-a-half')],
  ['create', post('#3', 'Drei „Ü“', 'drei-u')],
  [
    'list',
    {
      total: 3,
      records: [
        { id: '#3', title: 'Drei „Ü“', status: 'publish' },
        { id: '#2', title: 'Two & a half', status: 'publish' },
      ],
    },
  ],
  ['list', { total: 3, records: [{ id: '#1' }] }],
  ['list', { total: 0, records: [] }],
  ['read', { id: '#1', title: 'One', status: 'publish' }],
  ['update', post('#1', 'One again', 'one')],
  ['exists', true],
  ['trash', post('#1', 'One again', 'one__trashed', 'trash')],
  ['trash', rejected('gone')],
  ['delete', undefined],
  ['read', rejected('not-found')],
  ['exists', false],
  ['create', rejected('forbidden')],
  ['create', rejected('forbidden')],
  ['create', rejected('invalid', { fields: ['title'] })],
  ['create', rejected('invalid', { fields: ['status'] })],
  ['list', rejected('invalid', { fields: ['per_page'] })],
  ['list', rejected('forbidden')],
  ['list', rejected('invalid', { fields: ['status'] })],
  ['list', rejected('no-collection')],
  ['create', term],
  ['create', rejected('conflict', { fields: ['name'], existing: '#4' })],
  ['create', rejected('forbidden')],
  ['list', { total: 1, records: [term] }],
  ['list', { total: 1, records: [] }],
  ['delete', undefined],
];

const MEDIA: Result[] = [
  ['upload', { id: '#1' }],
  ['upload', { id: '#2' }],
  ['images', [{ id: '#2' }, { id: '#1' }]],
  ['exists', true],
  ['upload', rejected('failed')],
  ['upload', rejected('forbidden')],
  ['upload', rejected('forbidden')],
  ['delete', undefined],
  ['images', []],
];

export interface ContractSubject {
  cms: Cms;
  as: { admin: string; subscriber: string };
}

/** Declares the contract's tests for one implementation; `open` starts it for a scenario. */
export function describeCmsContract(name: string, open: (scenario: string) => ContractSubject): void {
  describe(`the contract of a CMS: ${name}`, () => {
    for (const [scenario, results] of [
      [collections, COLLECTIONS],
      [media, MEDIA],
    ] as const) {
      it(`responds to the calls of the scenario ${scenario.name}`, async () => {
        expect(await run(scenario, open(scenario.name))).to.deep.equal(results);
      });
    }
  });
}

async function run(scenario: Scenario, { cms, as }: ContractSubject): Promise<Result[]> {
  const results: Result[] = [];
  const ids = new Map<unknown, string>();
  const idOf = (id: unknown) => {
    ids.set(id, ids.get(id) ?? `#${ids.size + 1}`);
    return ids.get(id);
  };
  const recorded = new Proxy(cms, {
    get:
      (target, method: keyof Cms & string) =>
      async (...args: unknown[]) => {
        try {
          const result = await (target[method] as (...args: unknown[]) => Promise<unknown>)(...args);
          results.push([method, reduce(result, idOf)]);
          return result;
        } catch (error) {
          results.push([method, reduceError(error, idOf)]);
          throw error;
        }
      },
  });
  await scenario.run({ cms: recorded, as } as RecordingContext);
  return results;
}

function reduce(result: unknown, idOf: (id: unknown) => string | undefined): unknown {
  if (Array.isArray(result)) return result.map((each) => reduce(each, idOf));
  if (typeof result !== 'object' || result === null) return result;
  const { records, total, id, title, name, slug, status } = result as CmsRecord;
  if (records !== undefined) return { total, records: reduce(records, idOf) };
  const isTitled = typeof title === 'object' && title !== null && 'raw' in title;
  const isMedia = !isTitled && name === undefined && status === undefined;
  if (isMedia || status === 'inherit') return { id: idOf(id) };
  return {
    id: idOf(id),
    ...(isTitled && { title: title.raw }),
    ...(typeof name === 'string' && { name: name.replace('&amp;', '&') }),
    ...(slug !== undefined && { slug }),
    ...(status !== undefined && { status }),
  };
}

function reduceError(error: unknown, idOf: (id: unknown) => string | undefined): unknown {
  if (!(error instanceof CmsRejected)) throw error;
  const { kind, written, fields, existingId } = error;
  return {
    rejected: kind,
    written,
    ...(fields.length > 0 && { fields: [...new Set(fields)] }),
    ...(existingId !== undefined && { existing: idOf(existingId) }),
  };
}
