// Who may do what on the site: Payload's access functions, for the four roles of its users.

import type { Access, FieldAccess, Where } from 'payload';

export const ROLES = ['admin', 'editor', 'author', 'subscriber'] as const;
export type Role = (typeof ROLES)[number];

interface SiteUser {
  id: number | string;
  role: Role;
}
type Request = Parameters<Access>[0]['req'];

const userOf = (req: Request): SiteUser | undefined => (req.user as SiteUser | null) ?? undefined;
const isEditor = (req: Request): boolean => ['admin', 'editor'].includes(userOf(req)?.role ?? '');
const isWriter = (req: Request): boolean => isEditor(req) || userOf(req)?.role === 'author';

export const everybody: Access = () => true;
export const onlyAdmin: Access = ({ req }) => userOf(req)?.role === 'admin';
export const editors: Access = ({ req }) => isEditor(req);
/** Of one field: everybody else gets the record without it. */
export const editorsField: FieldAccess = ({ req }) => isEditor(req);
export const writers: Access = ({ req }) => isWriter(req);

/** A request with `trash=true` gets trashed records too, unless the access function leaves them out. */
const PUBLISHED: Where = { and: [{ _status: { equals: 'published' } }, { deletedAt: { exists: false } }] };

/** Editors see everything, authors their own records and what is published, all others what is published. */
export const publishedOrOwn: Access = ({ req }) => {
  if (isEditor(req)) return true;
  const user = userOf(req);
  return user && isWriter(req) ? { or: [PUBLISHED, { author: { equals: user.id } }] } : PUBLISHED;
};

/** Editors change every record, authors their own. */
export const editorsOrAuthor: Access = ({ req }) => {
  if (isEditor(req)) return true;
  const user = userOf(req);
  return user && isWriter(req) ? { author: { equals: user.id } } : false;
};

/** Admins see every account, all others their own. */
export const ownAccount: Access = ({ req }) => {
  const user = userOf(req);
  if (user?.role === 'admin') return true;
  return user ? { id: { equals: user.id } } : false;
};
