// Shows which mapping `init` proposes, from the fields and samples of a site of its own and for each setup that is known.

import { expect } from 'chai';
import { placesOf, type SiteFacts, type TypeFacts } from '../../src/cli/probe.ts';
import { eventTypes, propose, proposeNothingThere } from '../../src/cli/propose.ts';
import { pathsOf } from '../../src/cli/setups.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import { metaKeys } from '../../src/mapping/meta-keys.ts';

type Json = Record<string, unknown>;

/** `meta`: registered keys by type. */
function type(name: string, base: string, records: Json[], meta: Record<string, string> = {}): TypeFacts {
  const properties = Object.fromEntries(Object.entries(meta).map(([key, of]) => [key, { type: of }]));
  return {
    type: name,
    base,
    label: base,
    taxonomies: [],
    terms: [],
    total: records.length,
    samples: records,
    places: placesOf(records, { meta: { type: 'object', properties } }),
  };
}

function site(types: TypeFacts[], more: Partial<SiteFacts> = {}): SiteFacts {
  return {
    ...{ url: 'http://site.example', name: 'Town', timezone: 'America/New_York', namespaces: ['wp/v2'] },
    ...{ plugins: undefined, account: undefined, types, taxonomies: [], owners: {} },
    ...more,
  };
}

const fieldsOf = (facts: SiteFacts, decisions = {}) => propose(facts, decisions)?.source.event.fields;

