// The codec registry, and what the JSON Schema of mappings says of codecs.

import { expect } from 'chai';
import { CODECS } from '../../src/mapping/codecs/registry.ts';
import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../src/model/event-state.ts';
import { mappingWith, NAMED_CODECS, OPTIONS_OF_CODECS, site } from './samples.ts';

describe('codec registry', () => {
  it('has exactly one default codec for each field type', () => {
    const types = new Set(Object.values(CODECS).flatMap(({ fits }) => fits));
    for (const type of types) {
      const defaults = Object.values(CODECS).filter(({ defaultFor }) => defaultFor?.includes(type));
      expect(defaults, type).to.have.length(1);
      expect(defaults[0]?.fits, type).to.include(type);
    }
  });

  it('gives each codec one way to read and write', () => {
    for (const [name, { create, createAccessor }] of Object.entries(CODECS))
      expect([create, createAccessor].filter(Boolean), name).to.have.length(1);
  });

  it('has the codecs that mapping.schema.json lets a mapping name, and two that none can name', () => {
    expect(Object.keys(CODECS)).to.have.members([...NAMED_CODECS, 'cms-date', 'instant']);
  });

  it('takes forms of exactly the words of the API', () => {
    expect(OPTIONS_OF_CODECS.word).to.have.deep.property('propertyNames', {
      enum: [...EVENT_STATUSES, ...ATTENDANCE_MODES],
    });
  });

  it('refuses an unknown codec, and one that does not fit the field', () => {
    expect(() => mappingWith({ cost: { at: 'meta.c', as: 'money' } })).to.throw(
      /must be one of text, html, plain-text/,
    );
    expect(() => mappingWith({ cost: { at: 'meta.c', as: 'ids' } })).to.throw(
      /"ids" does not fit this field; fitting are text, plain-text, number/,
    );
    expect(() =>
      mappingWith({ website: { at: 'meta.w', as: { currency: { symbol: 'meta.s', position: 'meta.p' } } } }),
    ).to.throw(/"currency" does not fit this field; fitting are text, plain-text, number$/m);
  });
});

describe('codec plain-text', () => {
  const written = (as: unknown, excerpt: string) =>
    mappingWith({ excerpt: { at: 'meta.teaser', as } }).kinds.event.write({ excerpt }, { site });

  it('writes the characters that entities name', () => {
    for (const as of ['plain-text', { 'plain-text': 'paragraphs' }])
      expect(written(as, 'Caf&eacute; &amp;eacute;')).to.deep.equal({ meta: { teaser: 'Café &eacute;' } });
  });

  it('keeps the separators of lines and paragraphs that word processors write', () => {
    for (const as of ['plain-text', { 'plain-text': 'paragraphs' }])
      expect(written(as, 'Soup\u2028Tea\u2029Cake')).to.deep.equal({ meta: { teaser: 'Soup\u2028Tea\u2029Cake' } });
  });

  it('keeps the texts of blocks apart, with and without their end tags', () => {
    for (const [html, teaser] of [
      ['<table><tr><td>Soup</td><td>5 EUR</td></tr><tr><td>Tea<td>2 EUR</table>', 'Soup 5 EUR\n\nTea 2 EUR'],
      ['Menu<ul><li>Soup<li>Tea</ul>', 'Menu\n\nSoup\n\nTea'],
      ['<p>Soup<br />\nTea</p>\n<p>Until <b>nine</b></p>', 'Soup\nTea\n\nUntil nine'],
      ['<dl><dt>Soup<dd>5 EUR</dl>', 'Soup\n\n5 EUR'],
    ])
      expect(written({ 'plain-text': 'paragraphs' }, html!)).to.deep.equal({ meta: { teaser } });
  });
});

describe('codec word', () => {
  const kind = (word: object) => mappingWith({ event_status: { at: 'meta.state', as: { word } } }).kinds.event;
  const read = (word: object, meta: object) => kind(word).read({ id: 1, meta }, site).eventStatus;

  it('reads what it writes, whatever the case and the blanks of the form', () => {
    for (const form of ['Canceled', 'CALLED OFF', ' off ']) {
      const body = kind({ cancelled: form }).write({ eventStatus: 'cancelled' }, { site });
      expect(body).to.deep.equal({ meta: { state: form } });
      expect(read({ cancelled: form }, body.meta as object), form).to.equal('cancelled');
    }
  });

  it('reads what it writes of two words whose forms differ in case alone', () => {
    const forms = { cancelled: 'c', postponed: 'C' };
    for (const [word, state] of Object.entries(forms)) {
      const body = kind(forms).write({ eventStatus: word as 'cancelled' | 'postponed' }, { site });
      expect(body).to.deep.equal({ meta: { state } });
      expect(read(forms, body.meta as object)).to.equal(word);
    }
  });

  it('reads no word where nothing is stored, or a form that stands for none', () => {
    for (const meta of [{}, { state: 'undefined' }, { state: null }, { state: '' }, { state: 'sold out' }])
      expect(read({ cancelled: 1 }, meta), JSON.stringify(meta)).to.equal('');
  });
});

describe('codecs read odd values', () => {
  const read = (fields: object, meta: object) => mappingWith(fields).kinds.event.read({ id: 1, meta }, site);

  it('an address with half of a surrogate pair, which no URL can contain', () => {
    const url = { at: 'meta.slug', as: { link: 'https://town.example/{}/' } };
    expect(read({ url }, { slug: 'a\ud800' }).url).to.equal('https://town.example/a%EF%BF%BD/');
  });

  it('a flag with another case or with blanks around it, and none from a blank text', () => {
    const show_map = { at: 'meta.map', as: { boolean: ['Ja', 'Nein'] } };
    const venue = mappingWith({}, { venue: { posts: 'venues', fields: { show_map } } }).kinds.venue!;
    const shown = (map: string) => venue.read({ id: 1, meta: { map } }, site).showMap;
    expect(['ja', ' Ja', 'nein', 'NEIN ', ' '].map(shown)).to.deep.equal([true, true, false, false, true]);
  });

  it('no date from seconds beyond the year 9999, such as milliseconds', () => {
    const start_date = { at: 'meta.seconds', as: { unix: { wallClockAsUtc: true } } };
    const startOf = (seconds: unknown) => read({ start_date }, { seconds }).start;
    expect(startOf(253_402_300_799)).to.equal('9999-12-31 23:59:59');
    expect(startOf(-62_167_219_200)).to.equal('0000-01-01 00:00:00');
    for (const seconds of [253_402_300_800, -62_167_219_201, 1_800_000_000_000, '1800000000000', 1e300, '1e400', 'NaN'])
      expect(startOf(seconds), String(seconds)).to.equal('');
  });

  it('ids in lists and records of any depth', () => {
    const organizer = { at: 'meta.ids', json: 'list', as: 'ids' };
    const idsIn = (list: string) => read({ organizer }, { ids: `{"list": ${list}}` }).organizers;
    expect(idsIn('[[7], [[{"id": 8}]]]')).to.deep.equal([7, 8]);
    expect(idsIn(`[7, ${'['.repeat(90_000)}8${']'.repeat(90_000)}]`)).to.deep.equal([7]);
    expect(idsIn(`[7, ${'{"id":'.repeat(25_000)}8${'}'.repeat(25_000)}]`)).to.deep.equal([7]);
  });
});
