// HTML as rich text of Payload's editor. The expected nodes are those that Payload 3.90 renders as this HTML again
// (`node test/cms/contract-table.ts`).

import { expect } from 'chai';
import { htmlToLexical } from '../../src/mapping/codecs/lexical.ts';
import { UnrepresentableValue } from '../../src/mapping/paths.ts';
import { mappingWith } from './samples.ts';

interface Node {
  type: string;
  text?: string;
  format?: number | string;
  tag?: string;
  fields?: { url: string };
  children?: Node[];
}

/** `paragraph("a" "b"/1)`: type, tag or address, and the texts with their format. */
function outline({ type, text, format, tag, fields, children = [] }: Node): string {
  if (type === 'text') return `"${text}"${format ? `/${format}` : ''}`;
  const more = tag ?? fields?.url;
  return `${type}${more ? `:${more}` : ''}${children.length > 0 ? `(${children.map(outline).join(' ')})` : ''}`;
}

const outlineOf = (html: string): string =>
  ((htmlToLexical(html) as { root: Node } | null)?.root.children ?? []).map(outline).join(' ');

describe('HTML as rich text of Lexical', () => {
  for (const [name, html, expected] of [
    [
      'paragraphs, formats and line breaks',
      '<p>A <b>bold <i>both</i></b> end </p>\n<p>two<br>lines</p>',
      'paragraph("A " "bold "/1 "both"/3 " end") paragraph("two" linebreak "lines")',
    ],
    [
      'typed text: blank lines separate paragraphs',
      'one\nline\n\ntwo',
      'paragraph("one" linebreak "line") paragraph("two")',
    ],
    [
      'lists in lists',
      '<ul><li>a<ol><li>b</li></ol></li><li><p>c</p><p>d</p></li></ul>e',
      'list:ul(listitem("a") listitem(list:ol(listitem("b"))) listitem("c" linebreak "d")) paragraph("e")',
    ],
    [
      'text after a paragraph, in an item and in a quote, on a line of its own',
      '<ul><li><p>a</p>b</li></ul><blockquote><p>q</p>\n<i>r</i> s</blockquote>',
      'list:ul(listitem("a" linebreak "b")) quote("q" linebreak "r"/2 " s")',
    ],
    [
      'lists with white space between their tags, as editors write them',
      '<ol>\n  <li>a</li>\n  <li>b\n    <ul>\n<li>c</li>\n</ul>\n</li>\n</ol>\n<p>e</p>',
      'list:ol(listitem("a") listitem("b") listitem(list:ul(listitem("c")))) paragraph("e")',
    ],
    [
      'headings, quotes and rules',
      '<h2>T</h2><blockquote>\n<p>q</p><p>r</p></blockquote><hr><b><div>a</div>b</b>',
      'heading:h2("T") quote("q" linebreak "r") horizontalrule paragraph("a"/1) paragraph("b"/1)',
    ],
    [
      'links of the web only, and no scripts',
      '<a href="https://x.test/?a=1&amp;b=2">x</a> <a href="javascript:y">y</a><script>z</script>',
      'paragraph(link:https://x.test/?a=1&b=2("x") " " "y")',
    ],
    ['other elements by their text', '<table><tr><td>1</td><td>2</td></tr></table>', 'paragraph("1") paragraph("2")'],
    ['no text as nothing', ' <p> </p>\n', ''],
  ] as const)
    it(name, () => {
      expect(outlineOf(html)).to.equal(expected);
    });

  it('has at most 200 elements in each other', () => {
    expect(outlineOf(`${'<ul><li>x'.repeat(100)}`).split('list:ul')).to.have.length(101);
    expect(() => htmlToLexical('<i>x'.repeat(200_000))).to.throw(UnrepresentableValue);
  });

  it('takes time linear in the length', () => {
    expect(outlineOf('<p><b>x</b></u>'.repeat(50_000)).length).to.be.above(0);
    expect(outlineOf('a\n \n'.repeat(50_000)).length).to.be.above(0);
  });

  it('is for writing only', () => {
    expect(() => mappingWith({ description: { at: 'text', as: 'lexical' } })).to.throw(/"write" only/);
  });
});
