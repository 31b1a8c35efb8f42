// Builds HTML from templates that escape every value, and turns the CMS's HTML into text.

import { decodeEntities, escapeHtml, escapeHtmlOnce, removeScripts, replaceTags } from '../../text/html.ts';

/** HTML that needs no escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = Html | string | number | false | undefined | readonly HtmlValue[];

function htmlOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  return Array.isArray(value) ? value.map(htmlOf).join('') : escapeHtml(String(value));
}

/** Template tag: escapes texts, joins lists, and omits `false` and `undefined`. Attribute values need double quotes. */
export const html = (strings: TemplateStringsArray, ...values: HtmlValue[]): Html =>
  new Html(strings.map((string, i) => string + htmlOf(values[i])).join(''));

/**
 * Longer titles and names are cut. Templates repeat them, so that a long one would multiply; ordinary ones
 * are shorter.
 */
const MAX_CHARACTERS = 500;

const withoutTags = (cmsHtml: string): string => replaceTags(removeScripts(cmsHtml.slice(0, MAX_CHARACTERS)), () => '');

/** A title or name of the CMS, which is HTML, without tags. */
export const cmsText = (cmsHtml: string): Html => new Html(escapeHtmlOnce(withoutTags(cmsHtml)).trim());

/** The same as plain text, at most 500 characters. */
export const plainText = (cmsHtml: string): string => decodeEntities(withoutTags(cmsHtml)).replace(/\s+/g, ' ').trim();
