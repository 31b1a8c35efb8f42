// HTML in text: tags, scripts, entities and WordPress's typography. Every function takes time linear in the
// length of the text.

import { Parser } from 'htmlparser2';
import { fold, foldForSort } from './text.ts';

/** Replaces each tag, from a `<` to the next `>`. A `<` without a `>` stays. */
export function replaceTags(html: string, replace: (tag: string) => string): string {
  let result = '';
  let from = 0;
  for (let open = html.indexOf('<'); open >= 0; open = html.indexOf('<', from)) {
    const close = html.indexOf('>', open);
    if (close < 0) break;
    result += html.slice(from, open) + replace(html.slice(open, close + 1));
    from = close + 1;
  }
  return result + html.slice(from);
}

const OPENING_TAG = /<(script|style)/gi;
const CLOSING_TAG = /<\/(script|style)>/gi;

/** Removes `script` and `style` elements with their content. An element without a closing tag stays. */
export function removeScripts(html: string): string {
  const closingTags = [...html.matchAll(CLOSING_TAG)];
  const next: Record<string, number> = { script: 0, style: 0 };
  /**
   * The first closing tag of this name at or after a position. Each call needs a greater position than the
   * last.
   */
  function closingTagAfter(name: string, position: number): RegExpExecArray | undefined {
    let index = next[name]!;
    while (
      index < closingTags.length &&
      (closingTags[index]!.index < position || closingTags[index]![1]!.toLowerCase() !== name)
    )
      index += 1;
    next[name] = index;
    return closingTags[index];
  }

  let result = '';
  let from = 0;
  let tagEnd = -1;
  for (const { index, 0: opening, 1: name } of html.matchAll(OPENING_TAG)) {
    if (index < from) continue;
    if (tagEnd < index + opening.length) tagEnd = html.indexOf('>', index + opening.length);
    if (tagEnd < 0) break;
    const closing = closingTagAfter(name!.toLowerCase(), tagEnd + 1);
    if (!closing) continue;
    result += html.slice(from, index);
    from = closing.index + closing[0].length;
  }
  return result + html.slice(from);
}

/** The names that WordPress writes. A parser for each of them would take seconds for a large site. */
const COMMON_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['hellip', '…'],
]);

/** Decodes the entities of characters, by number and by name. Others stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|([a-z]\w{1,30}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return COMMON_ENTITIES.get(name.toLowerCase()) ?? decodeNamedEntity(entity);
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : entity;
  });
}

function decodeNamedEntity(entity: string): string {
  let text = '';
  new Parser({ ontext: (part) => (text += part) }, { decodeEntities: true }).end(entity);
  // A name has one or two characters. More are an unknown name that begins with a known one: &notit;
  return text.length <= 2 ? text : entity;
}

/** Tags that end a line of text. */
export const LINE_TAG = /^<\/?(?:p|div|br|li|ul|ol|d[ltd]|h[1-6]|tr|table|blockquote|section|article|figure|hr)\b/i;
/** Control characters and noncharacters, which neither XML nor iCalendar may contain. */
const FORBIDDEN = /[^\P{Cc}\n]|[\ufffe\uffff]/gu;
/** `textLines` reads at most this many characters of HTML per character that it returns. */
const MARKUP_PER_CHARACTER = 20;

/**
 * The text of HTML as lines without tags, entities and control characters. At most `maxCharacters`; a longer text ends
 * with `…`.
 */
export function textLines(html: string, maxCharacters: number): string[] {
  const read = html.slice(0, maxCharacters * MARKUP_PER_CHARACTER).replace(/\s+/g, ' ');
  const untagged = replaceTags(removeScripts(read), (tag) => (LINE_TAG.test(tag) ? '\n' : ''));
  const lines = decodeEntities(untagged)
    .replace(FORBIDDEN, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const text = lines.join('\n');
  const isCut = text.length > maxCharacters || html.length > maxCharacters * MARKUP_PER_CHARACTER;
  const kept = isCut ? `${text.slice(0, maxCharacters - 1)}…` : text;
  return kept.toWellFormed().split('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#039;',
};

/** Escapes a text for HTML as PHP's `htmlspecialchars` does. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** Escapes a text for HTML outside attributes: quotes stay. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>]/g, (character) => ESCAPES[character]!);

/** Escapes a text for HTML that may contain entities already, as WordPress's `esc_html` does. */
export const escapeHtmlOnce = (text: string): string =>
  text.replace(/&(?!#?\w+;)|[<>"']/g, (character) => ESCAPES[character]!);

const TYPED_CHARACTERS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '′': "'",
  '″': '"',
  '–': '--',
  '—': '--',
  '…': '...',
  '×': 'x',
};

/** Undoes `wptexturize`, by which WordPress turns typed quotes, dashes and dots into typographic ones. */
export const undoTypography = (text: string): string =>
  text.replace(/[‘’“”′″–—…×]/g, (character) => TYPED_CHARACTERS[character]!);

/**
 * Rendered HTML without entities. If WordPress converted quotes or dashes, the text as typed follows on a
 * line of its own.
 */
export function searchableText(html: string): string {
  const shown = decodeEntities(html);
  const typed = undoTypography(shown);
  return typed === shown ? shown : `${shown}\n${typed}`;
}

/** Folds a term's name as people write it: WordPress stores `Food &amp; Drink`. */
export function foldName(name: string): string {
  return fold(decodeEntities(name).trim());
}

/** Characters of a title that the order by title compares. */
const SORTED_CHARACTERS = 100;

/** Folds a title, which is HTML, for sorting. */
export function foldTitle(title: string): string {
  return foldForSort(textLines(title, SORTED_CHARACTERS).join(' '));
}
