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

const htmlElement = (name: string, href = ''): HtmlElement => ({ name, href, hasBlock: isBlock(name), children: [] });

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

/** Neighbours together, and each that `isApart` alone: of `a<b>b</b><p>c</p>d`, [`a`, <b>], [<p>] and [`d`]. */
function groupsOf(nodes: readonly HtmlNode[], isApart: (node: HtmlNode) => boolean): HtmlNode[][] {
  const groups: HtmlNode[][] = [];
  for (const node of nodes) {
    const last = groups.at(-1);
    if (!last || isApart(node) || isApart(last[0]!)) groups.push([node]);
    else last.push(node);
  }
  return groups;
}

const hasBlock = (node: HtmlNode | undefined): node is HtmlElement => typeof node === 'object' && node.hasBlock;
const isList = (node: HtmlNode | undefined): node is HtmlElement =>
  typeof node === 'object' && (node.name === 'ul' || node.name === 'ol');

/** The blocks, and paragraphs of the texts between them. */
const blocksOf = (nodes: readonly HtmlNode[], format: number): LexicalNode[] =>
  groupsOf(nodes, hasBlock).flatMap((group) => {
    const [first] = group;
    return hasBlock(first) ? block(first, format) : textBlock('paragraph', textsOf(group, format));
  });

function block(node: HtmlElement, outerFormat: number): LexicalNode[] {
  const { name, children } = node;
  const format = outerFormat | formatOf(name);
  if (name === 'hr') return [{ type: 'horizontalrule', version: 1 }];
  if (isList(node)) return [list(node, format)];
  if (name === 'blockquote') return textBlock('quote', linesOf(children, format));
  if (/^h\d$/.test(name)) return textBlock('heading', linesOf(children, format), { tag: name });
  return blocksOf(children, format);
}

function list({ name: tag, children }: HtmlElement, format: number): LexicalNode {
  const items = children.flatMap((child) =>
    itemsOf(typeof child === 'object' && child.name === 'li' ? child.children : [child], format),
  );
  const numbered = items.map((item, index) => ({ ...item, value: index + 1 }));
  return element('list', numbered, { listType: tag === 'ul' ? 'bullet' : 'number', tag, start: 1 });
}

/** A list in an item is an item of its own: of `<li>Soup<ul>...</ul>Tea</li>`, the items are Soup, the list, Tea. */
const itemsOf = (nodes: readonly HtmlNode[], format: number): LexicalNode[] =>
  groupsOf(nodes, isList).flatMap((group) => {
    const [first] = group;
    return isList(first) ? [element('listitem', [list(first, format)])] : textBlock('listitem', linesOf(group, format));
  });

/**
 * The texts in a quote, a heading or an item. A block is a line of its own. `trimmed` leaves out the first line break.
 *
 *   Soup<p>Tea</p>            Soup, line break, Tea
 *   <p>Soup</p> <b>Tea</b>    line break, Soup, line break, Tea
 */
function linesOf(nodes: readonly HtmlNode[], format: number): LexicalNode[] {
  const isBlank = (node: HtmlNode) => typeof node === 'string' && node.trim() === '';
  const lines = groupsOf(nodes, hasBlock).filter((group) => !group.every(isBlank));
  return lines.flatMap((line, index) => {
    const [first] = line;
    if (hasBlock(first)) return [LINE_BREAK, ...linesOf(first.children, format)];
    return [...(index === 0 ? [] : [LINE_BREAK]), ...textsOf(line, format)];
  });
}

function textsOf(nodes: readonly HtmlNode[], format: number): LexicalNode[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') {
      const text = node.replace(/[ \t\n\r\f]+/g, ' ');
      return [{ type: 'text', version: 1, text, format, detail: 0, mode: 'normal', style: '' }];
    }
    const { name, href, children } = node;
    if (HIDDEN.has(name)) return [];
    if (name === 'br') return [LINE_BREAK];
    const texts = textsOf(children, format | formatOf(name));
    const isLink = name === 'a' && URL.canParse(href) && LINK_SCHEMES.has(new URL(href).protocol);
    const fields = { linkType: 'custom', url: href, newTab: false };
    return isLink ? [element('link', texts, { version: 3, fields })] : texts;
  });
}

/** None if there is nothing to see. */
function textBlock(type: string, texts: readonly LexicalNode[], more: object = {}): LexicalNode[] {
  const children = trimmed(texts);
  return children.length === 0 ? [] : [element(type, children, more)];
}

/** Without line breaks and white space at both ends, and without white space at the beginning of each line. */
function trimmed(texts: readonly LexicalNode[]): LexicalNode[] {
  const kept: LexicalNode[] = [];
  for (const node of texts) {
    const last = kept.at(-1);
    if (node.type === 'linebreak' && !last) continue;
    // A line break and a link have no text of their own.
    const text = !last || last.type === 'linebreak' ? node.text?.trimStart() : node.text;
    if (text !== '') kept.push(text === undefined ? node : { ...node, text });
  }
  const isBlank = ({ type, text }: LexicalNode) => type === 'linebreak' || text?.trim() === '';
  const end = kept.findLastIndex((node) => !isBlank(node));
  const last = kept[end];
  if (last?.text !== undefined) last.text = last.text.trimEnd();
  return kept.slice(0, end + 1);
}

const element = (type: string, children: LexicalNode[], more: object = {}): LexicalNode => ({
  ...{ type, version: 1, format: '', indent: 0, direction: null, children },
  ...more,
});
