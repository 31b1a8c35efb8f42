// Codec `plain-text`: the CMS stores plain text where the API has HTML, as in a title. Reading escapes it, writing
// removes tags and entities. With `paragraphs`, blank lines separate paragraphs.

import { decodeEntities, escapeMarkup, htmlText, separatorOf } from '../../text/html.ts';
import { trimCharacters } from '../../text/text.ts';
import type { CodecDefinition } from './codec.ts';
import { readText } from './text.ts';

/** Where a tag separates lines or words: no text has this character. */
const BREAK = '\u2028';

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
      const text = decodeEntities(htmlText(String(value), form === 'paragraphs' ? paragraphBreak : wordBreak));
      if (form === 'paragraphs') return paragraphsOf(text.replace(/\u2028[ \t]*\r?\n?/g, '\n')).join('\n\n');
      return trimCharacters(text, BREAK).replace(/\u2028+/g, ' ');
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

const wordBreak = (tagName: string): string => (separatorOf(tagName) === '' ? '' : BREAK);

/** After a break, HTML may have a line end too, which goes with it. */
function paragraphBreak(tagName: string): string {
  if (tagName === 'br') return BREAK;
  const separator = separatorOf(tagName);
  return separator === '\n' ? '\n\n' : separator;
}
