// Compiled mappings: which records they read from CMS records, and which bodies they write.

import { expect } from 'chai';
import { ApiError } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { mappingWith, site } from './samples.ts';

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

  it('writes no end that the CMS does not have if only the zone changes', () => {
    for (const meta of [
      { ...before.meta, e: '' },
      { s: before.meta.s, z: before.meta.z },
    ])
      expect(
        mappingWith(utc).kinds.event.write({ timezone: 'Europe/Paris' }, { site, current: { id: 1, meta } }),
      ).to.deep.equal({ meta: { s: '2027-01-10 09:00:00', z: 'Europe/Paris' } });
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

  it('sends no end along that the CMS does not have, with a changed zone or start', () => {
    const kind = mappingWith({
      start_date: { at: 'meta.s', sentWith: ['end_date'] },
      end_date: { at: 'meta.e', sentWith: ['start_date', 'timezone'] },
      timezone: { at: 'meta.z', sentWith: ['start_date'] },
    }).kinds.event;
    for (const meta of [{ s: '2027-01-10 15:00:00', e: '' }, { s: '2027-01-10 15:00:00' }]) {
      const current = { id: 1, meta };
      expect(kind.write({ timezone: 'Europe/Paris' }, { site, current })).to.deep.equal({
        meta: { z: 'Europe/Paris' },
      });
      expect(kind.write({ start: '2027-01-10 14:00:00' }, { site, current })).to.deep.equal({
        meta: { s: '2027-01-10 14:00:00', z: 'America/New_York' },
      });
    }
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

describe('a JSON text that is longer than the gateway reads', () => {
  it('is refused, and not replaced, wherever it would be cut', () => {
    const kind = mappingWith({ cost: { at: 'meta.when', json: 'price' } }).kinds.event;
    const cutAt = 200_000;
    const texts = [
      JSON.stringify({ note: 'x'.repeat(cutAt), price: 1 }),
      JSON.stringify({ note: `${'x'.repeat(cutAt - 1000)}<${'y'.repeat(2000)}`, price: 1 }),
    ];
    for (const when of texts)
      expect(() => kind.write({ cost: '5' }, { site, current: { meta: { when } } })).to.throw(
        ApiError,
        'Invalid parameter(s): cost',
      );
  });
});

describe('a path through a list', () => {
  it('is read-only, in a JSON text and with a codec of several paths too', () => {
    const start_date = { at: 'meta.when', json: 'dates[0].from' };
    const cost = { at: 'prices[0].amount', as: { currency: { symbol: 'meta.s', position: 'meta.p' } } };
    const kind = mappingWith({ start_date, cost }).kinds.event;
    const record = {
      meta: { when: '{"dates":[{"from":"2027-01-10 10:00:00"}]}', s: '€', p: 'prefix' },
      prices: [{ amount: '€7' }],
    };
    expect(kind.read({ id: 1, ...record }, site)).to.include({ start: '2027-01-10 10:00:00', cost: '€7' });
    for (const key of ['start', 'cost'] as const) expect(kind.writable.has(key), key).to.equal(false);
    expect(kind.write({ start: '2027-01-11 10:00:00', cost: '€8' }, { site, current: record })).to.deep.equal({});
  });

  it('is never replaced by objects: a write into a list of a JSON text is refused', () => {
    const kind = mappingWith({ cost: { at: 'meta.when', json: 'price.amount' } }).kinds.event;
    for (const when of ['[{"price":1}]', '{"price":[1]}'])
      expect(() => kind.write({ cost: '5' }, { site, current: { meta: { when } } }), when).to.throw(
        ApiError,
        'Invalid parameter(s): cost',
      );
    const body = kind.write({ cost: '5' }, { site, current: { meta: { when: '{"price":{},"rows":[1]}' } } });
    expect(body).to.deep.equal({ meta: { when: '{"price":{"amount":"5"},"rows":[1]}' } });
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

  it('stay linked if the field is sent along with another one', () => {
    const venue = { at: 'place', via: { key: 'meta.number' }, sentWith: ['title'] };
    const kind = mappingWith({ venue }).kinds.event;
    const table = kind.linkFields[0]!.buildTable([{ id: 40, meta: { number: 3 } }], []);
    const body = kind.write({ title: 'Fair' }, { site, current: { id: 1, place: [3] }, linkTables: { venues: table } });
    expect(body).to.deep.equal({ title: 'Fair', place: [3] });
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

  it('gives an embedded venue a slug as WordPress makes it, which its texts make unique', () => {
    const kind = mappingWith({ venue: { embedded: { venue: 'meta.where' } } }).kinds.event;
    const slugOf = (where: string) => kind.embedded?.venue?.({ id: 1, meta: { where } })?.slug;
    expect(slugOf("Café O'Hara")).to.match(/^cafe-ohara-[0-9a-f]{8}$/);
    expect(slugOf('Зал')).to.match(/^%d0%b7%d0%b0%d0%bb-[0-9a-f]{8}$/);
    expect(slugOf('???')).to.match(/^venue-[0-9a-f]{8}$/);
  });
});

describe('options of a kind', () => {
  it('select the rendered text of each raw text: the public view compares them', () => {
    const { event, venue } = loadMapping('events-manager').kinds;
    for (const kind of [event, venue])
      expect(kind?.selectedFields.split(',')).to.include.members(['content.raw', 'content.rendered']);
  });

  it('are part of the compiled mapping', () => {
    const settings = (name: string) => loadMapping(name).kinds.event.cmsSettings;
    expect(settings('gatherpress')).to.deep.equal({ listParams: { gatherpress_event_query: 'all' } });
    expect(settings('tribe-events-native')).to.deep.equal({ resendAfterCreate: ['meta._EventStartDate'] });
    expect(settings('wp-event-manager')).to.deep.equal({ statuses: ['expired'] });
    expect(settings('acf')).to.deep.equal({});
    expect(loadMapping('event-organiser').kinds.event).to.include({ dedupe: true, readOnly: true });
    expect(loadMapping('event-organiser').kinds.event.writable.size).to.equal(0);
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
