// A published record as the public is shown it: the CMS's answer to an anonymous reader, with what only the account's answer tells.

import type { Native } from '../upstream/port.ts';
import { isObject } from './paths.ts';
import { plainText } from './record.ts';

/** The fields that WordPress renders, for the reader who asks: shortcodes and blocks may show a member more than the public. */
const RENDERED = ['title', 'content', 'excerpt'] as const;

/** What the poller compares: of the account's answer, so that a change between the two answers is seen by the next poll. */
const COMPARED = ['id', 'status', 'modified', 'modified_gmt'] as const;

const WORDS = /[\p{L}\p{N}]+/gu;
/** Longer texts are not compared word by word: that would hold up everybody. Characters. */
const MOST_COMPARED = 100_000;

const BLOCK_COMMENT = /<!-- \/?wp:/g;

const wordsOf = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/**
 * The native record that may enter the replica. `own` is the answer to an account, `open` the answer to an anonymous reader, of the same
 * record. Every field is that of `open`; where the mapping reads what the CMS shows to editors alone (`editing`), fields that `open`
 * lacks are those of `own`. A source (`raw`) is kept only if the public rendering shows all of its words; otherwise that rendering stands
 * for it. The content and excerpt of a protected record stay those of `own`: the gateway shows them only with the password.
 */
export function publicNative(own: Native, open: Native, { editing }: { editing: boolean }): Native {
  const shown: Native = editing ? filled(open, own) : { ...open };
  for (const name of COMPARED) if (own[name] !== undefined) shown[name] = own[name];
  const locked = isObject(own.content) && own.content.protected === true;
  for (const name of RENDERED) {
    const [mine, theirs] = [own[name], open[name]];
    if (locked && name !== 'title') shown[name] = mine;
    else if (isObject(mine) && isObject(theirs)) shown[name] = { ...theirs, ...sourceShown(mine.raw, theirs.rendered) };
  }
  return shown;
}

function sourceShown(raw: unknown, rendered: unknown): { raw?: string } {
  if (typeof raw !== 'string') return {};
  const source = withoutBlockComments(raw);
  const html = typeof rendered === 'string' ? rendered : '';
  return { raw: showsWordsOf(source, html) ? source : html };
}

/** Whether each word of a source, its tags and attributes included, stands in the rendering of it. */
function showsWordsOf(source: string, html: string): boolean {
  if (html.includes(source.trim())) return true;
  if (source.length + html.length > MOST_COMPARED) return false;
  const shown = new Set([...wordsOf(html), ...wordsOf(plainText(html))]);
  return wordsOf(source).every((word) => shown.has(word));
}

/** The block editor's comments are no text of the author, and never shown. */
function withoutBlockComments(source: string): string {
  let text = '';
  let from = 0;
  for (const { index } of source.matchAll(BLOCK_COMMENT)) {
    if (index < from) continue;
    const end = source.indexOf('-->', index);
    if (end < 0) break;
    text += source.slice(from, index);
    from = end + 3;
  }
  return text + source.slice(from);
}

/** `open` with what it lacks and `own` has, at every depth. PHP writes an empty object as `[]`. */
function filled(open: Native, own: Native): Native {
  const all: Native = { ...own, ...open };
  for (const [name, mine] of Object.entries(own)) {
    const theirs = open[name];
    if (!isObject(mine)) continue;
    if (isObject(theirs)) all[name] = filled(theirs, mine);
    else if (Array.isArray(theirs) && theirs.length === 0) all[name] = mine;
  }
  return all;
}
