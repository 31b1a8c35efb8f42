// The mapping that `init` proposes: generated from the fields of a site, or the preset of its plugin.

import { expect } from 'chai';
import { findEventTypes, propose } from '../../../src/cli/init/propose.ts';
import { type ProbedSite, type ProbedType, siteFields } from '../../../src/cli/init/site.ts';
import { readPathsOf } from '../../../src/cli/open-site.ts';
import { compileMapping } from '../../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../../src/mapping/load.ts';
import { metaKeys } from '../../../src/mapping/meta-keys.ts';

type Json = Record<string, unknown>;

/** `meta`: registered keys by type. */
function type(name: string, base: string, records: Json[], meta: Record<string, string> = {}): ProbedType {
  const properties = Object.fromEntries(Object.entries(meta).map(([key, of]) => [key, { type: of }]));
  return {
    type: name,
    base,
    label: base,
    termBases: [],
    total: records.length,
    newestRecords: records,
    fields: siteFields(records, { meta: { type: 'object', properties } }),
  };
}

function site(types: ProbedType[], more: Partial<ProbedSite> = {}): ProbedSite {
  return {
    url: 'http://site.example',
    name: 'Town',
    timezone: 'America/New_York',
    plugins: undefined,
    namespaces: ['wp/v2'],
    account: undefined,
    types,
    taxonomies: [],
    ...more,
  };
}

const openIn = (facts: ProbedSite, decisions = {}) =>
  propose(facts, decisions)?.assumed.map((text) => text.split(';')[0]);
const fieldsOf = (facts: ProbedSite, decisions = {}) => propose(facts, decisions)?.mapping.event.fields;

