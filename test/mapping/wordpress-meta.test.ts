// The mapping of the companion plugin's own post types: which records it reads, and which bodies it writes.

import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
import type { VenueRecord } from '../../src/model/records.ts';
import { mappingWith, site } from './samples.ts';

const { event, venue, organizer, category, tag } = loadMapping('wordpress-meta').kinds;

/** A response of WordPress 7.1.1 with context=edit, cut to the fields that the mapping selects. */
const cmsRecord = {
  id: 4,
  date: '2026-11-20T21:44:08',
  date_gmt: '2026-11-21T02:44:08',
  modified: '2026-11-20T21:45:00',
  modified_gmt: '2026-11-21T02:45:00',
  slug: 'test-q-ab',
  status: 'publish',
  link: 'http://cms.example/event/test-q-ab/',
  title: { raw: 'Tést "q" & a\\b', rendered: 'Tést &#8220;q&#8221; &#038; a\\b' },
  content: { raw: 'Body', rendered: '<p>Body</p>\n', protected: false },
  excerpt: { raw: '', rendered: '<p>Body</p>\n', protected: false },
  author: 1,
  featured_media: 9,
  event_categories: [2],
  tags: [3],
  meta: {
    start_date: '2027-01-10 10:00:00',
    end_date: '2027-01-10 12:00:00',
    timezone: 'europe/Paris',
    all_day: false,
    cost: '$10',
    website: 'http://a.example/',
    show_map: true,
    venue_ids: [5],
    organizer_ids: [7, 6],
  },
};

