// HTML in text: tags, scripts, entities and WordPress's typography. All in time linear in the length of the text.

import { decodeHTMLStrict } from 'entities';
import { Tokenizer } from 'htmlparser2';
import { cutHtml, cutText, fold, foldForSort } from './text.ts';

/** Elements whose content is no text of the page. */
export const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'title']);
const ignore = (): void => {};
const IGNORED = {
  onattribdata: ignore,
  onattribend: ignore,
  onattribentity: ignore,
  onattribname: ignore,
  oncdata: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onend: ignore,
  onopentagend: ignore,
  onprocessinginstruction: ignore,
  onselfclosingtag: ignore,
  ontextentity: ignore,
};

/**
 * The text of HTML as browsers read it, with its entities: `I <3 Jazz, 5 < 6` has no tags, and comments and scripts are
 * no text.
 * @param separator what a tag of this name puts between the texts before and after it
 */
export function htmlText(html: string, separator: (tagName: string) => string = () => ''): string {
  let text = '';
  let hidden: string | undefined;
  // The tokenizer and not the parser: closing tags that nothing opened take the parser quadratic time.
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      ...IGNORED,
      ontext(start, end) {
        if (hidden === undefined) text += html.slice(start, end);
      },
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (hidden !== undefined) return;
        text += separator(name);
        if (HIDDEN.has(name)) hidden = name;
      },
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (hidden === name) hidden = undefined;
        if (hidden === undefined) text += separator(name);
      },
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return text;
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const LINES = names(
  `address article aside blockquote br caption center dd details dialog dir div dl dt fieldset figcaption figure footer
  form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol p pre search section summary table tbody tfoot
  thead tr ul`,
);
const WITHIN_WORDS = names(
  `a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr q rp rt ruby s samp small span strike
  strong sub sup time tt u var wbr`,
);

/**
 * A line end for a tag that ends a line of text, a blank for one that separates words, such as a table cell, a button
 * or a picture, and nothing for one within words, such as `<b>` and those that HTML does not know (`<my-tag>`).
 */
export function separatorOf(tagName: string): '\n' | ' ' | '' {
  if (LINES.has(tagName)) return '\n';
  return WITHIN_WORDS.has(tagName) || tagName.includes('-') ? '' : ' ';
}

/**
 * Decodes entities by number and by name, as browsers do: `&euro;` and `&#8364;` are `€`. Without a semicolon an
 * ampersand is text: `/?a=1&copy=2`. A `&nbsp;` is a blank: searches and feeds have no use for another one.
 */
export const decodeEntities = (text: string): string => decodeHTMLStrict(text.replaceAll('&nbsp;', ' '));

/** All control characters but the line feed, and noncharacters: neither XML nor iCalendar may contain them. */
const FORBIDDEN = /[^\P{Cc}\n]|[\ufffe\uffff]/gu;
/** `textLines` reads at most this many characters of HTML per character that it returns. */
const MARKUP_PER_CHARACTER = 20;

/** The lines of text in HTML, without control characters. A text longer than `maxLength` is cut, and ends with `…`. */
export function textLines(html: string, maxLength: number): string[] {
  const read = cutHtml(html, maxLength * MARKUP_PER_CHARACTER).replace(/\s+/g, ' ');
  const lines = decodeEntities(htmlText(read, separatorOf))
    .toWellFormed()
    .replace(FORBIDDEN, '')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  const text = lines.join('\n');
  return text.length > maxLength ? `${cutText(text, maxLength - 1)}…`.split('\n') : lines;
}

export const textLine = (html: string, maxLength = 500): string => textLines(html, maxLength).join(' ');

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

/** Undoes `wptexturize`, by which WordPress turns typed quotes, dashes and dots into typographic ones. */
export const undoTypography = (text: string): string =>
  text.replace(/[‘’′]/g, "'").replace(/[“”″]/g, '"').replace(/[–—]/g, '--').replaceAll('…', '...').replaceAll('×', 'x');

/** `Rock &#8211; Pop` gives `Rock – Pop` and, on a line of its own, the text as it was typed: `Rock -- Pop`. */
export function searchableText(html: string): string {
  const shown = decodeEntities(html);
  const typed = undoTypography(shown);
  return typed === shown ? shown : `${shown}\n${typed}`;
}

/** Folds a term's name as people write it: WordPress stores `Food &amp; Drink`. */
export const foldName = (name: string): string => fold(decodeEntities(name).trim());

/** Characters of a title that the order by title compares. */
const SORTED_CHARACTERS = 100;

export const foldTitle = (title: string): string => foldForSort(textLine(title, SORTED_CHARACTERS));
