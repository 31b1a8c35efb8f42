// The public view of a published record: what the CMS answers an anonymous caller, completed from the service
// account's response.

import { isObject } from '../../model/json.ts';
import { searchableText } from '../../text/html.ts';
import type { CmsRecord } from '../port.ts';

/**
 * WordPress renders these fields for the account that asks: a shortcode or block may show a member more than
 * the public.
 */
const RENDERED_FIELDS = ['title', 'content', 'excerpt'] as const;

/**
 * The poller compares these. They come from the account's response, so that the next poll detects a change
 * that happened between the two responses.
 */
const CHANGE_MARKERS = ['id', 'status', 'modified', 'modified_gmt', 'modifiedUtc'] as const;

const WORDS = /[\p{L}\p{N}]+/gu;
/** Longer texts, in characters, are not compared word by word, because that would block the event loop. */
const MAX_COMPARED = 100_000;

const BLOCK_COMMENT = /<!-- \/?wp:/g;

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/**
 * Merges two responses about the same record, one to the account and one to an anonymous caller, into the
 * record that may enter the replica:
 * - Every field comes from the anonymous response. If the mapping reads fields that the CMS shows only to
 *   editors (`editing`), fields that the anonymous response lacks come from the account's.
 * - A raw text is kept only if the public rendering shows all of its words. Otherwise that rendering replaces
 *   it.
 * - The content and excerpt of a protected record come from the account: the gateway shows them only with the
 *   password.
 */
export function publicView(
  accountRecord: CmsRecord,
  anonymousRecord: CmsRecord,
  { editing }: { editing: boolean },
): CmsRecord {
  const view: CmsRecord = editing ? fillMissing(anonymousRecord, accountRecord) : { ...anonymousRecord };
  for (const name of CHANGE_MARKERS) if (accountRecord[name] !== undefined) view[name] = accountRecord[name];
  const isProtected = isObject(accountRecord.content) && accountRecord.content.protected === true;
  for (const name of RENDERED_FIELDS) {
    const [ofAccount, ofPublic] = [accountRecord[name], anonymousRecord[name]];
    if (isProtected && name !== 'title') view[name] = ofAccount;
    else if (isObject(ofAccount) && isObject(ofPublic))
      view[name] = { ...ofPublic, ...publicRaw(ofAccount.raw, ofPublic.rendered) };
  }
  return view;
}

function publicRaw(raw: unknown, rendered: unknown): { raw?: string } {
  if (typeof raw !== 'string') return {};
  const source = removeBlockComments(raw);
  const html = typeof rendered === 'string' ? rendered : '';
  return { raw: showsAllWords(html, source) ? source : html };
}

/** True if each word of the raw text, those in tags and attributes included, appears in the rendering. */
function showsAllWords(html: string, raw: string): boolean {
  if (html.includes(raw.trim())) return true;
  if (raw.length + html.length > MAX_COMPARED) return false;
  const shown = new Set([...wordsOf(html), ...wordsOf(searchableText(html))]);
  return wordsOf(raw).every((word) => shown.has(word));
}

/** The block editor writes these comments, and WordPress never shows them. */
function removeBlockComments(raw: string): string {
  let text = '';
  let from = 0;
  for (const { index } of raw.matchAll(BLOCK_COMMENT)) {
    if (index < from) continue;
    const end = raw.indexOf('-->', index);
    if (end < 0) break;
    text += raw.slice(from, index);
    from = end + 3;
  }
  return text + raw.slice(from);
}

/** Adds to `target` what it lacks and `source` has, at every depth. PHP writes an empty object as `[]`. */
function fillMissing(target: CmsRecord, source: CmsRecord): CmsRecord {
  const merged: CmsRecord = { ...source, ...target };
  for (const [name, sourceValue] of Object.entries(source)) {
    const targetValue = target[name];
    if (!isObject(sourceValue)) continue;
    if (isObject(targetValue)) merged[name] = fillMissing(targetValue, sourceValue);
    else if (Array.isArray(targetValue) && targetValue.length === 0) merged[name] = sourceValue;
  }
  return merged;
}
