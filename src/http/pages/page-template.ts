// Builds pages of HTML: a template tag that escapes every value, and the frame of every page: head, bar and content.

import { escapeHtml } from '../../text/html.ts';
import type { Language } from './language.ts';

/** HTML that needs no escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | string | number | false | undefined | readonly HtmlValue[];

function htmlOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  return Array.isArray(value) ? value.map(htmlOf).join('') : escapeHtml(String(value));
}

/** Template tag: escapes texts, joins lists, and omits `false` and `undefined`. Attribute values need double quotes. */
export const html = (strings: TemplateStringsArray, ...values: HtmlValue[]): Html =>
  new Html(strings.map((string, i) => string + htmlOf(values[i])).join(''));

export interface Brand {
  name: string;
  /** The address of the logo; absent: the gateway's own icon. */
  logo: string | undefined;
  language: Language;
  /** What leads from the page to the address of the calendar: nothing, or `../`. */
  root: string;
  asset: (name: string) => string;
}

interface HtmlPage {
  title: string;
  /** Links and metadata, besides those of every page. */
  head: Html;
  body: Html;
  /** Attributes of `html`. */
  data?: Html | undefined;
}

export function pageFrame({ name, logo, language, root, asset }: Brand, { title, head, body, data }: HtmlPage): Html {
  const { tag, texts } = language;
  const icon = logo ?? asset('icon.svg');
  return html`${new Html('<!doctype html>')}
<html lang="${tag}"${data}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${asset('page.css')}">
<link rel="stylesheet" href="${asset('theme.css')}">
${head}
</head>
<body>
<a class="skip" href="#main">${texts.skip}</a>
<header class="bar">
<a class="name" href="${root}./"><img src="${icon}" alt=""> <span>${name}</span></a>
</header>
${body}
</body>
</html>
`;
}
