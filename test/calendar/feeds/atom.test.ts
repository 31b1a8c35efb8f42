// The Atom feed: well-formed for an XML parser, and complete by RFC 4287.

import { expect } from 'chai';
import { xml2js } from 'xml-js';
import { atomEntry } from '../../../src/calendar/feeds/event-feeds.ts';
import type { TestGateway } from '../../start-gateway.ts';
import { event, venue } from '../../store/sample-records.ts';
import { seededGateway } from '../seeded-gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed XML
type Xml = any;

const evening = (id: number, more: object = {}) =>
  event(id, {
    start: '2027-03-12 19:00:00',
    end: '2027-03-12 21:00:00',
    startUtc: '2027-03-12 18:00:00',
    endUtc: '2027-03-12 20:00:00',
    ...more,
  });

describe('the Atom feed', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const feedOf = async (query = '', as?: string): Promise<Xml> => {
    const { status, text } = await gateway.request(`/events.atom${query}`, { as });
    expect(status, text).to.equal(200);
    return (xml2js(text, { compact: true, alwaysArray: ['entry'] }) as Xml).feed;
  };

  it('links to addresses of the web only, and is well-formed whatever the zone is', async () => {
    gateway = await seededGateway([
      evening(1, { url: 'javascript:alert(1)' }),
      evening(2, { url: 'https://x.example/"\u0001x', timezone: 'Mars\u0001 & Venus' }),
    ]);
    const { entry } = await feedOf('?start_date=2027-03-01');
    const links = entry.map(({ link }: Xml) => link._attributes.href);
    expect(links).to.have.members(['https://cms.example/', 'https://x.example/%22%01x']);
    const { text } = await gateway.request('/events.atom?start_date=2027-03-01');
    expect(text).to.include('(Mars &amp; Venus)').and.not.include('\u0001');
  });

  it('has the upcoming events with date, place and text', async () => {
    gateway = await seededGateway([
      evening(1, {
        title: 'Rock &amp; <em>Roll</em> ]]> 🎸',
        excerpt: '<p>Loud &lt; &amp; "quoted"\u0007</p>',
        venues: [21],
        modifiedUtc: '2026-11-01 10:00:00',
      }),
      event(2, { start: '2020-01-01 10:00:00', end: '2020-01-01 11:00:00' }),
      venue(21, { title: 'Hall' }),
    ]);
    const feed = await feedOf('?search=rock+event&venue=21');
    const url = 'https://calendar.example/calendar/events/v1/events.atom?search=rock+event&venue=21';
    expect(feed._attributes.xmlns).to.equal('http://www.w3.org/2005/Atom');
    expect(feed.title._text).to.equal('Fake');
    expect(feed.author.name._text).to.equal('Fake');
    expect(feed.link.map((link: Xml) => [link._attributes.rel, link._attributes.href])).to.deep.equal([
      ['alternate', 'https://cms.example/'],
      ['self', url],
    ]);
    expect(feed.entry).to.equal(undefined);

    const all = await feedOf();
    expect(all.updated._text).to.equal('2026-11-01T10:00:00.000Z');
    const [entry] = all.entry;
    expect(all.entry).to.have.length(1);
    expect(entry.id._text).to.equal('tag:cms.example,2000:event-1');
    expect(entry.link._attributes.href).to.equal('https://cms.example/post');
    expect(entry.updated._text).to.equal('2026-11-01T10:00:00.000Z');
    // HTML in a CDATA section: the texts are escaped once.
    expect(entry.title._cdata).to.equal('Rock &amp; Roll ]]&gt; 🎸');
    expect(entry.summary._cdata).to.equal(
      '2027-03-12 19:00 to 21:00 (Europe/Berlin), Hall<br>Loud &lt; &amp; &quot;quoted&quot;',
    );
  });

  it('has a bare < as text, and blanks between cells', async () => {
    const description = '<p>I <3 jazz, kids <5 free.</p><table><tr><td>19:00</td><td>Doors</td></tr></table>';
    gateway = await seededGateway([evening(1, { title: 'I <3 Jazz -> Blues', description, excerpt: '' })]);
    const { entry } = await feedOf();
    expect(entry[0].title._cdata).to.equal('I &lt;3 Jazz -&gt; Blues');
    expect(entry[0].summary._cdata).to.match(/<br>I &lt;3 jazz, kids &lt;5 free\.<br>19:00 Doors$/);
  });

  it('shows protected events without content, and hidden ones and drafts not at all', async () => {
    const secret = { excerpt: 'Secret', description: 'Secret' };
    gateway = await seededGateway([
      evening(1, { ...secret, protected: true }),
      evening(2, { ...secret, hidden: true }),
      evening(3, { ...secret, status: 'draft' }),
    ]);
    const { text } = await gateway.request('/events.atom');
    expect(text)
      .to.include('event-1')
      .and.not.match(/secret|event-[23]/i);
  });

  it('reads the texts of an event in the turn that reads the event, and keeps what the feed shows', async () => {
    gateway = await seededGateway();
    const text = `<p>${'concert &amp; band '.repeat(5000)}</p>`;
    const venues = Array.from({ length: 50 }, (_, n) => ({ venue: `Hall ${n} ${'x'.repeat(1000)}` }));
    const read = { ...evening(1), all_day: false, modified_utc: '', date_utc: '', start_date: '2027-03-12 19:00:00' };
    const entry = atomEntry({
      ...{ ...read, end_date: '2027-03-12 21:00:00', utc_start_date: '', utc_end_date: '', categories: [] },
      ...{ title: text, description: text, venue: venues },
    });
    expect(JSON.stringify(entry).length).to.be.below(2500);
    expect(entry.summary.at(-1)).to.match(/^concert & band .*…$/);
  });
});
