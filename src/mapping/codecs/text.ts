// Codecs of texts: `text` and `html`, which the CMS stores as the API has them; `plain-text`, where the API has HTML
// and the CMS does not; and `link`, the address of a record's page, for a CMS that does not know this address.

import { decodeEntities, escapeMarkup, htmlText, separatorOf } from '../../text/html.ts';
import { trimCharacters } from '../../text/text.ts';
import type { CodecDefinition } from '../field-accessor.ts';
import { readText } from '../paths.ts';

export const text: CodecDefinition<never> = {
  fits: ['text', 'html', 'zone'],
  defaultFor: ['text'],
  create: () => ({ read: readText, write: String }),
};

export const html: CodecDefinition<never> = {
  fits: ['html'],
  defaultFor: ['html'],
  create: () => ({ read: (stored) => (typeof stored === 'string' ? stored.trim() : undefined), write: String }),
};

/**
 * `write` puts these in the place of tags that separate lines or words, then makes a line end of each `LINE_BREAK` and
 * a blank of `WORD_BREAK`s in a row. Unicode reserves both characters for programs: a text that has them loses them.
 *
 *   codec                             HTML                                 stored
 *   "plain-text"                      <td>5</td><td>EUR</td>               5 EUR
 *   { "plain-text": "paragraphs" }    <p>Soup<br />Tea</p><p>Bread</p>     Soup\nTea\n\nBread
 */
const LINE_BREAK = '\ufdd0';
const WORD_BREAK = '\ufdd1';
const WORD_BREAKS = /\ufdd1+/g;
/** After `<br />`, HTML may have a line end too, which goes with it. */
const LINE_END = /\ufdd0[ \t]*\r?\n?/g;

export const plainText: CodecDefinition<'paragraphs'> = {
  fits: ['text', 'html'],
  create: (form) => ({
    read: (stored) => {
      const text = readText(stored);
      if (text === undefined) return undefined;
      return form === 'paragraphs' ? toParagraphs(escapeMarkup(text)) : escapeMarkup(text);
    },
    write: (value) => {
      const html = htmlText(String(value), form === 'paragraphs' ? paragraphBreak : wordBreak);
      const text = decodeEntities(trimCharacters(html, WORD_BREAK).replace(WORD_BREAKS, ' '));
      return form === 'paragraphs' ? paragraphsOf(text.replace(LINE_END, '\n')).join('\n\n') : text;
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

export const link: CodecDefinition<string> = {
  fits: ['text'],
  onlyField: 'url',
  create: (template = '{}') => ({
    read(stored) {
      const text = readText(stored);
      return text ? template.replace('{}', () => encodeURIComponent(text.toWellFormed())) : undefined;
    },
    // No client may set the address of a page.
    write: String,
  }),
};
