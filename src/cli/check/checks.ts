// What a check is, what it works with, and the findings that it returns.

import type { Account } from '../../cms/port.ts';
import type { Config } from '../../config.ts';
import type { KindMapping, Mapping } from '../../mapping/mapping.ts';
import { KINDS, type Kind, type Site } from '../../model/records.ts';
import type { WordPressConnection } from '../open-site.ts';
import type { SampledRecords } from '../sample-records.ts';
import type { RowState } from '../table.ts';
import type { Advice } from './advice.ts';

export interface WebhookListener {
  /** A record of the kind was written, which must send a webhook that names its collection. */
  wrote(kind: Kind, collection: string): void;
  /** Waits a little for webhooks that are still on their way. */
  finding(): Promise<Finding>;
  close(): void;
}

export interface Check {
  area: string;
  /** Of its row. Absent if each finding has a name of its own. */
  name?: string;
  /** If it fails, the checks after it would only fail for the same reason, and do not run. */
  isRequired?: true;
  onlyWithWrite?: true;
  run(context: CheckContext): Promise<Finding | Finding[]>;
}

export interface CheckContext {
  config: Config;
  mapping: Mapping;
  kinds: readonly KindMapping<Kind>[];
  connection: WordPressConnection;
  site: Site;
  webhooks: WebhookListener | undefined;
  /** The service account, read once. Throws `CmsRejected`. */
  account(): Promise<Account>;
  /** Some records of each kind, read once. */
  records(): Promise<SampledRecords>;
}

export interface Finding {
  name?: string;
  state: RowState;
  message: string;
  advice?: Advice;
}

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warn = (message: string, advice?: Advice): Finding => finding('warn', message, advice);
/** A failure always comes with advice. */
export const fail = (message: string, advice: Advice): Finding => finding('fail', message, advice);

const finding = (state: RowState, message: string, advice?: Advice): Finding => ({
  state,
  message,
  ...(advice === undefined ? {} : { advice }),
});

/** The kinds that the CMS has according to the mapping, in the order of `KINDS`. */
export function mappedKinds(mapping: Mapping): KindMapping<Kind>[] {
  return KINDS.flatMap((kind) => (mapping.kinds[kind] as KindMapping<Kind> | undefined) ?? []);
}

/** `1 record`, `2 records`. */
export const pluralized = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