describe('wordpress-meta', () => {
  it('reads an event', () => {
    expect(event.read(cmsRecord, site)).to.deep.equal({
      kind: 'event',
      id: 4,
      status: 'publish',
      slug: 'test-q-ab',
      author: 1,
      date: '2026-11-20 21:44:08',
      dateUtc: '2026-11-21 02:44:08',
      modified: '2026-11-20 21:45:00',
      modifiedUtc: '2026-11-21 02:45:00',
      url: 'http://cms.example/event/test-q-ab/',
      title: 'Tést &#8220;q&#8221; &#038; a\\b',
      description: '<p>Body</p>',
      // WordPress generated the rendered excerpt.
      excerpt: '',
      protected: false,
      image: 9,
      allDay: false,
      start: '2027-01-10 10:00:00',
      end: '2027-01-10 12:00:00',
      startUtc: '2027-01-10 09:00:00',
      endUtc: '2027-01-10 11:00:00',
      timezone: 'europe/Paris',
      cost: '$10',
      website: 'http://a.example/',
      showMap: true,
      showMapLink: false,
      hidden: false,
      sticky: false,
      featured: false,
      eventStatus: '',
      eventStatusReason: '',
      attendanceMode: '',
      onlineUrl: '',
      parent: 0,
      categories: [2],
      tags: [3],
      venues: [5],
      organizers: [7, 6],
      searchText: 'Tést “q” & a\\b\nTést "q" & a\\b\n<p>Body</p>',
    });
  });

  it('makes nothing of a protected record searchable', () => {
    const content = { raw: 'Secret', rendered: '<p>Secret</p>', protected: true };
    const closed = { ...cmsRecord, content, excerpt: content, slug: 'caf%c3%a9' };
    for (const kind of [event, venue, organizer]) {
      const { searchText, protected: isProtected } = kind!.read(closed, site);
      expect([searchText, isProtected]).to.deep.equal(['', true]);
    }
  });

  describe('long texts, of which one of 1.5 MB would stop the gateway for a fifth of a second', () => {
    const long = `${'<p>A long text.</p>'.repeat(80_000)}`;
    const content = { raw: long, rendered: long, protected: false };

    it('are cut at twice what a client may write, not within a tag, before anything reads them', () => {
      const read = event.read({ ...cmsRecord, content, meta: { ...cmsRecord.meta, cost: long } }, site);
      expect(read.description).to.have.length.within(199_900, 200_000);
      expect(read.description)
        .to.match(/…$/)
        .and.not.match(/<[^>]*$/);
      expect(read.cost).to.have.length.within(1980, 2000);
      expect(read.searchText).to.have.length.within(199_900, 200_000);
    });

    it('are not cut within a character', () => {
      const emoji = '😀'.repeat(100_001);
      const { description } = event.read({ ...cmsRecord, content: { raw: emoji, rendered: emoji } }, site);
      expect(description.isWellFormed()).to.equal(true);
      expect(description).to.match(/😀…$/u);
    });

    it('a description as long as a client may write stays whole', () => {
      const whole = 'x'.repeat(100_000);
      const { description } = event.read({ ...cmsRecord, content: { raw: whole, rendered: whole } }, site);
      expect(description).to.equal(whole);
    });

    it('of venues and organizers are cut, too', () => {
      for (const kind of [venue, organizer]) {
        const read = kind!.read({ ...cmsRecord, content, meta: { phone: long } }, site) as VenueRecord;
        expect(read.phone).to.have.length.within(1980, 2000);
        expect(read.description).to.have.length.within(199_900, 200_000);
      }
    });

    it('of ids are read up to a thousand', () => {
      const ids = Array.from({ length: 30_000 }, (_, n) => n + 1);
      const read = event.read({ ...cmsRecord, meta: { ...cmsRecord.meta, venue_ids: ids } }, site);
      expect(read.venues).to.deep.equal(ids.slice(0, 1000));
    });
  });

  it('writes only what changes', () => {
    expect(
      event.write({ title: 'T', description: 'D', image: 0, cost: '', dateUtc: '2026-01-02 03:04:05' }, { site }),
    ).to.deep.equal({
      title: 'T',
      content: 'D',
      featured_media: 0,
      date_gmt: '2026-01-02T03:04:05',
      meta: { cost: '' },
    });
    expect(event.write({}, { site })).to.deep.equal({});
    expect(event.write({ url: 'x', modified: 'y', startUtc: 'z' }, { site })).to.deep.equal({});
  });

  it('selects only the fields that it reads, and no passwords', () => {
    const paths = event.selectedFields.split(',');
    expect(paths).to.include.members([
      'id',
      'title.rendered',
      'excerpt.raw',
      'meta.start_date',
      'event_categories',
      'tags',
    ]);
    expect(paths).to.not.include.members(['meta', 'title', 'password', '_links']);
    expect(new Set(paths).size).to.equal(paths.length);
  });

  it('reads no publication date of a post that was never published', () => {
    const drafts = ['draft', 'pending', 'auto-draft'];
    const withoutPlugin = mappingWith({}).kinds.event;
    for (const status of drafts) {
      const undated = { ...cmsRecord, status, date_gmt: null };
      expect(event.read(undated, site).dateUtc).to.equal('0000-00-00 00:00:00');
      expect(event.read({ ...cmsRecord, status }, site).dateUtc).to.equal('2026-11-21 02:44:08');
      // Without the companion plugin WordPress answers a made-up date.
      expect(withoutPlugin.read({ ...cmsRecord, status }, site).dateUtc).to.equal('0000-00-00 00:00:00');
    }
    for (const { read } of [event, withoutPlugin])
      expect(read({ ...cmsRecord, status: 'private' }, site).dateUtc).to.equal('2026-11-21 02:44:08');
  });

  it('extends an all-day event to whole days', () => {
    const record = event.read({ ...cmsRecord, meta: { ...cmsRecord.meta, all_day: true } }, site);
    expect(record).to.include({
      start: '2027-01-10 00:00:00',
      end: '2027-01-10 23:59:59',
      startUtc: '2027-01-09 23:00:00',
    });
  });

  it('falls back to the site zone if the event zone is blank or invalid', () => {
    const zoned = (timezone: string) => event.read({ ...cmsRecord, meta: { ...cmsRecord.meta, timezone } }, site);
    expect(zoned('')).to.include({ timezone: 'America/New_York', startUtc: '2027-01-10 15:00:00' });
    expect(zoned('Mars/X')).to.include({ timezone: 'Mars/X', startUtc: '2027-01-10 15:00:00' });
  });

  it('searches rendered text, without entities and typography', () => {
    const record = event.read({ id: 1, title: { rendered: 'Don&#8217;t &amp; 2&#215;4' } }, site);
    expect(record.searchText.split('\n')).to.include.members(['Don’t & 2×4', "Don't & 2x4"]);
  });

  it('shows the map of a venue by default', () => {
    expect(venue?.read({ id: 1, meta: {} }, site)).to.include({ showMap: true, showMapLink: true });
    expect(venue?.read({ id: 1, meta: { show_map: false } }, site)).to.include({ showMap: false, showMapLink: true });
    expect(event.read({ id: 1, meta: {} }, site)).to.include({ showMap: false, showMapLink: false });
  });

  it('searches the texts of a venue except country and website, and all texts of an organizer', () => {
    const meta = {
      address: '1 A St',
      city: 'C',
      country: 'France',
      zip: '10001',
      phone: '555',
      website: 'http://v',
      email: 'e@x',
    };
    expect(venue?.read({ id: 1, title: { rendered: 'Hall' }, meta }, site).searchText).to.equal(
      'Hall\n1 A St\nC\n10001\n555',
    );
    expect(organizer?.read({ id: 1, title: { rendered: 'Ann' }, meta }, site).searchText).to.equal(
      'Ann\n555\ne@x\nhttp://v',
    );
  });

  it('reads and writes terms', () => {
    const term = {
      id: 8,
      name: 'R &amp; B',
      slug: 'r-b',
      description: '',
      link: 'http://cms.example/x/',
      parent: 7,
      count: 2,
    };
    expect(category?.read(term, site)).to.deep.equal({
      kind: 'category',
      id: 8,
      name: 'R &amp; B',
      slug: 'r-b',
      description: '',
      parent: 7,
      url: 'http://cms.example/x/',
    });
    expect(tag?.read(term, site).parent).to.equal(0);
    expect(category?.write({ name: 'N', parent: 0 }, { site })).to.deep.equal({ name: 'N', parent: 0 });
  });

  it('never throws on malformed content', () => {
    const malformed: unknown[] = [
      null,
      0,
      '',
      'x',
      [],
      [[]],
      {},
      true,
      Number.NaN,
      { rendered: 5 },
      '0000-00-00 00:00:00',
      '2027-02-30 10:00:00',
    ];
    const kinds = Object.values(loadMapping('gatherpress').kinds).concat(event, venue ?? [], category ?? []);
    for (const kind of kinds)
      for (const value of malformed) {
        const keys = kind.selectedFields.split(',').map((path) => path.split('.')[0] ?? '');
        const flat = Object.fromEntries(keys.map((key) => [key, value]));
        const deep = Object.fromEntries(
          kind.selectedFields.split(',').map((path) => [path.split('.').at(-1) ?? '', value]),
        );
        expect(() => kind.read({ ...flat, id: 1 }, site)).to.not.throw();
        expect(() => kind.read({ id: 1, meta: deep, title: deep, content: deep, excerpt: deep }, site)).to.not.throw();
      }
  });
});
