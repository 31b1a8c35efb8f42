// Codec `plain-text`: the CMS stores plain text where the API has HTML, as in a title. Reading escapes it, writing
// removes tags and entities. With `paragraphs`, blank lines separate paragraphs.

import { decodeEntities, escapeMarkup, LINE_TAG, removeScripts, replaceTags } from '../../text/html.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

const TABLE_CELL = /^<t[dh]\b/i;
const LINE_BREAK = /^<br\b/i;

export const plainText: CodecDefinition<'paragraphs'> = {
  name: 'plain-text',
  fits: ['text', 'html'],
  optionsSchema: { enum: ['paragraphs'] },
  metaType: () => ({ type: 'string' }),
  create: (form) => ({
    read: (stored) => {
      const text = readText(stored);
      if (text === undefined) return undefined;
      return form === 'paragraphs' ? toParagraphs(escapeMarkup(text)) : escapeMarkup(text);
    },
    write: (value) => {
      const html = removeScripts(String(value));
      return form === 'paragraphs'
        ? paragraphsOf(decodeEntities(replaceTags(html, separatorOf).replace(/\u2028[ \t]*\r?\n?/g, '\n'))).join('\n\n')
        : decodeEntities(replaceTags(html, () => ''));
    },
  }),
};

const paragraphsOf = (text: string): string[] =>
  text
    .split(/\r?\n(?:[ \t]*\r?\n)+/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');

const toParagraphs = (text: string): string =>
  paragraphsOf(text)
    .map((paragraph) => `<p>${paragraph.split(/\r?\n/).join('<br />\n')}</p>`)
    .join('\n');

/**
 * What separates the texts before and after a tag. After a break, HTML may have a line end too: U+2028 takes
 * it along.
 */
function separatorOf(tag: string): string {
  if (LINE_BREAK.test(tag)) return '\u2028';
  if (LINE_TAG.test(tag)) return '\n\n';
  return TABLE_CELL.test(tag) ? ' ' : '';
}
