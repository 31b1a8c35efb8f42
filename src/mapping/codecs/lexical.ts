// Codec `lexical`: rich text as Payload's editor Lexical stores it, for writing only. Payload itself makes HTML of it
// (`lexicalHTMLField`), in a field of its own that the mapping reads. Paragraphs, headings, quotes, lists, links,
// formats and rules are converted; other elements leave their text.

import { Parser } from 'htmlparser2';
import { HIDDEN, separatorOf } from '../../text/html.ts';
import type { CodecDefinition } from '../field-accessor.ts';
import { MappingFieldError, UnrepresentableValue } from '../paths.ts';

interface LexicalNode {
  type: string;
  version: number;
  text?: string;
  children?: LexicalNode[];
  [name: string]: unknown;
}

export const lexical: CodecDefinition<never> = {
  fits: ['html'],
  metaType: () => ({ type: 'object' }),
  create: (_options, { pointer, writeOnly }) => {
    const reason = 'is for "write" only: "read" a field with the HTML that Payload makes of it';
    if (!writeOnly) throw new MappingFieldError(pointer, reason);
    return { read: () => undefined, write: (value) => htmlToLexical(String(value)) };
  },
};

/** Elements by Lexical's format of their text, which is a bit: bold is 1, italic 2, strikethrough 4 and so on. */
const FORMATS = [['b', 'strong'], ['i', 'em'], ['s', 'del', 'strike'], ['u', 'ins'], ['code'], ['sub'], ['sup']];

function formatOf(name: string): number {
  const bit = FORMATS.findIndex((names) => names.includes(name));
  return bit < 0 ? 0 : 1 << bit;
}

/** Whether the element begins and ends a paragraph. */
const isBlock = (name: string): boolean =>
  name !== 'br' && (separatorOf(name) === '\n' || name === 'td' || name === 'th');
const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const LINE_BREAK: LexicalNode = { type: 'linebreak', version: 1 };

/** The parser compares each closing tag with all open elements, and Payload nests what it reads by recursion. */
const MAX_DEPTH = 200;

interface HtmlElement {
  name: string;
  href: string;
  /** It is a block, or has one inside. */
  hasBlock: boolean;
  children: HtmlNode[];
}
type HtmlNode = HtmlElement | string;

/** An empty text becomes null: no rich text. @throws UnrepresentableValue if elements are nested too deeply */
export function htmlToLexical(html: string): object | null {
  const children = blocksOf(parseHtml(html).flatMap(typedText), 0);
  return children.length === 0 ? null : { root: element('root', children) };
}

const htmlElement = (name: string, href = ''): HtmlElement => ({
  ...{ name, href, hasBlock: isBlock(name), children: [] },
});

function parseHtml(html: string): HtmlNode[] {
  const root = htmlElement('');
  const open = [root];
  const parser = new Parser({
    onopentag(name, { href }) {
      if (open.length > MAX_DEPTH) throw new UnrepresentableValue('its elements are nested too deeply');
      const opened = htmlElement(name, href);
      open.at(-1)?.children.push(opened);
      if (opened.hasBlock) for (const outer of open) outer.hasBlock = true;
      open.push(opened);
    },
    ontext(text) {
      const { children } = open.at(-1)!;
      // A text comes in parts: `a &amp; b` in three.
      const last = children.at(-1);
      if (typeof last === 'string') children[children.length - 1] = last + text;
      else children.push(text);
    },
    onclosetag: () => void open.pop(),
  });
  parser.end(html);
  return root.children;
}

/** Text outside of elements is as people type it: a line ends where it ends, and blank lines separate paragraphs. */
function typedText(node: HtmlNode): HtmlNode[] {
  if (typeof node !== 'string') return [node];
  return node.split(/(\n[ \t\r]*\n|\n)/).map((part, index) => {
    const isSeparator = index % 2 === 1;
    return isSeparator ? htmlElement(part === '\n' ? 'br' : 'p') : part;
  });
}

/** Paragraphs of the texts between blocks, and the blocks. */
function blocksOf(nodes: readonly HtmlNode[], format: number): LexicalNode[] {
  const blocks: LexicalNode[] = [];
  let texts: LexicalNode[] = [];
  const endParagraph = () => {
    blocks.push(...textBlock('paragraph', texts));
    texts = [];
  };
  for (const node of nodes) {
    if (typeof node === 'string' || !node.hasBlock) texts.push(...textsOf(node, format));
    else {
      endParagraph();
      blocks.push(...block(node, format));
    }
  }
  endParagraph();
  return blocks;
}