describe('a generated mapping', () => {
  it('of a type without records finds start and end by their names, and takes no flag for a date', () => {
    const meta = { gig_start: 'string', gig_end: 'string', whole_day: 'string' };
    expect(fieldsOf(site([type('gig', 'gigs', [], meta)]))).to.include({
      start_date: 'meta.gig_start',
      end_date: 'meta.gig_end',
    });
  });

  it('finds dates, venue, cost and flags by name and values, and names the rest', () => {
    const gig = type('gig', 'gigs', [
      {
        id: 5,
        meta: {
          gig_start: '25/04/2031 7:30 pm',
          gig_end: '25/04/2031 11:00 pm',
          ticket_price: 12.5,
          whole_day: 'no',
          hall: 7,
          doors_open: '7:00 pm',
        },
      },
    ]);
    const hall = type('hall', 'halls', [
      { id: 7, meta: { street: '3 Kiln Lane', town: 'Ely', postcode: 'CB7', lat: '52.4', lon: 0.26 } },
    ]);
    const genres = { taxonomy: 'genre', base: 'genres', label: 'Genres', hierarchical: true };
    gig.termBases = ['genres'];
    const proposal = propose(site([gig, hall], { taxonomies: [genres] }));
    expect(proposal?.mapping.event).to.deep.equal({
      posts: 'gigs',
      fields: {
        start_date: { at: 'meta.gig_start', as: { 'local-datetime': 'd/m/Y g:i a' } },
        end_date: { at: 'meta.gig_end', as: { 'local-datetime': 'd/m/Y g:i a' } },
        venue: { at: 'meta.hall', as: { ids: 'one' } },
        all_day: { at: 'meta.whole_day', as: { boolean: ['yes', 'no'] } },
        cost: { at: 'meta.ticket_price', as: 'number', clearWith: null },
      },
    });
    expect(proposal?.mapping.venue).to.deep.equal({
      posts: 'halls',
      fields: {
        address: 'meta.street',
        city: 'meta.town',
        zip: 'meta.postcode',
        geo_lat: 'meta.lat',
        geo_lng: 'meta.lon',
      },
    });
    expect(proposal?.mapping.category).to.deep.equal({ terms: 'genres' });
    expect(proposal?.unmapped.map(({ path, values }) => [path, values])).to.deep.equal([
      ['meta.doors_open', ['7:00 pm']],
    ]);
    expect(proposal?.needsPlugin).to.equal(false);
    expect(() => compileMapping(proposal?.mapping, 'proposal')).not.to.throw();
  });

  it('takes the terms of a taxonomy for no pages, though a page has the id of a term', () => {
    const gig = type('gig', 'gigs', [{ id: 5, meta: { start: '2031-05-01 19:30:00' }, venue: [19] }]);
    Object.assign(gig, { termBases: ['venue'] });
    const pages = type('page', 'pages', [{ id: 19, title: { rendered: 'About us' } }]);
    const venues = { taxonomy: 'venue', base: 'venue', label: 'Venues', hierarchical: false };
    const more = { taxonomies: [venues] };
    expect(propose(site([gig, pages], more))?.mapping.venue).to.deep.equal({ terms: 'venue' });
    // A field of ACF that holds the id of a term.
    const acf = type('gig', 'gigs', [{ id: 5, meta: { start: '2031-05-01 19:30:00' }, acf: { venue: 19 } }]);
    Object.assign(acf, { termBases: ['venue'] });
    expect(propose(site([acf, pages], more))?.mapping.venue).to.deep.equal({ terms: 'venue' });
  });

  it('finds a day, a beginning and an end of ACF with German names by their values', () => {
    const acf = {
      tag: '20270110',
      beginn: '19:30:00',
      ende: '22:00:00',
      karten: { title: '', url: 'http://a.example', target: '' },
    };
    const fields = fieldsOf(site([type('konzert', 'konzerte', [{ id: 5, acf }])]));
    expect(readPathsOf(fields?.start_date)).to.deep.equal(['acf.tag', 'acf.beginn']);
    expect(fields?.website).to.deep.equal({ at: 'acf.karten.url', readOnly: true });
  });

  it('finds start and end by their values where no name tells, and leaves open which of three is one', () => {
    const named = (records: Json[]) => propose(site([type('concierto', 'conciertos', records)]));
    const records = [
      { id: 1, meta: { hasta: '2031-05-01 22:00:00', desde: '2031-05-01 19:30:00' } },
      { id: 2, meta: { hasta: '2031-05-03 01:00:00', desde: '2031-05-02 19:30:00' } },
    ];
    expect(named(records)?.mapping.event.fields).to.deep.equal({
      ...{ start_date: 'meta.desde', end_date: 'meta.hasta' },
    });
    const three = records.map((record) => ({ ...record, meta: { ...record.meta, ensayo: '2031-04-30 19:30:00' } }));
    expect(named(three)?.isSeenOnSite).to.equal(false);
  });

  it('refuses a named time of day that it cannot read, also while the site does not show the day', () => {
    const gig = type('gig', 'gigs', [{ id: 5, meta: { gig_time: 'in the evening' } }]);
    const decisions = { eventType: 'gigs', fields: { 'event.start_date': 'meta.gig_day,meta.gig_time' } };
    expect(() => propose(site([gig]), decisions)).to.throw(/meta\.gig_time has no value that init can read: in the/);
  });

  it('has no collection twice', () => {
    const starts = { gig_start: '2031-05-01 19:30:00', gig_end: '2031-05-01 21:00:00' };
    const gig = type('gig', 'gigs', [{ id: 5, meta: { ...starts, venue: 7, organizer: 8 } }]);
    const contact = type('contact', 'contacts', [{ id: 7 }, { id: 8 }]);
    const facts = site([gig, contact]);
    const { venue, organizer } = propose(facts)!.mapping;
    expect({ venue, organizer }).to.deep.equal({ venue: { posts: 'contacts' }, organizer: undefined });
  });

  it('takes a number for a postcode and a telephone number, and not for a city', () => {
    const starts = { gig_start: '2031-05-01 19:30:00', gig_end: '2031-05-01 21:00:00' };
    const gig = type('gig', 'gigs', [{ id: 5, meta: { ...starts, hall: 7 } }]);
    const hall = type('hall', 'halls', [{ id: 7, meta: { postcode: 4020, tel: 5550100, town: 12 } }]);
    const proposal = propose(site([gig, hall]));
    expect(proposal?.mapping.venue?.fields).to.deep.equal({
      zip: { at: 'meta.postcode', as: 'number', clearWith: null },
      phone: { at: 'meta.tel', as: 'number', clearWith: null },
    });
  });

  it('combines a date and a time of day', () => {
    const records = [{ id: 1, meta: { event_date: '2031-05-01', start_time: '19:30', end_time: '22:00' } }];
    expect(fieldsOf(site([type('show', 'shows', records)]))).to.deep.equal({
      start_date: {
        parts: [
          { at: 'meta.event_date', format: 'Y-m-d' },
          { at: 'meta.start_time', format: 'H:i' },
        ],
      },
      end_date: {
        parts: [
          { at: 'meta.event_date', format: 'Y-m-d' },
          { at: 'meta.end_time', format: 'H:i' },
        ],
      },
    });
  });

  it('ends events at their start if no field holds an end', () => {
    const proposal = propose(site([type('gig', 'gigs', [{ id: 1, meta: { date: '2031-05-01 19:30:00' } }])]));
    expect(proposal?.mapping.event.fields?.end_date).to.deep.equal({ at: 'meta.date', readOnly: true });
    const mapping = compileMapping(proposal?.mapping, 'proposal');
    expect(mapping.kinds.event.writable.has('end')).to.equal(false);
  });

  it('prefers the local date to the same date in UTC, and ignores unrelated dates', () => {
    const meta = {
      start_utc: '2031-05-01 23:30:00',
      start_local: '2031-05-01 19:30:00',
      end_local: '2031-05-01 22:00:00',
      created_date: '2026-01-01 00:00:00',
      booking_deadline_date: '2031-04-01 00:00:00',
    };
    const fields = fieldsOf(site([type('gig', 'gigs', [{ id: 1, meta }])]));
    expect(fields?.start_date).to.equal('meta.start_local');
    expect(fields?.end_date).to.equal('meta.end_local');
  });

  it('reads ACF fields, in groups too, and clears relations with null', () => {
    const records = [
      { id: 1, acf: { when: { start: '2031-05-01 19:30:00', end: '2031-05-01 22:00:00' }, venue: [7] } },
    ];
    const facts = site([type('gig', 'gigs', records), type('venue', 'venues', [{ id: 7 }])]);
    const fields = fieldsOf(facts);
    expect(fields?.start_date).to.equal('acf.when.start');
    expect(fields?.end_date).to.equal('acf.when.end');
    expect(fields?.venue).to.deep.equal({ at: 'acf.venue', clearWith: null });
  });

  it('embeds a venue that is only text', () => {
    const place = { location: 'Old Mill', city: 'Ely', lat: '52.4', lon: '0.26' };
    const records = [{ id: 1, meta: { start: '2031-05-01 19:30:00', end: '2031-05-01 22:00:00', ...place } }];
    const proposal = propose(site([type('gig', 'gigs', records)]));
    expect(proposal?.mapping.event.fields?.venue).to.deep.equal({
      embedded: { venue: 'meta.location' },
    });
    expect(proposal?.mapping.venue).to.equal(undefined);
    expect(() => compileMapping(proposal?.mapping, 'proposal')).not.to.throw();
  });

  it('uses a taxonomy as venues', () => {
    const gig = type('gig', 'gigs', [{ id: 1, meta: { start: '2031-05-01 19:30:00' } }]);
    gig.termBases = ['places'];
    const proposal = propose(
      site([gig], { taxonomies: [{ taxonomy: 'place', base: 'places', label: 'Places', hierarchical: true }] }),
    );
    expect(proposal?.mapping.venue).to.deep.equal({ terms: 'places' });
    expect(proposal?.mapping.category).to.equal(undefined);
  });

  it('has an open question if samples are ambiguous, and follows the decision', () => {
    const ambiguous = site([type('gig', 'gigs', [{ id: 1, meta: { start: '03/04/2031 7:30 pm' } }])]);
    expect(openIn(ambiguous)).to.include('that the day comes before the month in dates');
    expect(fieldsOf(ambiguous, { dateFormat: 'm/d/Y g:i a' })?.start_date).to.deep.equal({
      at: 'meta.start',
      as: { 'local-datetime': 'm/d/Y g:i a' },
    });
    const seconds = site([type('gig', 'gigs', [{ id: 1, meta: { start: 1935430200 } }])]);
    expect(openIn(seconds)).to.include('that seconds since 1970 count the instant');
    expect(openIn(seconds, { seconds: 'wall' })).to.have.length(1);
    expect(fieldsOf(seconds, { seconds: 'wall' })?.start_date).to.deep.equal({
      at: 'meta.start',
      as: { unix: { wallClockAsUtc: true } },
    });
  });

  it('follows decided collections and fields, and needs the companion plugin for keys that no schema has', () => {
    const gig = type('gig', 'gigs', [{ id: 1, meta: { start: '2031-05-01 19:30:00' } }], { start: 'string' });
    const proposal = propose(site([gig]), {
      eventType: 'gigs',
      fields: { 'event.end_date': 'meta.gig_until' },
    });
    expect(proposal?.mapping.event.fields?.end_date).to.equal('meta.gig_until');
    expect(proposal?.needsPlugin).to.equal(true);
    expect(proposal?.mapping.wordpress?.posts?.gigs?.type).to.equal('gig');
  });

  it('reads and writes a date that the operator named in the format of its values', () => {
    const meta = { doors: '2031-04-25 18:30', curtain: '2031-04-25 19:30', bell: '' };
    const fields = { 'event.start_date': 'meta.curtain', 'event.end_date': 'meta.bell' };
    expect(fieldsOf(site([type('gig', 'gigs', [{ id: 5, meta }])]), { eventType: 'gigs', fields })).to.deep.include({
      start_date: { at: 'meta.curtain', as: { 'local-datetime': 'Y-m-d H:i' } },
      end_date: 'meta.bell',
    });
  });

  it('takes a date and a time of day that the operator named together, before and after the site shows them', () => {
    const decisions = {
      eventType: 'gigs',
      fields: { 'event.start_date': 'meta.day,meta.curtain', 'event.end_date': 'meta.last_day,meta.curfew' },
    };
    const unseen = propose(site([type('gig', 'gigs', [{ id: 5, meta: {} }])]), decisions);
    const keys = metaKeys('event', unseen!.mapping.event, unseen!.mapping.event).map(({ key }) => key);
    expect(keys.sort()).to.deep.equal(['curfew', 'curtain', 'day', 'last_day']);
    expect(() => compileMapping(unseen?.mapping, 'proposal')).not.to.throw();
    const meta = { day: '25/04/2031', curtain: '7:30 PM', last_day: '26/04/2031', curfew: '11:00 PM' };
    const part = (at: string, format: string) => ({ at: `meta.${at}`, format });
    expect(fieldsOf(site([type('gig', 'gigs', [{ id: 5, meta }])]), decisions)).to.deep.include({
      start_date: { parts: [part('day', 'd/m/Y'), part('curtain', 'g:i A')] },
      end_date: { parts: [part('last_day', 'd/m/Y'), part('curfew', 'g:i A')] },
    });
  });

  it('takes a day that is stored as midnight', () => {
    const facts = site([type('gig', 'gigs', [{ id: 5, meta: { day: '2031-04-25 00:00:00', curtain: '19:30' } }])]);
    const decisions = { eventType: 'gigs', fields: { 'event.start_date': 'meta.day,meta.curtain' } };
    expect(fieldsOf(facts, decisions)).to.deep.include({
      start_date: {
        parts: [
          { at: 'meta.day', format: 'Y-m-d 00:00:00' },
          { at: 'meta.curtain', format: 'H:i' },
        ],
      },
    });
    expect(() => propose(facts, decisions)).not.to.throw();
  });

  it('says of a date without a time of day how to name both', () => {
    const facts = site([type('gig', 'gigs', [{ id: 5, meta: { day: '2031-04-25', opening: 'in the evening' } }])]);
    const decisions = { eventType: 'gigs', fields: { 'event.start_date': 'meta.day' } };
    expect(propose(facts, decisions)?.assumed[0]).to.include('name both: --field event.start_date=meta.day,PATH');
  });

  it('opens a key that the operator named as text, whatever the field, so that the next init sees what the site stores', () => {
    const decisions = {
      eventType: 'gigs',
      fields: {
        'event.start_date': 'meta.start',
        'event.all_day': 'meta.whole',
        'event.venue': 'meta.room',
        'event.organizer': 'meta.by',
      },
    };
    const types = [type('gig', 'gigs', [{ id: 5, meta: {} }]), type('hall', 'halls', [{ id: 7 }])];
    const { mapping } = propose(site(types), decisions)!;
    const stored = metaKeys('event', mapping.event, mapping.event).map(({ key, type }) => `${key} ${type}`);
    expect(stored.sort()).to.deep.equal(['by string', 'room string', 'start string', 'whole string']);
    expect(mapping.event.fields?.end_date).to.deep.equal({ at: 'meta.start', readOnly: true });
    expect(() => compileMapping(mapping, 'proposal')).not.to.throw();
  });

  it('reads and writes a field that the operator named in the form of its values', () => {
    const meta = { start: '2031-05-01 19:30:00', whole: 'yes', room: '7', by: 'The Players', price: 12.5 };
    const fields = {
      'event.all_day': 'meta.whole',
      'event.venue': 'meta.room',
      'event.organizer': 'meta.by',
      'event.cost': 'meta.price',
    };
    const types = [type('gig', 'gigs', [{ id: 5, meta }]), type('hall', 'halls', [{ id: 7 }])];
    const facts = site(types);
    const proposal = propose(facts, { eventType: 'gigs', fields });
    expect(proposal?.mapping.event.fields).to.deep.include({
      all_day: { at: 'meta.whole', as: { boolean: ['yes', 'no'] } },
      venue: { at: 'meta.room', as: { ids: 'csv' } },
      organizer: { embedded: { organizer: 'meta.by' } },
      cost: { at: 'meta.price', as: 'number', clearWith: null },
    });
    expect(() => compileMapping(proposal?.mapping, 'proposal')).not.to.throw();
  });

  it('is absent for an event type without dates, and for a blog', () => {
    expect(propose(site([type('event', 'happenings', [{ id: 1, meta: {} }])]))).to.equal(undefined);
    const blog = site([type('post', 'posts', [{ id: 1, meta: {} }])]);
    expect(propose(blog)?.isSeenOnSite).to.equal(false);
    expect(findEventTypes(blog)).to.deep.equal([]);
  });

  it('uses posts as events if they hold dates (Event Post)', () => {
    const posts = type('post', 'posts', [
      { id: 1, meta: { event_begin: '2031-05-01 19:30:00', event_end: '2031-05-01 22:00:00' } },
    ]);
    expect(fieldsOf(site([posts]))).to.include({ start_date: 'meta.event_begin', end_date: 'meta.event_end' });
  });
});

