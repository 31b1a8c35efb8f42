// Codec `plain-text`: the CMS stores plain text where the API has HTML, as in a title. Reading escapes it, writing
// removes tags and entities. With `paragraphs`, blank lines separate paragraphs.

import { decodeEntities, escapeMarkup, htmlText, separatorOf } from '../../text/html.ts';
import { trimCharacters } from '../../text/text.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

/** Where a tag separates lines or words. No text has these characters; several in a row separate once. */
const LINE_BREAK = '\u2028';
const WORD_BREAK = '\u2029';

export const plainText: CodecDefinition<'paragraphs'> = {
  name: 'plain-text',
  fits: ['text', 'html'],
  optionsSchema: { enum: ['paragraphs'] },
  create: (form) => ({
    read: (stored) => {
      const text = readText(stored);
      if (text === undefined) return undefined;
      return form === 'paragraphs' ? toParagraphs(escapeMarkup(text)) : escapeMarkup(text);
    },
    write: (value) => {
      const html = htmlText(String(value), form === 'paragraphs' ? paragraphBreak : wordBreak);
      const text = decodeEntities(trimCharacters(html, WORD_BREAK).replace(/\u2029+/g, ' '));
      // After a break, HTML may have a line end too, which goes with it.
      return form === 'paragraphs' ? paragraphsOf(text.replace(/\u2028[ \t]*\r?\n?/g, '\n')).join('\n\n') : text;
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

const wordBreak = (tagName: string): string => (separatorOf(tagName) === '' ? '' : WORD_BREAK);

function paragraphBreak(tagName: string): string {
  if (tagName === 'br') return LINE_BREAK;
  return separatorOf(tagName) === '\n' ? '\n\n' : wordBreak(tagName);
}