describe('a proposal for a site of its own', () => {
  it('finds dates, venue, price and switches by name and content, each with a reason', () => {
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
    const hall = type('hall', 'halls', [{ id: 7, meta: { street: '3 Kiln Lane', town: 'Ely', postcode: 'CB7' } }]);
    const genres = { taxonomy: 'genre', base: 'genres', label: 'Genres', hierarchical: true };
    gig.taxonomies = ['genre'];
    const found = propose(site([gig, hall], { owners: { 5: 'gig', 7: 'hall' }, taxonomies: [genres] }));
    expect(found?.source.event).to.deep.equal({
      posts: 'gigs',
      fields: {
        start_date: { at: 'meta.gig_start', as: { 'local-datetime': 'd/m/Y g:i a' } },
        end_date: { at: 'meta.gig_end', as: { 'local-datetime': 'd/m/Y g:i a' } },
        venue: { at: 'meta.hall', as: { ids: 'one' } },
        all_day: { at: 'meta.whole_day', as: { boolean: ['yes', 'no'] } },
        cost: { at: 'meta.ticket_price', as: 'number', clearWith: null },
      },
    });
    expect(found?.source.venue).to.deep.equal({
      posts: 'halls',
      fields: { address: 'meta.street', city: 'meta.town', zip: 'meta.postcode' },
    });
    expect(found?.source.category).to.deep.equal({ terms: 'genres' });
    expect(found?.lines.every(({ reason }) => reason.length > 10)).to.equal(true);
    expect(found?.needsSnippet).to.equal(false);
    expect(() => compileMapping(found?.source, 'proposal')).not.to.throw();
  });

  it('puts a day and a time of day together', () => {
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

  it('lets an event end when it begins where there is no end', () => {
    const found = propose(site([type('gig', 'gigs', [{ id: 1, meta: { date: '2031-05-01 19:30:00' } }])]));
    expect(found?.source.event.fields?.end_date).to.deep.equal({ at: 'meta.date', readOnly: true });
    const mapping = compileMapping(found?.source, 'proposal');
    expect(mapping.kinds.event.writable.has('end')).to.equal(false);
  });

  it('prefers the local date to its twin in UTC, and leaves other dates alone', () => {
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

  it('reads ACF, also in groups, and clears relations as ACF wants it', () => {
    const records = [
      { id: 1, acf: { when: { start: '2031-05-01 19:30:00', end: '2031-05-01 22:00:00' }, venue: [7] } },
    ];
    const facts = site([type('gig', 'gigs', records), type('venue', 'venues', [{ id: 7 }])], {
      owners: { 1: 'gig', 7: 'venue' },
    });
    const fields = fieldsOf(facts);
    expect(fields?.start_date).to.equal('acf.when.start');
    expect(fields?.end_date).to.equal('acf.when.end');
    expect(fields?.venue).to.deep.equal({ at: 'acf.venue', clearWith: null });
  });

  it('takes a venue that is only text for text in the event', () => {
    const records = [
      { id: 1, meta: { start: '2031-05-01 19:30:00', end: '2031-05-01 22:00:00', location: 'Old Mill', city: 'Ely' } },
    ];
    const found = propose(site([type('gig', 'gigs', records)]));
    expect(found?.source.event.fields?.venue).to.deep.equal({ inline: { venue: 'meta.location', city: 'meta.city' } });
    expect(found?.source.venue).to.equal(undefined);
    expect(() => compileMapping(found?.source, 'proposal')).not.to.throw();
  });

  it('takes a taxonomy for the venues', () => {
    const gig = type('gig', 'gigs', [{ id: 1, meta: { start: '2031-05-01 19:30:00' } }]);
    gig.taxonomies = ['place'];
    const found = propose(
      site([gig], { taxonomies: [{ taxonomy: 'place', base: 'places', label: 'Places', hierarchical: true }] }),
    );
    expect(found?.source.venue).to.deep.equal({ terms: 'places' });
    expect(found?.source.category).to.equal(undefined);
  });

  it('asks what the samples do not tell, and takes the answer', () => {
    const ambiguous = site([type('gig', 'gigs', [{ id: 1, meta: { start: '03/04/2031 7:30 pm' } }])]);
    expect(propose(ambiguous)?.open).to.deep.equal(['dateOrder']);
    expect(fieldsOf(ambiguous, { dateOrder: 'mdy' })?.start_date).to.deep.equal({
      at: 'meta.start',
      as: { 'local-datetime': 'm/d/Y g:i a' },
    });
    const seconds = site([type('gig', 'gigs', [{ id: 1, meta: { start: 1935430200 } }])]);
    expect(propose(seconds)?.open).to.deep.equal(['seconds']);
    expect(propose(seconds, { seconds: 'wall' })?.open).to.deep.equal([]);
    expect(fieldsOf(seconds, { seconds: 'wall' })?.start_date).to.deep.equal({
      at: 'meta.start',
      as: { unix: { wallClockAsUtc: true } },
    });
  });

  it('does as it is told about collections and fields, and opens keys that no schema has', () => {
    const gig = type('gig', 'gigs', [{ id: 1, meta: { start: '2031-05-01 19:30:00' } }], { start: 'string' });
    const found = propose(site([gig]), {
      collections: { event: 'gigs' },
      fields: { 'event.end_date': 'meta.gig_until' },
    });
    expect(found?.source.event.fields?.end_date).to.equal('meta.gig_until');
    expect(found?.needsSnippet).to.equal(true);
    expect(found?.source.wordpress?.posts?.gigs?.type).to.equal('gig');
  });

  it('proposes nothing for an event type without dates, and for a blog', () => {
    expect(propose(site([type('event', 'happenings', [{ id: 1, meta: {} }])]))).to.equal(undefined);
    const blog = site([type('post', 'posts', [{ id: 1, meta: {} }])]);
    expect(propose(blog)).to.equal(undefined);
    expect(eventTypes(blog)).to.deep.equal([]);
  });

  it('takes posts for events when they hold dates (Event Post)', () => {
    const posts = type('post', 'posts', [
      { id: 1, meta: { event_begin: '2031-05-01 19:30:00', event_end: '2031-05-01 22:00:00' } },
    ]);
    expect(fieldsOf(site([posts]))).to.include({ start_date: 'meta.event_begin', end_date: 'meta.event_end' });
  });
});

describe('a proposal for a setup that is known', () => {
  const all = {
    taxonomies: ['tags', 'event_categories', 'tribe_events_cat'].map((base) => ({
      taxonomy: base,
      base,
      label: base,
      hierarchical: base !== 'tags',
    })),
  };
  const registered = (keys: string) => Object.fromEntries(keys.split(' ').map((key) => [key, 'string']));

  it('knows every shipped mapping by its own collections and keys', () => {
    for (const name of mappingNames()) {
      const source = loadMapping(name).source;
      const types: TypeFacts[] = [];
      const taxonomies: SiteFacts['taxonomies'] = [];
      for (const kind of ['event', 'venue', 'organizer', 'category', 'tag'] as const) {
        const about = source[kind];
        if (about?.terms !== undefined)
          taxonomies.push({ taxonomy: about.terms, base: about.terms, label: '', hierarchical: false });
        if (about?.posts === undefined) continue;
        const keys = metaKeys(kind, about, source.event).map(({ key }) => `meta.${key}`);
        const others = Object.values(about.fields ?? {}).flatMap(pathsOf);
        const places = [...keys, ...others].map((path) => ({ path, type: 'string', values: [] }));
        types.push({ ...type(about.posts, about.posts, []), places });
      }
      const found = propose(site(types, { taxonomies }));
      expect(found?.how, name).to.equal('shipped');
      expect(found?.source.name.replace(/-here$/, ''), name).to.equal(name);
      expect(found?.needsSnippet, name).to.equal(false);
    }
  });

  it('leaves out what the site does not have', () => {
    const events = type('events', 'events', [], registered('start_date end_date timezone cost'));
    const found = propose(site([events], all));
    expect(found?.shipped).to.equal(undefined);
    expect(Object.keys(found?.source.event.fields ?? {})).to.deep.equal(['start_date', 'end_date', 'timezone', 'cost']);
    expect(found?.source.venue).to.equal(undefined);
    expect(found?.notes.join(' ')).to.contain('no collection venues');
    expect(() => compileMapping(found?.source, 'proposal')).not.to.throw();
  });

  it('keeps the key by which a plugin hides events, which only the PHP file shows', () => {
    const keys = '_EventStartDate _EventEndDate _EventTimezone _EventAllDay _EventCost _EventURL';
    const base = 'tribe_events';
    const closed = propose(site([type(base, base, [], registered(keys))], all));
    expect(closed?.unseenHiding).to.equal('meta._EventHideFromUpcoming');
    expect(closed?.needsSnippet).to.equal(false);
    expect(closed?.source.event.fields).to.have.property('hide_from_listings');
    const opened = propose(site([type(base, base, [], registered(`${keys} _EventHideFromUpcoming`))], all));
    expect(opened?.unseenHiding).to.equal(undefined);
    expect(opened?.source.event.fields).to.have.property('hide_from_listings');
  });

  it('says that a closed plugin needs the PHP file: by its collections, or as an active plugin', () => {
    const eventon = propose(site([type('ajde_events', 'ajde_events', [{ id: 1, meta: [] }])]));
    expect(eventon?.shipped).to.equal('eventon');
    expect(eventon?.needsSnippet).to.equal(true);
    const manager = propose(site([], { plugins: ['akismet', 'events-manager'] }));
    expect(manager?.shipped).to.equal('events-manager');
    expect(manager?.because).to.contain('plugin events-manager');
  });

  it('keeps to its own types where there is nothing', () => {
    const nothing = proposeNothingThere(loadMapping('wordpress-meta').source);
    expect(nothing.shipped).to.equal('wordpress-meta');
    expect(nothing.needsSnippet).to.equal(true);
  });
});
