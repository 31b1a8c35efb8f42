// Makes the HTML of descriptions safe: text, structure and links stay; scripts, styles, forms and embeds go.

import type { IOptions } from 'sanitize-html';
import { escapeHtml, textLines } from './html.ts';
import { absoluteUrl, cutHtml, webAddress } from './text.ts';

const TAGS = [
  'p br hr a strong b em i u s small sub sup code pre blockquote ul ol li dl dt dd h3 h4 h5 h6',
  'figure figcaption img table caption thead tbody tr th td',
].join(' ');
/** Elements that go together with the text in them. */
const WITHOUT_TEXT = 'script style textarea option noscript iframe object svg math template title xmp noembed noframes';

/** The parser's worst case is quadratic: this many take a few milliseconds. */
const MAX_TAGS = 2000;
const MAX_CHARACTERS = 50_000;
const MAX_DEPTH = 20;

/**
 * A description as safe HTML. Cuts a long one, and reduces one of very many tags to its text.
 * @param base the address of its page; without one, relative links lose their `href`, and relative pictures go
 */
export async function safeHtml(description: string, base?: string): Promise<string> {
  const source = cutHtml(description, MAX_CHARACTERS);
  if (source.split('<', MAX_TAGS + 1).length > MAX_TAGS)
    return `<p>${textLines(source, MAX_CHARACTERS).map(escapeHtml).join('<br>')}</p>`;
  // Loaded with the first description.
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(source, rulesOf(base));
}

function rulesOf(base: string | undefined): IOptions {
  return {
    allowedTags: TAGS.split(' '),
    nonTextTags: WITHOUT_TEXT.split(' '),
    allowedAttributes: { a: ['href', 'rel'], img: ['src', 'alt', 'width', 'height', 'loading'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    parseStyleAttributes: false,
    nestingLimit: MAX_DEPTH,
    transformTags: {
      // The headings of the page are above.
      h1: 'h3',
      h2: 'h3',
      // `<a name="hall">` leads nowhere, and neither does `<a href="/hall">` without a base.
      a: (tagName, { href }) => {
        const address = absoluteUrl(href, base);
        return { tagName, attribs: address === '' ? {} : { href: address, rel: 'nofollow noopener' } };
      },
      img: (tagName, { src, ...others }) => ({
        tagName,
        attribs: { src: src ? absoluteUrl(src, base) : '', alt: '', ...others, loading: 'lazy' },
      }),
    },
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && webAddress(attribs.src) === undefined,
  };
}
