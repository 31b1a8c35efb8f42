// The text of a CMS's HTML: entities, tags, lines.

import { expect } from 'chai';
import { decodeEntities, htmlText, textLine, textLines } from '../../src/text/html.ts';

describe('entities', () => {
  it('become characters, by number and by name', () => {
    expect(decodeEntities('&#8217;&#x1F600;&AMP;&quot;')).to.equal('\u2019😀&"');
    expect(decodeEntities('Caf&eacute; &Eacute;t&eacute;, 5 &euro;, &frac12;, &Afr;, &fjlig;, &semi;')).to.equal(
      'Café Été, 5 €, ½, 𝔄, fj, ;',
    );
  });

  it('stay if they name no character', () => {
    for (const text of ['&constructor;', '&__proto__;', '&unknown;', '&notit;', '&gta;', '&a;', '/?a=1&copy=2'])
      expect(decodeEntities(text)).to.equal(text);
  });

  it('become the replacement character if their number is none of a character, as in browsers', () => {
    for (const text of ['&#0;', '&#x110000;', '&#xD800;', '&#57343;']) expect(decodeEntities(text)).to.equal('\ufffd');
  });

  it('are decoded once', () => {
    expect(decodeEntities('&amp;amp;amp;lt;')).to.equal('&amp;amp;lt;');
  });
});

describe('the text of HTML', () => {
  // As browsers show it: the left side as `innerText`, with single blanks.
  const SHOWN: [html: string, text: string][] = [
    ['I <3 Jazz -> Blues', 'I <3 Jazz -> Blues'],
    ['5 < 6 &amp; 7 > 6', '5 < 6 & 7 > 6'],
    ['kids <5 free', 'kids <5 free'],
    ['<=10 and <-', '<=10 and <-'],
    ['<p>I <3 jazz, kids <5 free.</p>\n<p>Second</p>', 'I <3 jazz, kids <5 free. Second'],
    ['<img alt="5 > 3" src="x">', ''],
    ["before <a title='a > b'>link</a> after", 'before link after'],
    ['<b\n class="x">bold</b>', 'bold'],
    ['a</ b>c', 'ac'],
    ['Jazz<br>Night', 'Jazz Night'],
    ['Jazz<BR/>Night', 'Jazz Night'],
    [
      '<table><tr><td>19:00</td><td>Doors</td></tr><tr><th>20:00</th><td>Band</td></tr></table>',
      '19:00 Doors 20:00 Band',
    ],
    ['<button>One</button><button>Two</button>', 'One Two'],
    ['<select><option>One<option>Two</select>', 'One Two'],
    ['<details><summary>More</summary>Text</details>', 'More Text'],
    ['<figure><img src="x"><figcaption>Cap</figcaption></figure>Text', 'Cap Text'],
    ['<header>Head</header><main>Main</main><dl><dt>Term<dd>Text</dl>', 'Head Main Term Text'],
    ['H<sub>2</sub>O, <em>Fort</em>e, super<wbr>long', 'H2O, Forte, superlong'],
    ['<style>p > a { color: red }</style>Text<script>if (a < b) x("</p>");</script>', 'Text'],
    ['<STYLE>a</STYLE >b', 'b'],
    ['before<!-- a > b -->after', 'beforeafter'],
    ['one<!--more-->two<!-- wp:table {"a":"<b>"} -->three', 'onetwothree'],
    ['<?xml version="1.0"?>Text<!DOCTYPE html>', 'Text'],
    ['Doors <7 pm', 'Doors <7 pm'],
    ['a < b', 'a < b'],
    ['ends with <', 'ends with <'],
    ['ends with <b', 'ends with'],
    ['&lt;b&gt;shown&lt;/b&gt; &#60;i&#62;', '<b>shown</b> <i>'],
    ['Tom &amp; Jerry&nbsp;&#8217;27', 'Tom & Jerry ’27'],
    ['🎉<b>🎊</b>👩‍👩‍👧', '🎉🎊👩‍👩‍👧'],
  ];
  for (const [html, text] of SHOWN) it(html, () => expect(textLine(html)).to.equal(text));

  it('has no separators, if none are asked for', () => {
    expect(htmlText('<td>19:00</td><td>Doors</td> 5 < 6 &amp; 7')).to.equal('19:00Doors 5 < 6 &amp; 7');
  });

  it('has a line for each paragraph, item, row and break', () => {
    const html = '<p>One\ntwo</p><ul><li>three<li>four</ul><table><tr><td>5<td>6<tr><td>7</table>eight<br>nine';
    expect(textLines(html, 500)).to.deep.equal(['One two', 'three', 'four', '5 6', '7', 'eight', 'nine']);
  });

  it('is cut between two characters, and ends with …', () => {
    for (const character of ['a', '😀'])
      for (let length = 20; length < 20 + 2 * character.length; length += 1) {
        const text = textLine(character.repeat(40), length);
        expect(text.length).to.be.at.most(length);
        expect(text.length).to.be.above(length - character.length - 1);
        expect(text).to.equal(`${character.repeat((text.length - 1) / character.length)}…`);
      }
  });

  it('is cut before a tag that was begun', () => {
    const html = `${'<i></i>'.repeat(2855)}text <a href="https://example.org/a-long-address">link</a>`;
    expect(textLine(html, 1000)).to.match(/^text …$|^text$/);
  });
});
