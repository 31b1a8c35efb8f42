// The landing page as the server renders it: list, month, details, deep links, caching and metadata.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Json, MOUNT, PUBLIC_URL, ROOT } from '../../start-gateway.ts';
import { upsert } from '../../store/changes.ts';
import { organizer, term, venue } from '../../store/sample-records.ts';
import { at, idsIn, image, landingFixture, on, TODAY, textOf } from './landing-fixture.ts';

const BROWSER = { headers: { accept: 'text/html' } };

describe('the landing page', () => {
  const fixture = landingFixture();
  const { start, get } = fixture;

  describe('list', () => {
    it('begins today, and has an event of three months once, with its range', async () => {
      await start([
        on(1, '08'),
        on(2, '09'),
        on(3, '10'),
        at(4, '2027-02-01 10:00:00', '2027-05-01 17:00:00', { title: 'Exhibition' }),
        on(5, '12'),
      ]);
      const html = await get('?view=list');
      expect(idsIn(html, 'list')).to.deep.equal([4, 2, 3, 5]);
      expect(textOf(html)).to.match(
        /Now .*Feb 1 – May 1 Exhibition.* Today .*7:00 – 8:30 PM .*Tomorrow .* Friday, March 12 /,
      );
    });

    it('has an event across midnight on the evening that it begins, and not on the next day', async () => {
      await start([
        at(1, '2027-03-08 22:00:00', '2027-03-09 02:00:00'),
        at(2, '2027-03-09 22:00:00', '2027-03-10 02:00:00'),
        at(3, '2027-03-09 00:00:00', '2027-03-10 23:59:59', { allDay: true }),
      ]);
      const html = await get('?view=list');
      expect(idsIn(html, 'list')).to.deep.equal([3, 2]);
      expect(textOf(html)).to.include('Mar 9 – 10').and.to.include('10:00 PM – 2:00 AM');
    });

    it('has pages of thirty events', async () => {
      await start(Array.from({ length: 65 }, (_, n) => on(n + 1, '20', { date: '2026-01-01 10:00:00' })));
      const pages = [1, 2, 3].map((page) => get(`?view=list&page=${page}`));
      const ids = (await Promise.all(pages)).map((html) => idsIn(html, 'list').length);
      expect(ids).to.deep.equal([30, 30, 5]);
      expect(await get('?view=list&page=2'))
        .to.include('href="./?view=list"')
        .and.include('href="./?view=list&amp;page=3"');
      for (const page of [900, Number.MAX_SAFE_INTEGER])
        expect(idsIn(await get(`?view=list&page=${page}`), 'list')).to.deep.equal([]);
    });
  });

  describe('month', () => {
    it('has the events of its weeks, and one bar per week for an event of several weeks', async () => {
      await start([
        on(1, '01'),
        on(2, '31'),
        at(3, '2027-03-05 10:00:00', '2027-03-16 10:00:00'),
        on(4, '09', { id: 4 }),
      ]);
      const html = await get('?view=month');
      // Weeks begin on Sunday: 28 February to 3 April.
      expect(idsIn(html, 'month').sort()).to.deep.equal([1, 2, 3, 3, 3, 4]);
      expect(html).to.match(/class="entry c5 s2 r0 k continues"[^>]*data-event="3"/);
      expect(html).to.match(/class="entry c0 s7 r0 k continued continues"[^>]*data-event="3"/);
      expect(html).to.match(/class="entry c0 s3 r0 k continued"[^>]*data-event="3"/);
      expect(html).to.include('<h1 class="in-month">March 2027</h1>');
      expect(idsIn(await get('?view=month&month=2027-05'), 'month')).to.deep.equal([]);
    });

    it('links to the list of a day with more than four events', async () => {
      await start([1, 2, 3, 4, 5, 6].map((id) => on(id, '17')));
      const html = await get('?view=month');
      expect(idsIn(html, 'month')).to.have.length(4);
      expect(html).to.match(/<a class="others c3" href="\.\/\?day=2027-03-17">\+2 more<\/a>/);
      expect(idsIn(await get('?day=2027-03-17'), 'list')).to.have.length(6);
    });
  });

  describe('help', () => {
    it('leads from an empty month or day to the next event', async () => {
      await start([on(1, '01'), at(2, '2027-08-12 10:00:00', '2027-08-13 10:00:00', { venues: [21] }), venue(21, {})]);
      for (const query of ['?view=month&month=2027-05', '?view=list&month=2027-05', '?day=2027-05-03']) {
        const html = await get(query);
        expect(html, query).to.match(
          /<a id="next-event" href="[^"]*month=2027-08[^"]*">Next event: Thursday, August 12</,
        );
        expect(textOf(html), query).to.include('No events.');
      }
      expect(await get('?view=month&month=2027-05&venue=21')).to.match(/next-event" href="[^"]*venue=21/);
      for (const query of ['?view=month&month=2027-08', '?view=month&month=2028-01', '?view=list'])
        expect(await get(query), query).to.not.include('next-event');
    });

    it('leads from the empty list of a month whose last week shows the next event', async () => {
      await start([at(1, '2027-06-02 10:00:00', '2027-06-02 12:00:00')]);
      const html = await get('?month=2027-05');
      expect([idsIn(html, 'list'), idsIn(html, 'month')]).to.deep.equal([[], [1]]);
      expect(html).to.match(/<a id="next-event" href="[^"]*month=2027-06[^"]*">Next event: Wednesday, June 2</);
    });

    it('has twelve colours of categories', async () => {
      const ids = Array.from({ length: 12 }, (_, n) => 31 + n);
      await start(ids.flatMap((id) => [term('category', id, {}), on(id, '10', { categories: [id] })]));
      const html = await get('?view=list');
      const used = new Set([...html.matchAll(/class="item (k\d+)"/g)].map(([, name]) => name!));
      expect(used.size).to.equal(12);
      const css = readFileSync(join(ROOT, 'src/http/pages/events.css'), 'utf8');
      const colors = [...used].map((name) => css.split(`\n.${name} {\n`)[1]?.split('}')[0]);
      expect(new Set(colors).size).to.equal(12);
      expect(colors.every((color) => color?.includes('--k: light-dark('))).to.equal(true);
    });

    it('names the colours of a month, as links to their categories', async () => {
      await start([
        ...[term('category', 31, { name: 'Music &amp; Dance' }), term('category', 32, { name: 'Sport' })],
        ...[on(1, '10', { categories: [31] }), on(2, '11', { categories: [31, 32] }), on(3, '12')],
      ]);
      const [legend] = /<ul class="legend"[\s\S]*?<\/ul>/.exec(await get('?view=month'))!;
      expect(legend).to.match(/^<ul class="legend" aria-label="Categories"><li class="k\d">/);
      expect(legend).to.include('<a href="./?view=month&amp;categories=31">Music &amp; Dance</a>');
      expect(legend).to.not.include('Sport');
      expect(await get('?view=month&month=2027-06')).to.not.include('class="legend"');
    });

    it('searches past events on request, the latest first', async () => {
      const found = { searchText: 'choir' };
      await start([on(1, '01', found), on(2, '05', found), on(3, '20', found), on(4, '06')]);
      const html = await get('?search=choir');
      expect(idsIn(html, 'list')).to.deep.equal([3]);
      expect(html).to.include('<a id="past" href="./?search=choir&amp;past=1">Search past events</a>');
      const past = await get('?search=choir&past=1');
      expect(idsIn(past, 'list')).to.deep.equal([2, 1]);
      expect(textOf(past)).to.match(/Past events with “choir” .* Friday, March 5 .* Monday, March 1 /);
      expect(past).to.include('<a id="past" href="./?search=choir">');
      expect(past).to.include('<a id="all" href="./">');
      expect(past).to.include('<a id="next" class="button" href="./?month=2027-04&amp;search=choir">');
      expect(await get('?past=1')).to.equal(await get());
      expect(await get('?search=choir&past=1&month=2027-03')).to.equal(await get('?search=choir&month=2027-03'));
    });

    it('describes the page and each event for previews of links', async () => {
      await start([on(1, '10', { title: 'A &amp; "B"', excerpt: 'Short' })]);
      const metadata = async (query: string) => {
        const named = (await get(query)).matchAll(/<meta property="og:(\w+)" content="([^"]*)">/g);
        return Object.fromEntries([...named].map(([, name, value]) => [name, value]));
      };
      expect(await metadata('')).to.include({ type: 'website', url: `${PUBLIC_URL}/` });
      const { title, description, url } = await metadata('?event=1');
      expect([title, url]).to.deep.equal(['A &amp; &quot;B&quot;', `${PUBLIC_URL}/?event=1`]);
      expect(textOf(description!)).to.equal('Wednesday, March 10, 2027, 7:00 – 8:30 PM CET: Short');
    });

    it('names each website by whose it is', async () => {
      await start([
        venue(21, { website: 'https://hall.example/' }),
        ...[26, 27].map((id) => organizer(id, { title: `Choir ${id}`, website: `https://choir.example/${id}` })),
        on(1, '10', { venues: [21], organizers: [26, 27], website: 'https://event.example/' }),
      ]);
      const links = [...(await get('?event=1')).matchAll(/<a ([^>]*)>([^<]*[Ww]ebsite)<\/a>/g)];
      const names = links.map(([, attributes, text]) => /aria-label="([^"]*)"/.exec(attributes!)?.[1] ?? text);
      expect(names).to.deep.equal([
        ...['Venue website', 'Organizer website: Choir 26', 'Organizer website: Choir 27', 'Event website'],
      ]);
    });
  });

  describe('deep links', () => {
    const RECORDS = [
      term('category', 31, { name: 'Music &amp; Dance' }),
      term('tag', 41, { name: 'Free' }),
      venue(21, { title: 'Town Hall' }),
      organizer(26, { title: 'The <b>Choir</b>' }),
      on(1, '10', { categories: [31], venues: [21], searchText: 'Spring Market' }),
      on(2, '11', { organizers: [26], tags: [41] }),
      on(3, '12', { id: 3 }),
    ];
    beforeEach(() => start(RECORDS));

    it('name view, month, filters and search, each as the API has it', async () => {
      for (const query of [
        'venue=21',
        'categories=31',
        'organizer=26',
        'tags=41',
        'search=market',
        'month=2027-03',
        'day=2027-03-12',
      ]) {
        const { body } = await fixture.gateway.request(
          `/events?${/month|day/.test(query) ? `starts_after=${query.slice(-10)}` : query}`,
        );
        const shown = idsIn(await get(`?view=list&${query}`), 'list');
        if (query.startsWith('month')) expect(shown).to.deep.equal([1, 2, 3]);
        else if (query.startsWith('day')) expect(shown).to.deep.equal([3]);
        else expect(shown, query).to.deep.equal(body.events.map(({ id }: { id: number }) => id));
      }
      const html = await get('?view=month&venue=21&month=2027-03');
      expect(html).to.match(/data-view="month"/);
      expect(html).to.include('<option value="21" selected>Town Hall</option>');
      expect(html).to.include('<option value="31">Music &amp; Dance</option>');
      expect(html).to.include('href="./?view=month&amp;month=2027-04&amp;venue=21"');
      expect(idsIn(html, 'month')).to.deep.equal([1]);
      expect(textOf(await get('?organizer=26'))).to.include('Organizer: The Choir.');
      expect(await get('?search=market'))
        .to.match(/data-view="list"/)
        .and.include('value="market"');
    });

    it('ignore what is not valid', async () => {
      const plain = await get();
      for (const query of [
        '?view=year',
        '?month=2027-13',
        '?month=0000-01',
        '?month=9999-12',
        '?day=2027-02-31',
        '?venue=abc&categories=-1&tags=1e3&organizer=0x10',
        '?event=0',
        '?event=9999999999999999',
        '?page=0&search=%20',
        '?search[]=1&view[]=list',
        '?%E0%A4%A&&&=&unknown=1',
      ])
        expect(await get(query), query).to.equal(plain);
    });

    it('find nothing for a record that does not exist, or a search without hits', async () => {
      for (const query of ['?venue=999', '?categories=999', '?organizer=1', '?search=nothing'])
        expect(textOf(await get(`${query}&view=list`)), query).to.include('No events');
      expect(await get(`?search=${encodeURIComponent('"><script>'.repeat(30))}`)).not.to.include('"><script>');
    });
  });

  describe('details', () => {
    const LINKED = [
      venue(21, {
        title: 'Old <i onclick=x>Pier</i>',
        address: '1 Quay',
        city: 'Gull & Haven',
        website: 'javascript:alert(1)',
      }),
      organizer(26, { title: 'Town of Gullhaven, Events Office', website: 'https://town.example/a?b="' }),
      organizer(27, { title: 'Choir' }),
    ];
    const PICTURE = image(9, 'https://cms.example/a"b.jpg');

    it('have picture, range, venue with map, organizers as a list, website and description', async () => {
      const details = {
        venues: [21],
        organizers: [26, 27],
        image: 9,
        website: 'https://event.example/',
        description: '<p>Full <strong>text</strong> with a <a href="/more">link</a>.</p>',
      };
      await start([...LINKED, on(1, '12', details)], [PICTURE]);
      const html = await get('?event=1');
      const text = textOf(html);
      expect(text).to.include('Friday, March 12, 2027, 7:00 – 8:30 PM CET');
      // No line ends within the range of times.
      expect(html).to.include('7:00\u202f–\u2060\u202f8:30\u202fPM');
      expect(html).to.include('src="https://cms.example/a&quot;b.jpg"');
      expect(html).to.match(
        /<li><a href="\.\/\?organizer=26">Town of Gullhaven, Events Office<\/a> <a href="https:\/\/town\.example\/a\?b=%22"/,
      );
      expect(html).to.include('<li><a href="./?organizer=27">Choir</a></li>');
      expect(html).to.include('https://www.openstreetmap.org/search?query=1%20Quay%2C%20Gull%20%26%20Haven');
      expect(html).to.include('href="https://event.example/"').and.include('href="https://cms.example/post"');
      expect(html).to.include('<strong>text</strong>').and.include('href="https://cms.example/more"');
      expect(html).to.include(`data-url="${PUBLIC_URL}/?event=1"`);
      expect(html).to.include('<title>event 1 – ');
    });

    it('need neither venue nor picture', async () => {
      await start([on(1, '12')]);
      const html = await get('?event=1&view=month&month=2027-03');
      expect(html).to.include('<article id="event">').and.not.include('>Where<');
    });

    it('show an event without a date without inventing one', async () => {
      await start([at(7, '', '', { title: 'To be announced' })]);
      const html = await get('?event=7');
      expect(textOf(html))
        .to.contain('To be announced')
        .and.not.match(/When|1970|NaN|Invalid/);
      expect(html).to.not.match(/startDate|NaN/);
    });

    it('show an event that is not public as missing, without a question to the CMS', async () => {
      await start([on(1, '12', { status: 'draft', title: 'Secret' }), on(2, '12', { status: 'trash' })]);
      const calls = fixture.gateway.observations.filter(({ type }) => type === 'cms-call').length;
      for (const id of [1, 2, 3]) {
        const { status, text, headers } = await fixture.gateway.requestPath(`/?event=${id}`, BROWSER);
        expect([status, headers['cache-control']], String(id)).to.deep.equal([404, 'no-store']);
        expect(text).to.include('not in the calendar').and.not.include('Secret');
      }
      expect(fixture.gateway.observations.filter(({ type }) => type === 'cms-call')).to.have.length(calls);
    });

    it('show a protected event without what its password hides', async () => {
      await start([
        on(1, '12', { protected: true, title: 'Open title', description: 'hidden-text', excerpt: 'hidden-text' }),
      ]);
      for (const query of ['?view=list', '?view=month'])
        expect(await get(query), query)
          .to.include('Open title')
          .and.not.include('hidden-text');
      const { status, text } = await fixture.gateway.requestPath('/?event=1', BROWSER);
      expect(status).to.equal(403);
      expect(text).to.include('A password protects').and.not.include('hidden-text');
    });
  });

  describe('for caches and search engines', () => {
    it('is public like a list, with an ETag that changes with the records', async () => {
      await start([on(1, '10')]);
      const first = await fixture.gateway.requestPath('/');
      expect(first.headers['cache-control']).to.equal('public, max-age=5, stale-while-revalidate=30');
      const etag = first.headers.etag!;
      const again = await fixture.gateway.requestPath('/?utm_source=x', { headers: { 'if-none-match': etag } });
      expect([again.status, again.bytes.length]).to.deep.equal([304, 0]);
      upsert(fixture.gateway.replica, [on(2, '11')]);
      const changed = await fixture.gateway.requestPath('/', { headers: { 'if-none-match': etag } });
      expect(changed.status).to.equal(200);
      expect(idsIn(changed.text, 'list')).to.deep.equal([1, 2]);
    });

    it('says of its events what the CMS says of their state, and nothing else', async () => {
      const cancelled = { eventStatus: 'cancelled', eventStatusReason: 'Storm &amp; flood' } as const;
      const mixed = { attendanceMode: 'mixed', onlineUrl: 'https://meet.example/?a=1&b=2' } as const;
      const offline = { eventStatus: 'scheduled', attendanceMode: 'offline' } as const;
      const unsafe = { attendanceMode: 'online', onlineUrl: 'javascript:alert(1)' } as const;
      await start([
        ...[
          on(1, '10', { venues: [21] }),
          on(2, '11', { ...cancelled, venues: [21] }),
          on(3, '12', { ...mixed, venues: [21] }),
        ],
        ...[on(4, '13', { ...unsafe, venues: [21] }), on(5, '14', { ...offline, venues: [21] })],
        venue(21, { title: 'Hall', city: 'Gullhaven' }),
      ]);
      const named = async (query: string): Promise<Json[]> => {
        const [, data] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(await get(query))!;
        return JSON.parse(data!)['@graph'];
      };
      const states = (await named('')).map(({ eventStatus, eventAttendanceMode, location }) =>
        JSON.stringify([eventStatus, eventAttendanceMode, location]),
      );
      const virtual = { '@type': 'VirtualLocation', url: 'https://meet.example/?a=1&b=2' };
      const address = { '@type': 'PostalAddress', addressLocality: 'Gullhaven' };
      const hall = { '@type': 'Place', name: 'Hall', address };
      expect(states).to.deep.equal(
        [
          [null, null, hall],
          ['https://schema.org/EventCancelled', null, hall],
          [null, 'https://schema.org/MixedEventAttendanceMode', [hall, virtual]],
          [null, 'https://schema.org/OnlineEventAttendanceMode', hall],
          ['https://schema.org/EventScheduled', 'https://schema.org/OfflineEventAttendanceMode', hall],
        ].map((state) => JSON.stringify(state)),
      );
      for (const query of ['', '?view=month']) {
        const shown = textOf(await get(query));
        expect(shown, query)
          .to.include('Cancelled: event 2')
          .and.not.match(/: event [1345]/);
      }
      expect(await get('?view=month'))
        .to.include('<s>event 2</s>')
        .and.not.include('<s>event 3</s>');
      expect(textOf(await get('?event=2'))).to.match(/Cancelled: event 2 .* Cancelled Storm &amp; flood /);
      expect(await get('?event=3')).to.include(
        'href="https://meet.example/?a=1&amp;b=2" rel="noopener">Join online</a>',
      );
      expect(textOf(await get('?event=4')))
        .to.include('Online Online only')
        .and.not.include('javascript');
      for (const id of [1, 5]) {
        const visible = (await get(`?event=${id}`)).replace(/<script.*?<\/script>/g, '');
        expect(textOf(visible)).to.not.match(/online|cancelled|scheduled/i);
      }
    });

    it('has a canonical address', async () => {
      await start([on(1, '10')]);
      expect(await get('?view=list&utm=1')).to.include(`<link rel="canonical" href="${PUBLIC_URL}/">`);
      expect(await get('?event=1&view=list')).to.include(`<link rel="canonical" href="${PUBLIC_URL}/?event=1">`);
    });

    it('works with an empty replica, and leaves the API as it is', async () => {
      await start([]);
      expect(textOf(await get())).to.include('No events');
      expect((await fixture.gateway.requestPath('/?event=1')).status).to.equal(404);
      expect((await fixture.gateway.request('/events')).status).to.equal(200);
      expect((await fixture.gateway.requestPath(`/?rest_route=${MOUNT}/events`)).headers['content-type']).to.match(
        /json/,
      );
    });
  });

  it('has its running events in every feed that it names until they end', async () => {
    await start([
      at(1, '2027-01-02 10:00:00', '2027-03-09 17:00:00', { title: 'Exhibition' }),
      at(2, '2027-01-02 10:00:00', '2027-02-20 17:00:00', { title: 'Ended' }),
      at(3, '2027-01-02 10:00:00', '2027-02-01 17:00:00', { title: 'Long past' }),
    ]);
    const html = await get();
    const links = html.match(/(?:href|value)="[^"]*\/events\.(?:ics|atom)[^"]*"/g)!;
    expect(links).to.have.length(4);
    for (const link of links) {
      const [, path] = /"\w+:\/\/[^/]+([^"]*)"/.exec(link)!;
      const { status, text } = await fixture.gateway.requestPath(path!.replaceAll('&amp;', '&'));
      expect(status, link).to.equal(200);
      expect(/Long past/.test(text), link).to.equal(false);
      expect([/Exhibition/.test(text), /Ended/.test(text)], link).to.deep.equal([true, path!.includes('.ics')]);
    }
  });

  it('opens the form for a new event in other calendars, with the times of the event', async () => {
    await start([
      on(1, '10', { startUtc: '2027-03-11 00:30:00', endUtc: '2027-03-11 02:00:00', title: 'A &amp; B', venues: [21] }),
      at(2, '2027-03-11 00:00:00', '2027-03-12 23:59:59', { allDay: true }),
      at(7, '', '', { title: 'To be announced' }),
      venue(21, { title: 'Hall', address: '1 Quay', city: 'Gullhaven' }),
    ]);
    const formsOf = async (id: number) => {
      const links = (await get(`?event=${id}`)).matchAll(/href="(https:\/\/(?:calendar\.google|outlook)[^"]*)"/g);
      return [...links].map(([, url]) => Object.fromEntries(new URL(url!.replaceAll('&amp;', '&')).searchParams));
    };
    const page = `${PUBLIC_URL}/?event=1`;
    const location = 'Hall, 1 Quay, Gullhaven';
    const [google, outlook] = await formsOf(1);
    expect(google).to.include({ text: 'A & B', dates: '20270311T003000Z/20270311T020000Z', details: page, location });
    expect(outlook).to.include({ startdt: '2027-03-11T00:30:00Z', enddt: '2027-03-11T02:00:00Z', allday: 'false' });
    const [days, outlookDays] = await formsOf(2);
    expect(days!.dates).to.equal('20270311/20270313');
    expect(outlookDays).to.include({ startdt: '2027-03-11', enddt: '2027-03-13', allday: 'true' });
    expect(await formsOf(7)).to.deep.equal([]);
  });

  it(`calls the day of the site today, not that of UTC: ${TODAY}`, async () => {
    await start([on(1, '09')]);
    expect(await get('?view=month')).to.include(`class="date c2 today" datetime="${TODAY}"`);
  });
});
