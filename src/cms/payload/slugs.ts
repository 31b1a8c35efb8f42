// Gives created records a slug that no other record of their collection has, as the original API does: Payload rejects
// a slug that is taken.

import { randomBytes } from 'node:crypto';
import { CmsRejected } from '../../errors.ts';
import { normalizeUnicode } from '../../text/text.ts';
import type { CmsRecord, CollectionSpec } from '../port.ts';
import { isPostCollection } from './records.ts';

const MAX_LENGTH = 150;
/** `yoga-2` to `yoga-5`; then eight random characters. */
const MAX_NUMBER = 5;

/** Runs a create, and again with another slug if its own is taken: that rejection has written nothing. */
export async function createUnique(
  spec: CollectionSpec,
  body: CmsRecord,
  create: (body: CmsRecord) => Promise<CmsRecord>,
): Promise<CmsRecord> {
  const path = spec.paths.get('slug');
  // A slug in a group of fields is the site's own business.
  if (path === undefined || path.includes('.')) return create(body);
  const title = body[spec.paths.get(isPostCollection(spec) ? 'title' : 'name') ?? ''];
  const sent = typeof body[path] === 'string' && body[path] !== '' ? body[path] : undefined;
  const slug = sent ?? slugFrom(String(title ?? ''));
  if (slug === '') return create(body);
  for (let number = 1; number <= MAX_NUMBER; number += 1) {
    try {
      return await create({ ...body, [path]: number === 1 ? slug : `${slug}-${number}` });
    } catch (error) {
      if (!isTaken(error, path)) throw error;
    }
  }
  return create({ ...body, [path]: `${slug}-${randomBytes(4).toString('hex')}` });
}

const isTaken = (error: unknown, path: string): error is CmsRejected =>
  error instanceof CmsRejected &&
  error.code === 'ValidationError' &&
  error.fields.length === 1 &&
  error.fields[0] === path;

/** `Käse & Wein` -> `kase-wein`. */
function slugFrom(title: string): string {
  const words = normalizeUnicode(title.slice(0, MAX_LENGTH), 'NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (words.match(/[\p{L}\p{N}]+/gu) ?? []).join('-');
}
