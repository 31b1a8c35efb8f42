// Entities in the HTML of a CMS.

import { expect } from 'chai';
import { decodeEntities } from '../../src/text/html.ts';

describe('entities', () => {
  it('become characters, by number and by name', () => {
    expect(decodeEntities('&#8217;&#x1F600;&AMP;&quot;')).to.equal('\u2019😀&"');
    expect(decodeEntities('Caf&eacute; &Eacute;t&eacute;, 5 &euro;, &frac12;, &Afr;, &fjlig;, &semi;')).to.equal(
      'Café Été, 5 €, ½, 𝔄, fj, ;',
    );
  });

  it('stay if they name no character', () => {
    for (const text of [
      '&constructor;',
      '&__proto__;',
      '&unknown;',
      '&notit;',
      '&gta;',
      '&a;',
      '&#0;',
      '&#x110000;',
      '&#xD800;',
      '&#57343;',
    ])
      expect(decodeEntities(text)).to.equal(text);
  });

  it('are decoded once', () => {
    expect(decodeEntities('&amp;amp;amp;lt;')).to.equal('&amp;amp;lt;');
  });
});
