// Builds HTML from templates that escape every value.

import { escapeHtml } from '../../text/html.ts';

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
