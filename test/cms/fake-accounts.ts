// The accounts of the fake CMS, one per role, with the permissions that WordPress gives these roles, and what it
// refuses them.

import type { Action, ActionPermissions, Credentials, View } from '../../src/cms/port.ts';
import { CmsRejected, type RejectionKind, type RejectionOptions } from '../../src/errors.ts';
import type { FakePost } from './fake-records.ts';

export const ROLES = ['subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const ACTIONS: readonly Action[] = [
  ...(['edit', 'readOwn', 'publish', 'editPublished', 'manageTerms', 'deleteTerms'] as const),
  ...(['editOthers', 'readOthers', 'editPrivate', 'readPrivate', 'delete'] as const),
];
/** Every action needs the permission of its own name, in every collection. */
export const SAME_NAMES = Object.fromEntries(ACTIONS.map((action) => [action, action])) as ActionPermissions & object;
export const PERMISSIONS: Record<Role, readonly Action[]> = {
  subscriber: [],
  contributor: ['edit', 'readOwn'],
  author: ACTIONS.slice(0, 6),
  editor: ACTIONS,
  admin: ACTIONS,
};

/** Undefined: an anonymous caller. */
export const may = (role: Role | undefined, action: Action): boolean =>
  role !== undefined && PERMISSIONS[role].includes(action);
export const mayUpload = (role: Role): boolean => may(role, 'publish');

/** The `Authorization` of each role. */
export const CREDENTIALS = Object.fromEntries(
  ROLES.map((role) => [role, `Basic ${Buffer.from(`${role}:secret`).toString('base64')}`]),
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
export function roleOf(credentials: Credentials): Role | undefined {
  if (credentials === undefined) return undefined;
  return ROLES.find((role) => CREDENTIALS[role] === credentials) ?? refuse('unauthenticated', 401, 'invalid_login');
}

export function canEdit(role: Role | undefined, { author }: FakePost): boolean {
  return role !== undefined && (may(role, 'editOthers') || (may(role, 'edit') && author === userIdOf(role)));
}

/** A list for editors lacks records that only others may edit, public ones too. */
export function canSee(role: Role | undefined, post: FakePost, view: View): boolean {
  if (canEdit(role, post)) return true;
  return view !== 'editor' && post.status === 'publish' && (role !== undefined || !post.hiddenFromPublic);
}
