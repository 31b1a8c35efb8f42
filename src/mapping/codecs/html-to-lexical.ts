// Converts HTML to the JSON of Payload's editor Lexical: paragraphs, headings, quotes, lists, links, formats, rules.
// Other elements leave their text. Takes time linear in the length of the HTML.

import { type Handler, Parser } from 'htmlparser2';

interface LexicalNode {
  type: string;
  version: number;
  [name: string]: unknown;
}
interface TextNode extends LexicalNode {
  text: string;
  format: number;
}
interface ElementNode extends LexicalNode {
  children: LexicalNode[];
}

/** Lexical's bits of a text's format. */
const FORMATS: Readonly<Record<string, number>> = {
  b: 1,
  strong: 1,
  i: 2,
  em: 2,
  s: 4,
  del: 4,
  strike: 4,
  u: 8,
  ins: 8,
  code: 16,
  sub: 32,
  sup: 64,
};
const WITHOUT_TEXT = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'textarea', 'title']);
const TEXT_BLOCKS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre']);
/** Elements whose tags separate paragraphs. */
const SEPARATING = new Set(
  'address article aside dd div dl dt figcaption figure footer form header main section table tbody td tfoot th thead tr'.split(
    ' ',
  ),
);
const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);
/** Payload nests what it reads by recursion. A deeper list goes on with the items of its parent. */
const MAX_LIST_DEPTH = 10;
/**
 * The parser compares each closing tag with all open elements. Beyond this many, all are closed, and what
 * follows is outside of them.
 */
const MAX_OPEN_ELEMENTS = 2500;
/** How often the open elements are counted. Each part ends before a `<`, where texts end too. */
const PART_CHARACTERS = 1000;
const WHITE_SPACE = /[ \t\n\r\f]+/g;

