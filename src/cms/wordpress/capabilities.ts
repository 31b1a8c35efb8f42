// WordPress's capabilities: the name of the capability that each action needs.

import type { Action, ActionPermissions } from '../port.ts';

/** WordPress's general names. */
export const GENERAL_PERMISSIONS: ActionPermissions = {
  edit: 'edit_posts',
  editOthers: 'edit_others_posts',
  editPrivate: 'edit_private_posts',
  editPublished: 'edit_published_posts',
  readOwn: 'edit_posts',
  readOthers: 'edit_others_posts',
  readPrivate: 'read_private_posts',
  publish: 'publish_posts',
  delete: 'delete_posts',
  manageTerms: 'manage_terms',
  deleteTerms: 'delete_terms',
};

export const UPLOAD = 'upload_files';

/** Taxonomies that do not name a capability have this one. */
const TERMS_DEFAULT = 'manage_categories';

/**
 * WordPress's own taxonomies name capabilities that no role has: its `map_meta_cap` converts them into these.
 */
const MAPPED: Readonly<Record<string, string>> = {
  manage_post_tags: TERMS_DEFAULT,
  delete_post_tags: TERMS_DEFAULT,
  delete_categories: TERMS_DEFAULT,
};

/**
 * The capabilities of a post type or taxonomy, from its own names for WordPress's general ones. Undefined for
 * a caller to whom WordPress shows none: with the general names instead, permission to edit posts would pass
 * for permission to edit events.
 */
export function actionPermissions(names: Readonly<Record<string, unknown>>): ActionPermissions | undefined {
  if (Object.keys(names).length === 0) return undefined;
  const entries = Object.entries(GENERAL_PERMISSIONS).map(([action, general]) => {
    const name = names[general];
    const isOfTerms = general.endsWith('_terms');
    return [action, typeof name === 'string' ? (MAPPED[name] ?? name) : isOfTerms ? TERMS_DEFAULT : general];
  });
  return Object.fromEntries(entries) as Record<Action, string>;
}
