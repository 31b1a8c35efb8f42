// Finds an existing venue or organizer with the same data as one that a request describes, to use it instead
// of creating another.

import { copiedFields } from '../interface/fields.ts';
import type { LinkedKind, LinkedRecord } from '../model/records.ts';
import { PUBLIC_VISIBILITY } from '../store/filters.ts';
import { decodeEntities, replaceTags, undoTypography } from '../text/html.ts';
import { isVisibleLink, visibilityFor } from './permissions.ts';
import type { RequestContext } from './request-context.ts';
import type { Services } from './services.ts';

/** The gateway derives `stateprovince` from other fields. */
const keysOf = (kind: LinkedKind): string[] =>
  copiedFields(kind)
    .map(([, { key }]) => key)
    .filter((key) => key !== 'stateprovince');

/** The fields of each kind besides those that all posts have. */
export const LINKED_FIELDS = { venue: keysOf('venue'), organizer: keysOf('organizer') };

const MAX_CANDIDATES = 200;
/**
 * Titles and descriptions of candidates, in characters. The search ends there, as if there were no duplicate.
 */
const MAX_COMPARED = 400_000;

/**
 * Without tags, entities, typography, letter case and repeated spaces, so that sent and rendered text compare
 * equal.
 */
export function comparableText(html: string): string {
  const text = undoTypography(decodeEntities(replaceTags(html, () => '')));
  return text.replace(/-{2,}/g, '-').replace(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * The lowest id of a record with the same title that differs in no sent field. Never a protected record:
 * guesses would reveal what its password hides.
 */
export async function findDuplicate(
  services: Services,
  kind: LinkedKind,
  title: string,
  fields: Record<string, unknown>,
  request: RequestContext,
): Promise<LinkedRecord | undefined> {
  const name = comparableText(title);
  const longestWord = (name.match(/[\p{L}\p{N}]+/gu) ?? []).sort((a, b) => b.length - a.length)[0];
  if (!longestWord) return undefined;
  const visibility = await visibilityFor(services, kind, request.actor);
  const { ids } = services.replica.listLinked(kind, {
    visibility,
    eventVisibility: PUBLIC_VISIBILITY,
    words: [{ text: longestWord, not: false }],
    limit: MAX_CANDIDATES,
    offset: 0,
  });
  let remaining = MAX_COMPARED;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const record = services.replica.get(kind, id);
    if (!record) continue;
    remaining -= record.title.length + record.description.length;
    if (remaining < 0) return undefined;
    if (!isVisibleLink(visibility, record) || record.protected) continue;
    if (comparableText(record.title) === name && !differs(record, fields)) return record;
  }
  return undefined;
}

function differs(record: LinkedRecord, fields: Record<string, unknown>): boolean {
  if (fields.image && fields.image !== record.image) return true;
  const stored: Record<string, unknown> = { ...record };
  if (LINKED_FIELDS[record.kind].some((name) => fields[name] !== undefined && fields[name] !== stored[name]))
    return true;
  const customFields = Object.entries((fields.customFields as LinkedRecord['customFields']) ?? {});
  if (customFields.some(([name, value]) => (value || '') !== (record.customFields?.[name] || ''))) return true;
  const description = String(fields.description ?? '');
  return description !== '' && comparableText(description) !== comparableText(record.description);
}
