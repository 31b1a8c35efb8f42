// The accounts of the fake CMS, one per role, with the permissions that WordPress gives these roles, and what it
// refuses them.

import type { Action, ActionPermissions, CmsView, Credentials } from '../../src/cms/port.ts';
import { CmsRejected, type RejectionKind, type RejectionOptions } from '../../src/errors.ts';
import type { FakePost } from './fake-records.ts';

export const ROLES = ['subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const AUTHOR: readonly Action[] = ['edit', 'readOwn', 'publish', 'editPublished', 'manageTerms'];
export const ACTIONS: readonly Action[] = [...AUTHOR, 'editOthers', 'readOthers', 'readPrivate'];
/** Every action needs the permission of its own name, in every collection. */
export const SAME_NAMES = Object.fromEntries(ACTIONS.map((action) => [action, action])) as ActionPermissions & object;
export const PERMISSIONS: Record<Role, readonly Action[]> = {
  subscriber: [],
  contributor: ['edit', 'readOwn'],
  author: AUTHOR,
  editor: ACTIONS,
  admin: ACTIONS,
};

/** An account of the fake CMS. */
export interface FakeAccount {
  name: string;
  userId: number;
  authorization: string;
  may(action: Action, collection: string): boolean;
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Accounts with one password, from what each may do in a collection. The ids count from 1. */
export const createAccounts = (
  rights: Readonly<Record<string, (collection: string) => readonly Action[]>>,
  password: string,
): FakeAccount[] =>
  Object.entries(rights).map(([name, actionsIn], index) => ({
    ...{ name, userId: index + 1, authorization: basic(name, password) },
    may: (action, collection) => actionsIn(collection).includes(action),
  }));

export const ROLE_ACCOUNTS = createAccounts(
  Object.fromEntries(ROLES.map((role) => [role, () => PERMISSIONS[role]])),
  'secret',
);

export const mayUpload = (account: FakeAccount): boolean => account.may('publish', 'media');

/** The `Authorization` of each role. */
export const CREDENTIALS = Object.fromEntries(
  ROLE_ACCOUNTS.map(({ name, authorization }) => [name, authorization]),
) as Record<Role, string>;
/** The gateway's own account. */
export const SERVICE = CREDENTIALS.admin;

/** The user id of each role: 1 for the first. */
export const userIdOf = (role: Role): number => ROLES.indexOf(role) + 1;

/** @param code WordPress's own, for the fake over HTTP */
export function refuse(kind: RejectionKind, status: number, code: string, options: RejectionOptions = {}): never {
  throw new CmsRejected(kind, `Refused: ${code}`, { status, code, ...options });
}

/** Undefined: an anonymous caller. Throws if the credentials are wrong. */
export function accountOf(accounts: readonly FakeAccount[], credentials: Credentials): FakeAccount | undefined {
  if (credentials === undefined) return undefined;
  const account = accounts.find(({ authorization }) => authorization === credentials);
  return account ?? refuse('unauthenticated', 401, 'incorrect_password');
}

export function canEdit(account: FakeAccount | undefined, { author, base }: FakePost): boolean {
  if (account === undefined) return false;
  return account.may('editOthers', base) || (account.may('edit', base) && author === account.userId);
}

/** A list for editors lacks records that only others may edit, public ones too. */
export function canSee(account: FakeAccount | undefined, post: FakePost, view: CmsView): boolean {
  if (canEdit(account, post)) return true;
  return view !== 'editor' && post.status === 'publish' && (account !== undefined || !post.hiddenFromPublic);
}
