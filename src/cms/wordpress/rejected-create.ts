// What WordPress may have inserted when it rejects a create: it inserts a post before it checks its terms and
// meta fields, and keeps it.

import type { CmsRejected } from '../../errors.ts';

/**
 * WordPress's own error codes from before the insert. Codes that a plugin is likely to use as well, at any
 * time, are not in the list.
 */
const CODES_BEFORE_INSERT = new Set([
  'duplicate_term_slug',
  'empty_content',
  'empty_term_name',
  'incorrect_password',
  'invalid_email',
  'invalid_username',
  'missing_parent',
  'rest_cannot_assign_sticky',
  'rest_cannot_assign_term',
  'rest_cannot_create',
  'rest_cannot_edit_others',
  'rest_cannot_publish',
  'rest_invalid_author',
  'rest_missing_callback_param',
  'rest_not_logged_in',
  'rest_post_exists',
  'rest_taxonomy_not_hierarchical',
  'term_exists',
]);

/** Whether WordPress rejected the create before it inserted anything. */
export function isRejectedBeforeInsert({ status, code, data }: CmsRejected): boolean {
  if (status === 401 || CODES_BEFORE_INSERT.has(code) || /^rest_upload_\w+$/.test(code)) return true;
  // With `params`, the error comes from the validation of the parameters.
  return code === 'rest_invalid_param' && data.params !== undefined;
}

/**
 * The records that the create inserted and that still exist, according to the companion plugin. Undefined
 * without the plugin. A list with records must have the `creationId` of this very call: otherwise it belongs
 * to another request, whose error a cache in front of the CMS repeated, or to another plugin.
 */
export function insertedRecords(
  { data }: CmsRejected,
  creationId: string,
): { collection: string; id: number }[] | undefined {
  const inserted = data.calendar_created;
  if (!Array.isArray(inserted) || (inserted.length > 0 && data.calendar_create !== creationId)) return undefined;
  return inserted.flatMap((entry: unknown) => {
    const { collection, id } = (entry ?? {}) as { collection?: unknown; id?: unknown };
    return typeof collection === 'string' && Number.isSafeInteger(id) ? [{ collection, id: Number(id) }] : [];
  });
}
