// What the checks of the contract share: the implementation, and what earlier checks leave for later ones.

import { expect } from 'chai';
import { type Cms, type CmsRecord, type ListRequest, plainCollection } from '../../src/cms/port.ts';
import { CmsRejected, type RejectionKind } from '../../src/errors.ts';
import type { KindMapping, Mapping } from '../../src/mapping/mapping.ts';
import type { EventFields, Site } from '../../src/model/records.ts';

/** One implementation, and how its site is mapped. */
export interface ContractSubject {
  cms: Cms;
  /** A CMS of this implementation that nobody can reach. */
  unreachable: Cms;
  mapping: Mapping;
  /** The credentials of an account that may do everything, and of one that may only read. */
  as: { admin: string; subscriber: string };
  wrongCredentials: string;
  /** Lets this time pass on the CMS's clock. */
  wait(ms: number): Promise<void>;
}

/** What earlier checks leave for later ones. */
export class ContractContext {
  readonly cms: Cms;
  readonly unreachable: Cms;
  readonly event: KindMapping<'event'>;
  readonly category: KindMapping<'category'>;
  readonly admin: { credentials: string };
  readonly subscriber: { credentials: string };
  readonly wrong: { credentials: string };
  readonly wait: ContractSubject['wait'];
  readonly missing = plainCollection('no-such-collection', 'posts');
  readonly ids: number[] = [];
  site: Site = { url: '', name: '', timezone: 'UTC' };
  adminId = 0;
  draft = 0;
  image = 0;

  constructor({ cms, unreachable, mapping, as, wrongCredentials, wait }: ContractSubject) {
    this.cms = cms;
    this.unreachable = unreachable;
    this.event = mapping.kinds.event;
    this.category = mapping.kinds.category!;
    this.admin = { credentials: as.admin };
    this.subscriber = { credentials: as.subscriber };
    this.wrong = { credentials: wrongCredentials };
    this.wait = wait;
  }

  body(title: string, status = 'publish'): CmsRecord {
    const times = { start: '2031-05-01 10:00:00', end: '2031-05-01 12:00:00' };
    return this.event.write({ title, status, ...times } as Partial<EventFields>, { site: this.site });
  }

  list = (request: Partial<ListRequest> = {}, as: object = {}) =>
    this.cms.list(this.event, { view: 'public', limit: this.cms.maxPageSize, ...request }, as);

  /** What the editor sees of the contract's own events. */
  listOwn = (request: Partial<ListRequest> = {}) =>
    this.list({ view: 'editor', statuses: 'all', ids: this.ids, ...request }, this.admin);
}

export interface Promised {
  name: string;
  check(context: ContractContext): Promise<void>;
}

export const idsOf = (records: readonly CmsRecord[]): number[] => records.map(({ id }) => Number(id));

/** Fails unless the call is rejected in one of these ways and has written nothing. */
export async function expectRejected(
  call: Promise<unknown>,
  ...kinds: [RejectionKind, ...RejectionKind[]]
): Promise<CmsRejected> {
  const error = await call.then(
    () => expect.fail(`was expected to be rejected: ${kinds.join(', ')}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CmsRejected)) throw error;
  expect(error.kind).to.be.oneOf(kinds);
  expect(error.written).to.equal('no');
  return error;
}