/** An empty text becomes null: no rich text. */
export function htmlToLexical(html: string): object | null {
  const root = element('root');
  const lists: ElementNode[] = [];
  const formats = new Map<number, number>();
  /** Where text goes: a paragraph, a heading, a quote or an item of a list. */
  let block: ElementNode | undefined;
  let link: ElementNode | undefined;
  let silentDepth = 0;
  let preDepth = 0;
  let openElements = 0;

  const handler: Partial<Handler> = {
    onopentag(name, { href }) {
      openElements += 1;
      if (WITHOUT_TEXT.has(name)) silentDepth += 1;
      else if (name === 'ul' || name === 'ol') openList(name);
      else if (name === 'li') openItem();
      else if (TEXT_BLOCKS.has(name)) openTextBlock(name);
      else if (SEPARATING.has(name)) closeBlock();
      else if (name === 'br')
        (block ?? openBlock(element('paragraph'))).children.push({ type: 'linebreak', version: 1 });
      else if (name === 'hr') addRule();
      else if (name === 'a') openLink(href ?? '');
      else if (FORMATS[name]) countFormat(name, 1);
      if (name === 'pre') preDepth += 1;
    },
    ontext(text) {
      if (silentDepth === 0) addText(text);
    },
    onclosetag(name) {
      openElements -= 1;
      if (WITHOUT_TEXT.has(name)) silentDepth -= 1;
      else if (name === 'ul' || name === 'ol') closeList();
      else if (name === 'li' || TEXT_BLOCKS.has(name) || SEPARATING.has(name)) closeTextBlock(name);
      else if (name === 'a') link = undefined;
      else if (FORMATS[name]) countFormat(name, -1);
      if (name === 'pre') preDepth -= 1;
    },
  };
  let parser = new Parser(handler, { decodeEntities: true });
  for (let from = 0; from < html.length; ) {
    const next = html.indexOf('<', from + PART_CHARACTERS);
    const end = next < 0 ? html.length : next;
    parser.write(html.slice(from, end));
    from = end;
    if (openElements <= MAX_OPEN_ELEMENTS) continue;
    parser.end();
    parser = new Parser(handler, { decodeEntities: true });
  }
  parser.end();
  closeBlock();
  return root.children.length === 0 ? null : { root };

  function openBlock(node: ElementNode): ElementNode {
    closeBlock();
    root.children.push(node);
    block = node;
    return node;
  }

  /** Removes white space at the end of the block, and the block if it has no text. */
  function closeBlock(): void {
    const last = block?.children.at(-1);
    if (last?.type === 'text' && preDepth === 0) (last as TextNode).text = (last as TextNode).text.trimEnd();
    if (block?.children.length === 0 && root.children.at(-1) === block) root.children.pop();
    block = undefined;
    link = undefined;
  }

  function openTextBlock(name: string): void {
    // A paragraph in an item or in a quote is a line of it.
    const outer = block;
    if (outer && (outer.type === 'listitem' || outer.type === 'quote')) {
      if (outer.children.length > 0) outer.children.push({ type: 'linebreak', version: 1 });
      return;
    }
    if (lists.length > 0) openItem();
    else if (/^h\d$/.test(name)) openBlock({ ...element('heading'), tag: name });
    else openBlock(element(name === 'blockquote' ? 'quote' : 'paragraph'));
  }

  function closeTextBlock(name: string): void {
    const isLine = name === 'p' && (block?.type === 'listitem' || block?.type === 'quote');
    if (!isLine) closeBlock();
  }

  function openList(tag: 'ul' | 'ol'): void {
    closeBlock();
    if (lists.length >= MAX_LIST_DEPTH) {
      lists.push(lists.at(-1)!);
      return;
    }
    const list = { ...element('list'), listType: tag === 'ul' ? 'bullet' : 'number', tag, start: 1 };
    const outer = lists.at(-1);
    if (outer) addItem(outer).children.push(list);
    else root.children.push(list);
    lists.push(list);
  }

  function closeList(): void {
    closeBlock();
    lists.pop();
  }

  function openItem(): void {
    closeBlock();
    const list = lists.at(-1);
    block = list ? addItem(list) : openBlock(element('paragraph'));
  }

  function addRule(): void {
    closeBlock();
    if (lists.length === 0) root.children.push({ type: 'horizontalrule', version: 1 });
  }

  function openLink(href: string): void {
    link = undefined;
    if (!URL.canParse(href) || !LINK_SCHEMES.has(new URL(href).protocol)) return;
    const fields = { linkType: 'custom', url: href, newTab: false };
    const opened = { ...element('link'), version: 3, fields };
    blockForText().children.push(opened);
    link = opened;
  }

  function countFormat(name: string, change: number): void {
    const bit = FORMATS[name]!;
    formats.set(bit, Math.max(0, (formats.get(bit) ?? 0) + change));
  }

  function blockForText(): ElementNode {
    if (!block && lists.length > 0) openItem();
    return block ?? openBlock(element('paragraph'));
  }

  function addText(text: string): void {
    // White space between the tags of a list is no item of it.
    if (!block && lists.length > 0 && text.trim() === '') return;
    if (preDepth > 0) addLines(text.split('\n'));
    // Text outside of elements is as people type it: blank lines separate paragraphs.
    else if (!block && lists.length === 0) addTyped(text);
    else addRun(text.replace(WHITE_SPACE, ' '));
  }

  function addTyped(text: string): void {
    for (const [n, paragraph] of text.split(/\n[ \t\r]*\n/).entries()) {
      if (n > 0) closeBlock();
      if (paragraph.trim() !== '') addLines(paragraph.replace(/^\s+/, '').split('\n'));
    }
  }

  function addLines(lines: readonly string[]): void {
    for (const [n, line] of lines.entries()) {
      if (n > 0) blockForText().children.push({ type: 'linebreak', version: 1 });
      addRun(preDepth > 0 ? line : line.replace(WHITE_SPACE, ' '));
    }
  }

  function addRun(run: string): void {
    const { children } = link ?? blockForText();
    const last = children.at(-1);
    const isAtStart = link === undefined && (last === undefined || last.type === 'linebreak');
    const text = isAtStart && preDepth === 0 ? run.trimStart() : run;
    if (text === '') return;
    const format = [...formats].reduce((bits, [bit, count]) => (count > 0 ? bits | bit : bits), 0);
    if (last?.type === 'text' && (last as TextNode).format === format) (last as TextNode).text += text;
    else children.push({ type: 'text', version: 1, text, format, detail: 0, mode: 'normal', style: '' } as TextNode);
  }
}

const element = (type: string): ElementNode => ({
  type,
  version: 1,
  format: '',
  indent: 0,
  direction: null,
  children: [],
});

function addItem(list: ElementNode): ElementNode {
  const item = { ...element('listitem'), value: list.children.length + 1 };
  list.children.push(item);
  return item;
}
