// Descriptions as safe HTML: the addresses of their links.

import { expect } from 'chai';
import { safeHtml } from '../../src/text/safe-html.ts';

describe('a link in a description', () => {
  const LINK = '<a href="/halls">Halls</a>';

  it('is relative to the page of the description', async () => {
    const html = await safeHtml(LINK, 'https://town.example/events/fair');
    expect(html).to.equal('<a href="https://town.example/halls" rel="nofollow noopener">Halls</a>');
  });

  it('has no address if it is relative and the page is unknown: an empty one would be the page that shows it', async () => {
    expect(await safeHtml(LINK)).to.equal('<a>Halls</a>');
    expect(await safeHtml('<a href="">Halls</a>')).to.equal('<a>Halls</a>');
  });
});
