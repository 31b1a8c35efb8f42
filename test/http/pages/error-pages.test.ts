// Addresses beside the page: errors as pages for people, and what search engines ask for.

import { expect } from 'chai';
import { MOUNT, PUBLIC_URL } from '../../start-gateway.ts';
import { at, landingFixture, on } from './landing-fixture.ts';

/** What browsers send when they open an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8' };

describe('addresses beside the landing page', () => {
  const fixture = landingFixture();
  const open = (path: string, headers: Record<string, string> = BROWSER) =>
    fixture.gateway.requestPath(path, { headers });
  beforeEach(() => fixture.start([on(1, '10'), on(2, '08'), at(3, '2027-02-01 10:00:00', '2027-05-01 17:00:00')]));

  it('are a page that leads to the calendar, in the language of the visitor', async () => {
    const { status, text, headers } = await open('/nope', { ...BROWSER, 'accept-language': 'de' });
    expect([status, headers['content-type'], headers['cache-control']]).to.deep.equal([
      404,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(headers['content-security-policy']).to.include("default-src 'none'");
    expect(headers.vary).to.include('Accept-Language');
    expect(text).to.include('<h1>Seite nicht gefunden</h1>').and.include('<a href="./">Alle Termine</a>');
  });

  it('find styles and calendar from a folder too', async () => {
    const { text } = await open('/en/events/list');
    const links = [...text.matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, link]) => link!);
    for (const link of links) {
      const { pathname, search } = new URL(link, `${PUBLIC_URL}/en/events/list`);
      expect((await open(pathname + search)).status, link).to.equal(200);
    }
  });

  it('explain other errors of pages', async () => {
    const { status, text } = await open(`/?search=${'x'.repeat(9000)}`);
    expect(status).to.equal(414);
    expect(text).to.include('<h1>Something went wrong</h1>');
  });

  it('are JSON for programs, and below the API for everybody', async () => {
    for (const [path, headers] of [
      ['/nope', { accept: '*/*' }],
      ['/nope', { accept: 'application/json' }],
      ['/nope', {}],
      [`${MOUNT}/nope`, BROWSER],
      [`${MOUNT}/events/999999`, BROWSER],
      ['/?rest_route=/nope', BROWSER],
    ] as const) {
      const { status, headers: sent } = await open(path, headers);
      expect([status, sent['content-type']], path).to.deep.equal([404, 'application/json; charset=UTF-8']);
    }
  });

  it('tell search engines what to read: the page, and its running and next events', async () => {
    const robots = await open('/robots.txt');
    expect([robots.status, robots.headers['content-type']]).to.deep.equal([200, 'text/plain; charset=utf-8']);
    expect(robots.text).to.include(`Sitemap: ${PUBLIC_URL}/sitemap.xml`).and.include('Allow: /?event=');
    const { status, headers, text } = await open('/sitemap.xml');
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/xml']);
    const urls = [...text.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, url]) => url);
    expect(urls).to.deep.equal(['/', '/?event=3', '/?event=1'].map((path) => PUBLIC_URL + path));
  });
});
