// Compiled mappings: which records they read from CMS records, and which bodies they write.

import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
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
      parent: 0,
      categories: [2],
      tags: [3],
      venues: [5],
      organizers: [7, 6],
      searchText: 'Tést "q" & a\\b\nBody',
    });
  });

  it('makes only the visible part of a protected record searchable: its title, or the slug if the name is blanked too', () => {
    const content = { raw: 'Secret', rendered: '<p>Secret</p>', protected: true };
    const closed = { ...cmsRecord, content, excerpt: content };
    expect(event.read(closed, site).searchText).to.equal('Tést "q" & a\\b');
    const anonymous = {
      ...closed,
      title: { rendered: 'Tom &#038; Jerry' },
      content: { rendered: '', protected: true },
    };
    expect(event.read(anonymous, site).searchText).to.equal('Tom & Jerry');
    const meta = { address: '1 Hidden St', city: 'Nowhere', phone: '555', email: 'a@b.example' };
    for (const kind of [venue, organizer]) {
      const { searchText, protected: locked } = kind!.read({ ...closed, meta, slug: 'caf%c3%a9-%zz' }, site);
      expect([searchText, locked]).to.deep.equal(['caf%c3%a9-%zz', true]);
      expect(kind!.read({ ...closed, meta, slug: 'caf%c3%a9' }, site).searchText).to.equal('café');
    }
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

  it('searches rendered text, without entities and typography, if the CMS shows no raw text', () => {
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

describe('time zones and instants', () => {
  const utc = {
    start_date: { at: 'meta.s', as: 'utc-datetime' },
    end_date: { at: 'meta.e', as: 'utc-datetime' },
    timezone: 'meta.z',
  };
  const before = { id: 1, meta: { s: '2027-01-10 15:00:00', e: '2027-01-10 17:00:00', z: 'America/New_York' } };

  it('keeps the wall time if only the zone changes', () => {
    const kind = mappingWith(utc).kinds.event;
    expect(kind.needsCurrent({ timezone: 'Europe/Paris' })).to.equal(true);
    expect(kind.write({ timezone: 'Europe/Paris' }, { site, current: before })).to.deep.equal({
      meta: { s: '2027-01-10 09:00:00', e: '2027-01-10 11:00:00', z: 'Europe/Paris' },
    });
  });

  it('sends the stored start along with a changed zone, for plugins that compute UTC only when a date is sent', () => {
    const kind = mappingWith({
      start_date: { at: 'meta.s', sentWith: ['timezone'] },
      end_date: 'meta.e',
      timezone: 'meta.z',
    }).kinds.event;
    const changed = { timezone: 'Europe/Paris' };
    expect(kind.needsCurrent(changed)).to.equal(true);
    expect(kind.write(changed, { site, current: before })).to.deep.equal({
      meta: { s: '2027-01-10 15:00:00', z: 'Europe/Paris' },
    });
    const both = { ...changed, start: '2027-01-11 08:00:00' };
    expect(kind.needsCurrent(both)).to.equal(false);
    expect(kind.write(both, { site })).to.deep.equal({ meta: { s: '2027-01-11 08:00:00', z: 'Europe/Paris' } });
    expect(kind.needsCurrent({ end: '2027-01-11 09:00:00' })).to.equal(false);
  });

  it('writes in the stored zone if the request has none', () => {
    const kind = mappingWith(utc).kinds.event;
    const stored = { id: 1, meta: { ...before.meta, z: 'Europe/Paris' } };
    expect(kind.needsCurrent({ start: '2027-01-10 10:00:00' })).to.equal(true);
    expect(kind.write({ start: '2027-01-10 10:00:00' }, { site, current: stored })).to.deep.equal({
      meta: { s: '2027-01-10 09:00:00' },
    });
    expect(kind.needsCurrent({ start: 'x', end: 'y', timezone: 'z' })).to.equal(false);
    expect(kind.needsCurrent({ title: 'x' })).to.equal(false);
  });

  it('keeps the instant on a site without time zones of events', () => {
    const kind = mappingWith({}).kinds.event;
    expect(kind.writable.has('timezone')).to.equal(false);
    expect(kind.write({ start: '2027-01-10 16:00:00', timezone: 'Europe/Paris' }, { site })).to.deep.equal({
      meta: { start: '2027-01-10 10:00:00' },
    });
  });

  it('keeps whole days on such a site', () => {
    const kind = mappingWith({}).kinds.event;
    const written = kind.write({ start: '2027-01-10 00:00:00', allDay: true, timezone: 'Europe/Paris' }, { site });
    expect(written).to.have.nested.property('meta.start', '2027-01-10 00:00:00');
  });
});

describe('a value inside a JSON text', () => {
  const kind = loadMapping('gatherpress').kinds.event;
  const stored =
    '{"dateTimeStart":"2027-01-10 10:00:00","dateTimeEnd":"2027-01-10 12:00:00","timezone":"Europe/Paris","x":1}';

  const derived = {
    gatherpress_datetime_start: '2027-01-10 10:00:00',
    gatherpress_datetime_end: '2027-01-10 12:00:00',
    gatherpress_timezone: 'Europe/Paris',
  };

  it('keeps the other values of the text', () => {
    expect(kind.needsCurrent({ end: '2027-01-10 13:00:00' })).to.equal(true);
    const body = kind.write(
      { end: '2027-01-10 13:00:00' },
      { site, current: { id: 1, meta: { ...derived, gatherpress_datetime: stored } } },
    );
    expect(body).to.deep.equal({ meta: { gatherpress_datetime: stored.replace('12:00:00', '13:00:00') } });
  });

  it('writes the dates that the text lacks: GatherPress would delete them', () => {
    // Its importer and its PHP API store the dates without the text.
    const body = kind.write({ timezone: 'Asia/Tokyo' }, { site, current: { id: 1, meta: derived } });
    const text = (body.meta as { gatherpress_datetime: string }).gatherpress_datetime;
    expect(JSON.parse(text)).to.deep.equal({
      dateTimeStart: '2027-01-10 10:00:00',
      dateTimeEnd: '2027-01-10 12:00:00',
      timezone: 'Asia/Tokyo',
    });
  });

  it('writes several fields into one text, and the zone in strict form', () => {
    const body = kind.write({ start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00', timezone: 'UTC+2' }, { site });
    expect(body).to.deep.equal({
      meta: {
        gatherpress_datetime:
          '{"dateTimeStart":"2027-01-10 10:00:00","dateTimeEnd":"2027-01-10 12:00:00","timezone":"+02:00"}',
      },
    });
  });
});

describe('venues that are not posts referred to by id', () => {
  it('links a post through the term of its slug', () => {
    const kind = loadMapping('gatherpress').kinds.event;
    const [join] = kind.linkFields ?? [];
    expect(join).to.include({ field: 'venues', kind: 'venue', terms: '_gatherpress_venue' });
    const table = join?.buildTable(
      [
        { id: 40, slug: 'hall' },
        { id: 41, slug: 'draft' },
      ],
      [
        { id: 7, slug: '_hall' },
        { id: 8, slug: 'online-event' },
      ],
    );
    const linkTables = table ? { venues: table } : {};
    expect(kind.read({ id: 1, _gatherpress_venue: [7, 8] }, site, linkTables).venues).to.deep.equal([40]);
    expect(kind.read({ id: 1, _gatherpress_venue: [7] }, site).venues).to.deep.equal([]);
    expect(kind.write({ venues: [40] }, { site, linkTables })).to.deep.equal({ _gatherpress_venue: [7] });
    expect(kind.write({ venues: [] }, { site, linkTables })).to.deep.equal({ _gatherpress_venue: [] });
    expect(() => kind.write({ venues: [41] }, { site, linkTables })).to.throw('Invalid parameter(s): venue');
  });

  it('links a post through a number in its meta', () => {
    const kinds = loadMapping('events-manager').kinds;
    expect(kinds.venue?.selectedFields.split(',')).to.include('meta._location_id');
    const table = kinds.event.linkFields?.[0]?.buildTable([{ id: 40, meta: { _location_id: '3' } }], []);
    expect(
      kinds.event.read({ id: 1, meta: { _location_id: '3' } }, site, table ? { venues: table } : {}).venues,
    ).to.deep.equal([40]);
  });

  it('reads a term as a venue', () => {
    const kinds = loadMapping('modern-events-calendar').kinds;
    const term = { id: 9, name: 'Hall', slug: 'hall', link: 'http://cms.example/hall/', meta: { address: '1 A St' } };
    expect(kinds.venue?.storedAs).to.equal('terms');
    expect(kinds.venue?.read(term, site)).to.include({
      id: 9,
      title: 'Hall',
      status: 'publish',
      address: '1 A St',
      showMap: true,
    });
    // WordPress answers no meta of a term at all to _fields=meta.address.
    expect(kinds.venue?.selectedFields.split(',')).to.include('meta').and.not.include('meta.address');
    const meta = {
      mec_location_id: '9',
      mec_start_date: '2027-05-01',
      mec_start_time_hour: '7',
      mec_start_time_minutes: '5',
      mec_start_time_ampm: 'PM',
    };
    expect(kinds.event.read({ id: 1, meta }, site)).to.deep.include({
      venues: [1_000_000_000_009],
      start: '2027-05-01 19:05:00',
      end: '2027-05-01 19:05:00',
    });
  });

  it('reads an embedded venue', () => {
    const kind = mappingWith({ venue: { embedded: { venue: 'meta.where', city: 'meta.town' } } }).kinds.event;
    const inside = { id: 1, meta: { where: 'Old Mill', town: 'Ely' } };
    const record = kind.embedded?.venue?.(inside);
    expect(record).to.include({ kind: 'venue', title: 'Old Mill', city: 'Ely', status: 'publish', showMap: true });
    expect(kind.read(inside, site).venues).to.deep.equal([record?.id]);
    expect(record?.id)
      .to.be.at.least(2 ** 52)
      .and.at.most(Number.MAX_SAFE_INTEGER);
    expect(kind.read({ id: 2, meta: { where: ' ' } }, site).venues).to.deep.equal([]);
    expect(kind.writable.has('venues')).to.equal(false);
  });
});

describe('options of a kind', () => {
  it('select the rendered text of each raw text: the public view compares them', () => {
    const { event, venue } = loadMapping('events-manager').kinds;
    for (const kind of [event, venue])
      expect(kind?.selectedFields.split(',')).to.include.members(['content.raw', 'content.rendered']);
  });

  it('are part of the compiled mapping', () => {
    expect(loadMapping('gatherpress').kinds.event.listParams).to.deep.equal({ gatherpress_event_query: 'all' });
    expect(loadMapping('tribe-events-native').kinds.event.touchAfterCreate).to.deep.equal(['meta._EventStartDate']);
    expect(loadMapping('wp-event-manager').kinds.event.statuses).to.deep.equal(['expired']);
    expect(loadMapping('event-organiser').kinds.event).to.include({ dedupe: true, readOnly: true });
    expect(loadMapping('event-organiser').kinds.event.writable.size).to.equal(0);
    expect(loadMapping('events-manager').kinds.event.context).to.equal('edit');
    expect(loadMapping('events-manager').requiresCompanionPlugin).to.equal(true);
  });

  it('WP Event Manager gets date and time in two keys', () => {
    const { event: listing } = loadMapping('wp-event-manager').kinds;
    expect(listing.write({ start: '2027-05-01 19:30:00', venues: [] }, { site })).to.deep.equal({
      meta: { _event_start_date: '2027-05-01 19:30:00', _event_start_time: '19:30:00', _event_venue_ids: 0 },
    });
  });

  it('Advanced Custom Fields clears relations with null', () => {
    expect(loadMapping('acf').kinds.event.write({ venues: [], organizers: [3] }, { site })).to.deep.equal({
      acf: { venue: null, organizer: [3] },
    });
  });
});
