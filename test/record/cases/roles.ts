// Roles, kinds and request bodies for the cases about visibility and permissions.

export const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
export const ALL_ROLES = [undefined, 'subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
export const STAFF_ROLES = ['contributor', 'author', 'editor', 'admin'];
export const PRIVATE_STATUSES = ['draft', 'pending', 'private', 'future'] as const;
const NAME_FIELD = { event: 'title', venue: 'venue', organizer: 'organizer' } as const;
export type Kind = keyof typeof NAME_FIELD;
export const KINDS: Kind[] = ['event', 'venue', 'organizer'];

export const notAccessible = (kind: Kind) => ({
  status: 403,
  code: `${kind}-not-accessible`,
  message: `The requested ${kind} is not accessible`,
});
export const passwordRequired = {
  status: 403,
  code: 'event-password-protected',
  message: 'The requested event is not accessible without a password',
};

export const body = (kind: Kind, name: string, more: object = {}) => ({
  [NAME_FIELD[kind]]: name,
  ...(kind === 'event' ? times : {}),
  ...more,
});
export const isOwnerOrEditor = (owner: string, as: string | undefined) =>
  as === owner || as === 'editor' || as === 'admin';
