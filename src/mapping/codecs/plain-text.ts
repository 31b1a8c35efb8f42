// Codec `plain-text`: the CMS stores plain text where the API has HTML, as in a title. Reading escapes it, writing
// removes tags and entities. With `paragraphs`, blank lines separate paragraphs.

import { decodeEntities, escapeMarkup, removeScripts, replaceTags } from '../../text/html.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

const PARAGRAPH_END = /^<\/(p|div|h[1-6]|li|blockquote)\b/i;
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
        ? paragraphsOf(decodeEntities(replaceTags(html, lineEnd).replace(/\u2028[ \t]*\r?\n?/g, '\n'))).join('\n\n')
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

/** After a break, HTML may have a line end too: the separator takes it along. */
const lineEnd = (tag: string): string => (PARAGRAPH_END.test(tag) ? '\n\n' : LINE_BREAK.test(tag) ? '\u2028' : '');