describe('a preset', () => {
  const all = {
    taxonomies: ['tags', 'event_categories', 'tribe_events_cat'].map((base) => ({
      taxonomy: base,
      base,
      label: base,
      hierarchical: base !== 'tags',
    })),
  };
  const registered = (keys: string) => Object.fromEntries(keys.split(' ').map((key) => [key, 'string']));

  it('of each bundled mapping is recognized by its collections and keys', () => {
    for (const name of mappingNames('wordpress')) {
      const source = loadMapping(name).file;
      const types: ProbedType[] = [];
      const taxonomies: ProbedSite['taxonomies'] = [];
      for (const kind of ['event', 'venue', 'organizer', 'category', 'tag'] as const) {
        const about = source[kind];
        if (about?.terms !== undefined)
          taxonomies.push({ taxonomy: about.terms, base: about.terms, label: '', hierarchical: false });
        if (about?.posts === undefined) continue;
        const keys = metaKeys(kind, about, source.event).map(({ key }) => `meta.${key}`);
        const others = Object.values(about.fields ?? {}).flatMap(readPathsOf);
        const fields = [...keys, ...others].map((path) => ({ path, type: 'string', values: [] }));
        types.push({ ...type(about.posts, about.posts, []), fields });
      }
      const proposal = propose(site(types, { taxonomies }));
      expect(proposal?.isSeenOnSite, name).to.equal(true);
      expect(proposal?.mapping.name.replace(/-here$/, ''), name).to.equal(name);
      expect(proposal?.needsPlugin, name).to.equal(false);
    }
  });

  it('with usual names is not used for a site that lacks some of them: the mapping has what is there', () => {
    const events = type('events', 'events', [], registered('start_date end_date timezone cost'));
    const proposal = propose(site([events], all));
    expect(proposal?.mapping.name).to.equal('site');
    expect(Object.keys(proposal?.mapping.event.fields ?? {})).to.deep.equal([
      'start_date',
      'end_date',
      'timezone',
      'cost',
    ]);
    expect(proposal?.mapping.venue).to.equal(undefined);
    expect(() => compileMapping(proposal?.mapping, 'proposal')).not.to.throw();
  });

  it('keeps the key by which a plugin hides events, which only the companion plugin opens', () => {
    const keys = '_EventStartDate _EventEndDate _EventTimezone _EventAllDay _EventCost _EventURL';
    const base = 'tribe_events';
    const closed = propose(site([type(base, base, [], registered(keys))], all));
    expect(closed?.needsPlugin).to.equal(true);
    expect(closed?.mapping.event.fields).to.have.property('hide_from_listings');
    const opened = propose(site([type(base, base, [], registered(`${keys} _EventHideFromUpcoming`))], all));
    expect(opened?.mapping.event.fields).to.have.property('hide_from_listings');
  });

  it('keeps the fields that the hooks of the companion plugin open', () => {
    const base = 'tribe_events';
    const proposal = propose(site([type(base, base, [], registered('_EventStartDate _EventEndDate'))], all));
    expect(proposal?.mapping.event.fields).to.have.property('sticky');
    expect(proposal?.needsPlugin).to.equal(true);
  });

  it('needs the companion plugin if the dates are not in the REST API: recognized by collections or active plugins', () => {
    const eventon = propose(site([type('ajde_events', 'ajde_events', [{ id: 1, meta: [] }])]));
    expect(eventon?.preset).to.equal('eventon');
    expect(eventon?.needsPlugin).to.equal(true);
    const manager = propose(site([], { plugins: ['akismet', 'events-manager'] }));
    expect(manager?.preset).to.equal('events-manager');
    expect(manager?.summary).to.contain('plugin events-manager');
    // As the folder of EventON is called.
    expect(propose(site([], { plugins: ['eventON'] }))?.preset).to.equal('eventon');
  });

  it('is that of the type which the operator names, on a site with two plugins and a dated type of its own', () => {
    const types = ['ajde_events', 'event_listing'].map((base) => type(base, base, [{ id: 1, meta: [] }]));
    const gig = type('gig', 'gigs', [{ id: 2, meta: { gig_start: '2031-04-25 19:30:00' } }]);
    const presetOf = (eventType?: string) => propose(site([...types, gig]), { eventType })?.preset;
    expect(presetOf('ajde_events')).to.equal('eventon');
    expect(presetOf('event_listing')).to.equal('wp-event-manager');
    expect(presetOf('gigs')).to.equal(undefined);
    // One of the plugin's own dates, which says nothing of its clock.
    const started = type('ajde_events', 'ajde_events', [{ id: 1, meta: { evcal_srow: 1_935_516_600 } }]);
    expect(propose(site([started]), { eventType: 'ajde_events' })?.preset).to.equal('eventon');
  });

  it('is not used for a type that the operator names if the site shows only other dates of it', () => {
    // A theme's `event`, and a taxonomy that an event plugin left behind.
    const event = type('event', 'event', [{ id: 1, meta: { start_date: '2031-04-25 19:30:00' } }]);
    const gig = type('gig', 'gigs', [{ id: 2, meta: { gig_start: '2031-04-25 19:30:00' } }]);
    const leftOver = { taxonomy: 'event-categories', base: 'event-categories', label: '', hierarchical: true };
    const proposal = propose(site([event, gig], { taxonomies: [leftOver] }), { eventType: 'event' });
    expect(proposal?.mapping.event.fields?.start_date).to.equal('meta.start_date');
  });
});
