// What an actor may see and change: the account's permissions become rules about statuses and authors, as
// the CMS applies them.

import type { Account, Action, ActionPermissions, Credentials } from '../cms/port.ts';
import { type PostRecord, WITHHELD } from '../model/records.ts';
import { PUBLIC_VISIBILITY, type Visibilities, type Visibility } from '../store/filters.ts';

/** The author of a request: an account that the CMS has authenticated, or an anonymous caller. */
export interface Actor {
  credentials: Credentials;
  account: Account | undefined;
  /** The network of an anonymous caller, for fairness between callers. */
  network?: string;
}

export const ANONYMOUS: Actor = { credentials: undefined, account: undefined };

/** Only those who may edit a record see it in these statuses. */
const STAFF_STATUSES = ['draft', 'pending', 'private', 'future', 'trash', 'auto-draft', 'inherit', WITHHELD];
/** The statuses that a list for staff covers by default. */
export const ANY_STATUS = ['publish', 'draft', 'pending', 'private', 'future'];

/**
 * Whether the CMS lets the actor do this with the records of a collection. An anonymous actor cannot do
 * anything. No actor can while the collection's permissions are unknown (`undefined`): permission to edit
 * posts is not permission to edit events.
 */
export function can(actor: Actor, action: Action, permissions: ActionPermissions | undefined): boolean {
  return permissions !== undefined && (actor.account?.permissions.has(permissions[action]) ?? false);
}

/** Staff see more than the public: at least their own drafts. */
export const isStaff = (actor: Actor, permissions: ActionPermissions | undefined): boolean =>
  can(actor, 'edit', permissions);

/** The rule by which the CMS lets the actor read posts of one collection. */
export function visibilityOf(actor: Actor, permissions: ActionPermissions | undefined): Visibility {
  if (!actor.account || !isStaff(actor, permissions)) return PUBLIC_VISIBILITY;
  const readsOthers = can(actor, 'readOthers', permissions);
  const readsPrivate = can(actor, 'readPrivate', permissions);
  const others = STAFF_STATUSES.filter((status) => (status === 'private' ? readsPrivate : readsOthers));
  const own = can(actor, 'readOwn', permissions) ? STAFF_STATUSES : [];
  return { others: ['publish', ...others], own, userId: actor.account.userId };
}

/** Whether a visibility shows more than the public sees. */
export const exceedsPublic = ({ userId }: Visibility): boolean => userId !== 0;

/** Whether an actor sees only what the public sees, in every kind. */
export const isPublicOnly = ({ event, venue, organizer }: Visibilities): boolean =>
  ![event, venue, organizer].some(exceedsPublic);

/** The status in the CMS: a withheld record is published there. */
export const cmsStatus = (status: string): string => (status === WITHHELD ? 'publish' : status);

/** Whether a visibility shows a record, by its status and author. */
export function isVisible(visibility: Visibility, record: Pick<PostRecord, 'status' | 'author'>): boolean {
  if (visibility.others.includes(record.status)) return true;
  return visibility.userId !== 0 && record.author === visibility.userId && visibility.own.includes(record.status);
}

/** Whether another record may show this one or be found by it. A record in the trash is linked to nothing. */
export const isVisibleLink = (
  visibility: Visibility,
  record: Pick<PostRecord, 'status' | 'author'> | undefined,
): boolean => record !== undefined && record.status !== 'trash' && isVisible(visibility, record);

/** The part of a visibility that these statuses cover. */
export function restrictTo(visibility: Visibility, statuses: readonly string[]): Visibility {
  const isCovered = (status: string) => statuses.includes(cmsStatus(status));
  return {
    others: visibility.others.filter(isCovered),
    own: visibility.own.filter(isCovered),
    userId: visibility.userId,
  };
}

/**
 * Whether the CMS lets the actor change the record. `edit_posts` covers their own unpublished records;
 * published records and those of others need further permissions.
 */
export function mayEdit(
  actor: Actor,
  record: Pick<PostRecord, 'status' | 'author'>,
  permissions: ActionPermissions | undefined,
): boolean {
  if (!actor.account || !isStaff(actor, permissions)) return false;
  const isPublished = ['publish', 'future'].includes(cmsStatus(record.status));
  if (record.author !== actor.account.userId) {
    if (!can(actor, 'editOthers', permissions)) return false;
    return record.status !== 'private' || can(actor, 'editPrivate', permissions);
  }
  return !isPublished || can(actor, 'editPublished', permissions);
}
