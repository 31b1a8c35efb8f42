// The landing page with untrusted contents: HTML, scripts, many tags, many categories, dates far away.

import { expect } from 'chai';
import { PUBLIC_URL } from '../../start-gateway.ts';
import { organizer, term, venue } from '../../store/sample-records.ts';
import { at, idsIn, landingFixture, on, textOf } from './landing-fixture.ts';

describe('contents of the CMS on the landing page', () => {
  const fixture = landingFixture();
  const { start, get } = fixture;

  /** As a tag, and as the text of one. */
  const EVIL =
    '</script><script>alert(1)</script><img src=x onerror=alert(1)>" onmouseover="x &lt;/script&gt;&lt;script&gt;alert(2)';

  const OWN =
    /^<script (defer )?(type="module" )?src="-\/assets\/|^<script type="application\/ld\+json">|^<form (id="filters"|method="dialog")/;

  /** No element or attribute runs a script, or loads something from elsewhere. */
  function expectHarmless(html: string): void {
    const tags = [...html.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
    const suspicious = tags.filter((tag) => /^<(script|iframe|style|form|object|svg)/i.test(tag) && !OWN.test(tag));
    const isUnsafe = (tag: string) =>
      /\son\w+\s*=/i.test(tag.replace(/"[^"]*"/g, '""')) || /="\s*(javascript|data):/i.test(tag);
    expect([...suspicious, ...tags.filter(isUnsafe)]).to.deep.equal([]);
  }

  it('run no script, whatever titles, names and descriptions are', async () => {
    const links = { venues: [21], organizers: [26], categories: [31], tags: [41] };
    await start([
      venue(21, { title: EVIL, address: EVIL, city: EVIL, website: 'javascript:alert(1)' }),
      organizer(26, { title: EVIL, website: 'data:text/html,<script>' }),
      term('category', 31, { name: EVIL }),
      term('tag', 41, { name: EVIL }),
      on(1, '10', {
        title: EVIL,
        description: EVIL,
        excerpt: EVIL,
        website: 'javascript:alert(1)',
        cost: EVIL,
        url: 'javascript:alert(1)',
        ...links,
      }),
    ]);
    for (const query of ['', '?view=month', '?event=1', '?venue=21&organizer=26&tags=41', '?view=list']) {
      const html = await get(query);
      expectHarmless(html);
      const [, data] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html)!;
      expect(JSON.parse(data!)['@graph'][0]).to.include({ '@type': 'Event', url: `${PUBLIC_URL}/?event=1` });
    }
  });

  it('are text with a blank between its words, wherever a page shows no markup', async () => {
    const description = '<table><tr><td>19:00</td><td>Doors</td></tr><tr><td>20:00</td><td>I <3 Jazz</td></tr></table>';
    await start([
      venue(21, { title: 'Hall<br>One', city: 'Here' }),
      on(1, '10', { title: 'Jazz<br>Night <3', description, venues: [21] }),
      on(2, '11', { title: 'Long', description: '😀'.repeat(300), venues: [21] }),
    ]);
    const html = await get('?event=1');
    expect(html).to.match(/<title>Jazz Night &lt;3 – /);
    expect(html).to.include('<h1 id="event-title">Jazz Night &lt;3</h1>');
    expect(html).to.match(/<meta name="description" content="[^"]*: 19:00 Doors 20:00 I &lt;3 Jazz">/);
    const dataOf = (page: string) =>
      JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/.exec(page)![1]!)['@graph'][0];
    const { name, description: text, location } = dataOf(html);
    expect([name, text, location.name]).to.deep.equal(['Jazz Night <3', '19:00 Doors 20:00 I <3 Jazz', 'Hall One']);
    expect(dataOf(await get('?event=2')).description).to.equal(`${'😀'.repeat(149)}…`);
  });

  it('keep text, structure and pictures in descriptions, and lose the rest', async () => {
    const description = [
      '<h1>Head</h1><p style="color:red" class="x">One<br>two</p><ul><li>item</li></ul>',
      '<a href="javascript:alert(1)">bad</a><a href="//other.example/x" target="_blank" onclick="x">other</a><a href="mailto:a@b.example">mail</a>',
      '<img src="/up.png" alt="In" onerror="x"><img src="https://cdn.example/p.gif"><img src="javascript:1"><img srcset="https://t.example/x 1x">',
      '<iframe src="https://video.example"></iframe><form action="https://x.example"><input name="a"></form><svg><script>1</script></svg>',
      '<math><mtext></p><style>*{}</style></math><template><b>t</b></template><!-- <script>x</script> -->',
    ].join('');
    await start([on(1, '10', { description })]);
    const [, shown] = /<div class="description">([\s\S]*?)<\/div>/.exec(await get('?event=1'))!;
    expect(shown).to.include('<h3>Head</h3><p>One<br />two</p><ul><li>item</li></ul>');
    expect(shown).to.include('href="https://other.example/x"').and.include('href="mailto:a@b.example"');
    expect(shown)
      .to.include('src="https://cms.example/up.png" alt="In"')
      .and.include('src="https://cdn.example/p.gif"');
    expect(shown!.match(/<img/g)).to.have.length(2);
    expect(shown).not.to.match(
      /javascript|onclick|onerror|target|style|class|srcset|iframe|<form|<input|svg|math|script|template/,
    );
  });

  it('keep links within the event and to its neighbours, and no link or picture without an address', async () => {
    const description =
      '<a id="program">Program</a><a href="#program">up</a><a href="../other/">other</a><a href="/all">all</a><img alt="none"><img src="">';
    await start([
      on(1, '10', { description, url: 'https://cms.example/sub/events/fair/' }),
      on(2, '11', { description: '<a href="#a">up</a>', url: 'no address' }),
    ]);
    const shown = async (id: number) =>
      /<div class="description">([\s\S]*?)<\/div>/.exec(await get(`?event=${id}`))![1]!;
    const first = await shown(1);
    expect(first).to.include('<a>Program</a>').and.not.include('<img');
    expect([...first.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).to.deep.equal([
      'https://cms.example/sub/events/fair/#program',
      'https://cms.example/sub/events/other/',
      'https://cms.example/all',
    ]);
    expect(await shown(2)).to.include('href="https://cms.example/#a"');
  });

  it('take bounded time, whatever the description is', async () => {
    const description = `${'<b>'.repeat(40_000)}${'</i>'.repeat(40_000)}end`;
    await start([on(1, '10', { description: `Words ${description}` })]);
    const html = await get('?event=1');
    expect(html.length).to.be.below(60_000);
    expect(textOf(html)).to.include('Words');
  });

  it('may lie in the year 1 or 9999 or between them, or begin after their end', async () => {
    await start([
      at(1, '0001-01-01 00:00:00', '0001-01-01 01:00:00'),
      at(2, '9999-12-31 22:00:00', '9999-12-31 23:59:59'),
      at(3, '0001-01-01 00:00:00', '9999-12-31 23:59:59', { allDay: true }),
      at(4, '2027-03-12 10:00:00', '2027-03-11 10:00:00'),
    ]);
    expect(idsIn(await get('?view=list'), 'list')).to.deep.equal([3, 4, 2]);
    expect(idsIn(await get('?view=month'), 'month')).to.deep.equal([3, 3, 4, 3, 3, 3]);
    for (const id of [1, 2, 3, 4]) await get(`?event=${id}`);
    for (const month of ['0001-01', '9998-12']) await get(`?view=month&month=${month}`);
  });

  it('have no time in the list if they have an end alone', async () => {
    await start([at(1, '', '2027-03-20 20:00:00', { title: 'Exhibition' })]);
    const [, list = ''] = (await get()).split('<div class="in-list list">');
    const [item = ''] = list.split('</li>');
    expect(textOf(item).trim()).to.match(/^(Now )?Exhibition$/);
  });

  it('may have ten thousand categories: the filter offers the two hundred with the most events', async () => {
    const categories = Array.from({ length: 10_000 }, (_, n) => term('category', n + 1, { name: `Category ${n + 1}` }));
    const events = categories.map(({ id }) => on(20_000 + id, '20', { categories: [id] }));
    await start([...categories, ...events, on(50_000, '20', { categories: [7777], title: 'Most' })]);
    const html = await get('?view=list&categories=9999');
    const options = [...html.matchAll(/<option value="(\d+)"/g)].map(([, id]) => id);
    expect(options).to.have.length(201);
    expect(options).to.include('7777').and.include('9999');
    expect(html).to.match(/<option value="9999" selected>/);
    expect(html.length).to.be.below(200_000);
  }).timeout(60_000);
});
