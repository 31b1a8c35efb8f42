// Who may see and change what: the capabilities of an account become rules about statuses and authors, as the CMS applies them.

import { type PostRecord, WITHHELD } from '../records.ts';
import { PUBLIC, type Visibilities, type Visibility } from '../replica/filters.ts';
import type { Account, Credentials } from '../upstream/port.ts';

/** Somebody who asks: nobody in particular, or an account that the CMS vouched for. */
export interface Caller {
  credentials: Credentials;
  account: Account | undefined;
  /** For an anonymous caller: the network that the request counts for. */
  network?: string;
}

export const ANONYMOUS: Caller = { credentials: undefined, account: undefined };

/** Statuses that only an editor of the record sees, and those a list shows when none is named. */
const HIDDEN_STATUSES = ['draft', 'pending', 'private', 'future', 'trash', 'auto-draft', 'inherit', WITHHELD];
export const ANY_STATUS = ['publish', 'draft', 'pending', 'private', 'future'];

/** Capability names of one collection: WordPress's general name -> this collection's own. */
export type CapabilityNames = Record<string, string>;

/** For what belongs to no collection, such as uploads: WordPress's general names. */
export const GENERAL: CapabilityNames = {};

/**
 * Whether the CMS gives this actor a capability of a collection, by WordPress's general name for it. No anonymous actor has one, and no actor
 * has one while the collection's own names are unknown (`undefined`): a right to edit posts is not a right to edit events.
 */
export function can(caller: Caller, capability: string, names: CapabilityNames | undefined): boolean {
  if (names === undefined) return false;
  return caller.account?.capabilities.has(names[capability] ?? capability) ?? false;
}

/** Staff see more than the public does: their own drafts at least (interface-behaviour, "Conventions"). */
export const isStaff = (caller: Caller, names: CapabilityNames | undefined): boolean =>
  can(caller, 'edit_posts', names);

/** The rule by which the CMS lets this caller read posts of one collection. */
export function visibilityOf(caller: Caller, names: CapabilityNames | undefined): Visibility {
  if (!caller.account || !isStaff(caller, names)) return PUBLIC;
  const editsOthers = can(caller, 'edit_others_posts', names);
  const readsPrivate = can(caller, 'read_private_posts', names);
  const others = HIDDEN_STATUSES.filter((status) => (status === 'private' ? readsPrivate : editsOthers));
  return { others: ['publish', ...others], own: HIDDEN_STATUSES, userId: caller.account.userId };
}

/** Whether a rule shows more than everybody sees. */
export const seesMore = ({ userId }: Visibility): boolean => userId !== 0;

/** Whether the rules of no kind show more than everybody sees. */
export const isPublicOnly = ({ event, venue, organizer }: Visibilities): boolean =>
  ![event, venue, organizer].some(seesMore);

/** The status as the CMS tells it: what it withholds from the public is published. */
export const shownStatus = (status: string): string => (status === WITHHELD ? 'publish' : status);

/** Whether a record is among what a rule shows: by its status, or by its status and being the caller's own. */
export function sees(visibility: Visibility, record: Pick<PostRecord, 'status' | 'author'>): boolean {
  if (visibility.others.includes(record.status)) return true;
  return visibility.userId !== 0 && record.author === visibility.userId && visibility.own.includes(record.status);
}

/** The same of a record that another one shows or is found by: what is in the trash is linked to nothing. */
export const shows = (visibility: Visibility, record: Pick<PostRecord, 'status' | 'author'> | undefined): boolean =>
  record !== undefined && record.status !== 'trash' && sees(visibility, record);

/** The part of a visibility that lies in these statuses. */
export function within(visibility: Visibility, statuses: readonly string[]): Visibility {
  const asked = (status: string) => statuses.includes(shownStatus(status));
  return { others: visibility.others.filter(asked), own: visibility.own.filter(asked), userId: visibility.userId };
}

/** Whether the CMS would let this caller change the record: own unpublished with `edit_posts`, own published and others' with more (7). */
export function mayEdit(
  caller: Caller,
  record: Pick<PostRecord, 'status' | 'author'>,
  names: CapabilityNames | undefined,
): boolean {
  if (!caller.account || !isStaff(caller, names)) return false;
  const published = ['publish', 'future'].includes(shownStatus(record.status));
  if (record.author !== caller.account.userId) {
    if (!can(caller, 'edit_others_posts', names)) return false;
    return record.status !== 'private' || can(caller, 'edit_private_posts', names);
  }
  return !published || can(caller, 'edit_published_posts', names);
}
