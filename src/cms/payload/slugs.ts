// Gives created records a slug that no other record of their collection has, as the original API does: Payload rejects
// a slug that is taken.

import { randomBytes } from 'node:crypto';
import { CmsRejected } from '../../errors.ts';
import { normalizeUnicode } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import type { CallOptions, CmsRecord, CollectionSpec } from '../port.ts';
import { isPostCollection } from './records.ts';
import { listOf } from './rest-calls.ts';

const MAX_LENGTH = 150;
/** Slugs that are looked at for a free number. */
const MAX_TAKEN = 1000;

/** Runs a create, and again with another slug if its own is taken: that rejection has written nothing. */
export function creatingUniqueSlugs(call: RestCall, collectionNameOf: (spec: CollectionSpec) => string) {
  return async (
    spec: CollectionSpec,
    body: CmsRecord,
    options: CallOptions,
    create: (body: CmsRecord) => Promise<CmsRecord>,
  ): Promise<CmsRecord> => {
    const path = spec.paths.get('slug');
    // A slug in a group of fields is the site's own business.
    if (path === undefined || path.includes('.')) return create(body);
    const title = body[spec.paths.get(isPostCollection(spec) ? 'title' : 'name') ?? ''];
    const sent = typeof body[path] === 'string' && body[path] !== '' ? body[path] : undefined;
    const slug = sent ?? slugFrom(String(title ?? ''));
    const withSlug = slug === '' ? body : { ...body, [path]: slug };
    try {
      return await create(withSlug);
    } catch (error) {
      if (!isTaken(error, path) || slug === '') throw error;
    }
    try {
      return await create({ ...body, [path]: await freeSlug(spec, path, slug, options) });
    } catch (error) {
      if (!isTaken(error, path)) throw error;
      return create({ ...body, [path]: `${slug}-${randomBytes(4).toString('hex')}` });
    }
  };

  /** The slug with the lowest number that no record which the caller sees has. */
  async function freeSlug(spec: CollectionSpec, path: string, slug: string, options: CallOptions): Promise<string> {
    const query = {
      [`where[${path}][contains]`]: slug,
      [`select[${path}]`]: true,
      limit: MAX_TAKEN,
      depth: 0,
      trash: true,
    };
    const { docs } = listOf(await call('GET', collectionNameOf(spec), { query }, options));
    const taken = new Set(docs.map((doc) => doc[path]));
    let number = 2;
    while (taken.has(`${slug}-${number}`)) number += 1;
    return `${slug}-${number}`;
  }
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