function block({ name, children }: HtmlElement, outerFormat: number): LexicalNode[] {
  const format = outerFormat | formatOf(name);
  if (name === 'hr') return [{ type: 'horizontalrule', version: 1 }];
  if (name === 'ul' || name === 'ol') return [list(name, children, format)];
  if (name === 'blockquote') return textBlock('quote', linesOf(children, format));
  if (/^h\d$/.test(name)) return textBlock('heading', linesOf(children, format), { tag: name });
  return blocksOf(children, format);
}

function list(tag: 'ul' | 'ol', children: readonly HtmlNode[], format: number): LexicalNode {
  const contents = children.flatMap((child) =>
    contentsOfItems(typeof child !== 'string' && child.name === 'li' ? child.children : [child], format),
  );
  const items = contents.flatMap((content) => textBlock('listitem', content));
  const numbered = items.map((item, index) => ({ ...item, value: index + 1 }));
  return element('list', numbered, { listType: tag === 'ul' ? 'bullet' : 'number', tag, start: 1 });
}

/** A list in an item is an item of its own: of `<li>Soup<ul>...</ul>Tea</li>`, the contents are Soup, the list, Tea. */
function contentsOfItems(nodes: readonly HtmlNode[], format: number): LexicalNode[][] {
  const contents: LexicalNode[][] = [];
  let texts: HtmlNode[] = [];
  for (const node of nodes)
    if (typeof node !== 'string' && (node.name === 'ul' || node.name === 'ol')) {
      contents.push(linesOf(texts, format), [list(node.name, node.children, format)]);
      texts = [];
    } else texts.push(node);
  return [...contents, linesOf(texts, format)];
}

/** The texts in a quote, a heading or an item: each paragraph is a line, and what follows one: `<p>Soup</p>Tea`. */
function linesOf(nodes: readonly HtmlNode[], format: number): LexicalNode[] {
  let isAfterBlock = false;
  return nodes.flatMap((node) => {
    const isBlock = typeof node !== 'string' && node.hasBlock;
    if (isAfterBlock && typeof node === 'string' && node.trim() === '') return [];
    const content = isBlock ? linesOf(node.children, format) : textsOf(node, format);
    const line = isBlock || isAfterBlock ? [LINE_BREAK, ...content] : content;
    isAfterBlock = isBlock;
    return line;
  });
}

function textsOf(node: HtmlNode, format: number): LexicalNode[] {
  if (typeof node === 'string') {
    const text = node.replace(/[ \t\n\r\f]+/g, ' ');
    return [{ type: 'text', version: 1, text, format, detail: 0, mode: 'normal', style: '' }];
  }
  const { name, href, children } = node;
  if (HIDDEN.has(name)) return [];
  if (name === 'br') return [LINE_BREAK];
  const texts = children.flatMap((child) => textsOf(child, format | formatOf(name)));
  const isLink = name === 'a' && URL.canParse(href) && LINK_SCHEMES.has(new URL(href).protocol);
  const fields = { linkType: 'custom', url: href, newTab: false };
  return isLink ? [element('link', texts, { version: 3, fields })] : texts;
}

/** None if there is nothing to see: white space and line breaks at its ends are left out. */
function textBlock(type: string, texts: readonly LexicalNode[], more: object = {}): LexicalNode[] {
  const children: LexicalNode[] = [];
  for (const node of texts) {
    const last = children.at(-1);
    const isAtStart = last === undefined || last.type === 'linebreak';
    const text = isAtStart ? node.text?.trimStart() : node.text;
    if (text === '' || (last === undefined && node.type === 'linebreak')) continue;
    children.push(text === undefined ? node : { ...node, text });
  }
  for (let last = children.at(-1); last; last = children.at(-1)) {
    if (last.text !== undefined) last.text = last.text.trimEnd();
    if (last.type !== 'linebreak' && last.text !== '') break;
    children.pop();
  }
  return children.length === 0 ? [] : [element(type, children, more)];
}

const element = (type: string, children: LexicalNode[], more: object = {}): LexicalNode => ({
  ...{ type, version: 1, format: '', indent: 0, direction: null, children },
  ...more,
});
