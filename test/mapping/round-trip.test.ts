// A mapping reads back what it has written: property tests over codecs and bundled mappings.

import { expect } from 'chai';
import fc from 'fast-check';
import type { CmsRecord } from '../../src/cms/port.ts';
import { FIELDS } from '../../src/interface/fields.ts';
import { selectCodec } from '../../src/mapping/codecs/registry.ts';
import type { CodecSpec } from '../../src/mapping/field-accessor.ts';
import { loadMapping, mappingNames } from '../../src/mapping/load.ts';
import type { KindMapping } from '../../src/mapping/mapping.ts';
import type { FieldSpec } from '../../src/mapping/mapping-file.ts';
import type { EventFields, EventRecord, Kind } from '../../src/model/records.ts';
import { escapeMarkup } from '../../src/text/html.ts';
import { formatWallTime } from '../../src/time/wall-time.ts';
import { mappingWith, NAMED_CODECS, site } from './samples.ts';

/** The weeks in which the site's clock, New York's, is set back: it shows an hour of them twice. */
const WEEKS_OF_TWO_HOURS = /-(10-(2[4-9]|3\d)|11-0\d) /;
// No hours that the event's clock skips or repeats, because these have no unique instant.
const wall = fc
  .tuple(fc.integer({ min: 0, max: 36_500 }), fc.integer({ min: 4 * 3600, max: 86_399 }))
  .map(([day, second]) => formatWallTime(Date.UTC(1971, 0, 1) + (day * 86_400 + second) * 1000))
  .filter((text) => !WEEKS_OF_TWO_HOURS.test(text));
const zone = fc.constantFrom('America/New_York', 'Europe/Paris', 'Asia/Kathmandu', 'UTC', '+02:00', 'UTC-3.5', 'EST');
const ids = fc.uniqueArray(fc.integer({ min: 1, max: 1e9 }), { maxLength: 5 });
// U+FDD0 to U+FDEF are no characters: a codec may use them for itself.
const words = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !/[\ufdd0-\ufdef]/.test(text));

/** WordPress's response to a write: the body, with the names and rendered texts of a read. */
function responseTo(body: CmsRecord): CmsRecord {
  const cmsRecord: CmsRecord = { id: 1, ...body };
  for (const key of ['title', 'content', 'excerpt'])
    if (typeof body[key] === 'string') cmsRecord[key] = { raw: body[key], rendered: body[key] };
  return cmsRecord;
}

/** The codecs that the tests below have written with. */
const writtenCodecs = new Set<string>();

function noteCodecs(kind: Kind, fields: Readonly<Record<string, string | FieldSpec>>): void {
  for (const [name, spec] of Object.entries(fields))
    for (const location of [typeof spec === 'object' ? (spec.write ?? spec) : spec].flat()) {
      const as = typeof location === 'object' ? location.as : undefined;
      writtenCodecs.add(selectCodec(as, FIELDS[kind][name]!, name).name);
    }
}

function writeAndRead(fields: Readonly<Record<string, string | FieldSpec>>, values: Partial<EventFields>): EventRecord {
  noteCodecs('event', fields);
  const event = mappingWith(fields).kinds.event;
  return event.read(responseTo(event.write(values, { site })), site);
}

/** Fields of a date, with their resolution in seconds. */
const dateFields: [string, object, number][] = [
  ['local text', { at: 'meta.s' }, 1],
  ['without seconds', { at: 'meta.s', as: { 'local-datetime': 'Y-m-d H:i' } }, 60],
  ['of twelve hours', { at: 'meta.s', as: { 'local-datetime': 'M j, Y h:i:s a' } }, 1],
  ['packed', { at: 'meta.s', as: { 'local-datetime': 'YmdHis' } }, 1],
  ['with a T', { at: 'meta.s', as: { 'local-datetime': 'Y-m-d\\TH:i:s' } }, 1],
  ['with month names', { at: 'meta.s', as: { 'local-datetime': 'j F Y G.i.s' } }, 1],
  ['in UTC', { at: 'meta.s', as: 'utc-datetime' }, 1],
  ['in site time', { at: 'meta.s', as: 'site-datetime' }, 1],
  ['as seconds', { at: 'meta.s', as: 'unix' }, 1],
  ['as milliseconds', { at: 'meta.s', as: { unix: { milliseconds: true } } }, 1],
  ['with an offset', { at: 'meta.s', as: { 'local-datetime': 'Y-m-d\\TH:i:s.vP' } }, 1],
  ['with an offset, in UTC', { at: 'meta.s', as: { 'utc-datetime': 'Y-m-d H:i:s O' } }, 1],
  ['as seconds in text', { at: 'meta.s', as: { unix: { asText: true } } }, 1],
  ['as wall-clock seconds', { at: 'meta.s', as: { unix: { wallClockAsUtc: true } } }, 1],
  ['in a JSON text', { at: 'meta.j', json: 'when.from' }, 1],
  [
    'in two keys',
    {
      parts: [
        { at: 'meta.d', format: 'Ymd' },
        { at: 'meta.t', format: 'h:i:s A' },
      ],
    },
    1,
  ],
  [
    'in four keys',
    {
      parts: [
        { at: 'meta.d', format: 'd/m/Y' },
        { at: 'meta.h', format: 'g' },
        { at: 'meta.m', format: 'i' },
        { at: 'meta.a', format: 'a' },
      ],
    },
    60,
  ],
];

describe('a mapping reads back what it has written', () => {
  for (const [name, field, resolutionS] of dateFields)
    it(`a date ${name}`, () => {
      fc.assert(
        fc.property(wall, zone, (start, timezone) => {
          const record = writeAndRead({ start_date: field, timezone: 'meta.zone' }, { start, timezone });
          expect(record.start).to.equal(resolutionS === 60 ? `${start.slice(0, 16)}:00` : start);
          expect(record.timezone).to.equal(timezone);
        }),
      );
    });

  it('a date in site time, and refuses one of two hours that the site names alike', () => {
    const fields = { start_date: { at: 'meta.s', as: 'site-datetime' }, timezone: 'meta.zone' };
    const written = (start: string) => writeAndRead(fields, { start, timezone: 'Asia/Kathmandu' }).start;
    // 01:00 in New York is 10:45 in Kathmandu, and again an hour later.
    for (const start of ['2001-10-28 10:45:00', '2001-10-28 11:44:59', '2001-10-28 12:45:00'])
      expect(written(start)).to.equal(start);
    for (const start of ['2001-10-28 11:45:00', '2001-10-28 12:44:59'])
      expect(() => written(start)).to.throw('Invalid parameter(s): start_date');
  });

  it('a boolean in any stored form', () => {
    const forms = fc.constantFrom<[unknown, unknown]>(
      [true, false],
      ['yes', 'no'],
      ['no', 'yes'],
      [1, 0],
      [0, 1],
      ['1', ''],
      ['true', 'false'],
      ['on', null],
    );
    fc.assert(
      fc.property(forms, fc.boolean(), (pair, showMap) => {
        const fields = { at: 'meta.f', as: { boolean: pair } };
        if (pair[1] === null && !showMap) return;
        expect(writeAndRead({ show_map: fields }, { showMap }).showMap).to.equal(showMap);
      }),
    );
  });

  it('a boolean whose type the CMS changes', () => {
    const event = mappingWith({ featured: { at: 'meta.f', as: { boolean: [1, 0] } } }).kinds.event;
    for (const [stored, expected] of [
      ['1', true],
      ['0', false],
      [true, true],
      [false, false],
      ['yes', true],
      ['', false],
      [null, false],
      [[], false],
    ])
      expect(event.read({ id: 1, meta: { f: stored } }, site).featured, JSON.stringify(stored)).to.equal(expected);
  });

  it('ids in any format for several', () => {
    const codec = fc.constantFrom<CodecSpec>({ ids: 'list' }, { ids: 'rows' }, { ids: 'csv' }, { ids: 'objects' });
    fc.assert(
      fc.property(codec, ids, (as, organizers) => {
        expect(writeAndRead({ organizer: { at: 'meta.o', as } }, { organizers }).organizers).to.deep.equal(organizers);
      }),
    );
  });

  it('seconds since 1970, and refuses the first one, which reads as no date', () => {
    for (const options of [{}, { milliseconds: true }, { asText: true }, { wallClockAsUtc: true }]) {
      const fields = { start_date: { at: 'meta.s', as: { unix: options } }, timezone: 'meta.zone' };
      const stored = (start: string) => writeAndRead(fields, { start, timezone: 'UTC' }).start;
      expect(stored('1970-01-01 00:00:01')).to.equal('1970-01-01 00:00:01');
      expect(stored('1969-12-31 23:59:59')).to.equal('1969-12-31 23:59:59');
      expect(() => stored('1970-01-01 00:00:00'), JSON.stringify(options)).to.throw(
        /Invalid parameter\(s\): start_date/,
      );
    }
  });

  it('a single id, and refuses two', () => {
    for (const format of ['one', 'one-in-list']) {
      const fields = { venue: { at: 'meta.v', as: { ids: format } } };
      expect(writeAndRead(fields, { venues: [7] }).venues).to.deep.equal([7]);
      expect(writeAndRead(fields, { venues: [] }).venues).to.deep.equal([]);
      expect(() => writeAndRead(fields, { venues: [7, 8] })).to.throw('Invalid parameter(s): venue');
    }
  });

  it('text of any characters', () => {
    fc.assert(
      fc.property(words, words, (cost, website) => {
        const record = writeAndRead({ cost: 'meta.c', website: { at: 'meta.j', json: 'a.b' } }, { cost, website });
        expect(record.cost).to.equal(cost);
        expect(record.website).to.equal(website);
      }),
    );
  });

  it('HTML', () => {
    fc.assert(
      fc.property(words, (text) => {
        const description = `<p>${escapeMarkup(text)}</p>`;
        expect(writeAndRead({ description: 'meta.d' }, { description }).description).to.equal(description);
      }),
    );
  });

  it('a cost with its currency symbol in another key', () => {
    const fields = { cost: { at: 'meta.c', as: { currency: { symbol: 'meta.s', position: 'meta.p' } } } };
    for (const cost of [
      '',
      '10',
      '$10',
      '10€',
      '10.50',
      '$1,000',
      '10 - 20',
      'Free',
      '$10 - $20',
      'from 5',
      '10 USD',
      ' 7',
      '.',
    ])
      expect(writeAndRead(fields, { cost }).cost, cost).to.equal(cost);
  });

  it('a cost stored as a number, and refuses words', () => {
    const fields = { cost: { at: 'meta.c', as: 'number', clearWith: null } };
    for (const cost of ['', '10', '0', '10.5']) expect(writeAndRead(fields, { cost }).cost).to.equal(cost);
    for (const cost of ['Free', '007'])
      expect(() => writeAndRead(fields, { cost })).to.throw('Invalid parameter(s): cost');
  });

  it('whole days in a format without time, and refuses hours', () => {
    const day = (at: string): object => ({ at, as: { 'local-datetime': 'Ymd' } });
    const fields = { start_date: day('meta.s'), end_date: day('meta.e'), all_day: 'meta.a' };
    const whole = { start: '2027-05-01 00:00:00', end: '2027-05-02 23:59:59', allDay: true };
    expect(writeAndRead(fields, whole)).to.include(whole);
    expect(() => writeAndRead(fields, { start: '2027-05-01 10:00:00' })).to.throw('Invalid parameter(s): start_date');
  });

  for (const [name, stored, kept, refused] of [
    [
      'hours only',
      { at: 'meta.s', as: { 'local-datetime': 'd/m/Y ga' } },
      '2027-05-01 19:00:00',
      '2027-05-01 19:30:00',
    ],
    [
      'years of two digits',
      { at: 'meta.s', as: { 'local-datetime': 'd/m/y H:i' } },
      '2069-12-31 19:30:00',
      '2075-05-01 19:30:00',
    ],
    [
      'hours in a key of their own',
      {
        parts: [
          { at: 'meta.d', format: 'Y-m-d' },
          { at: 'meta.h', format: 'H' },
        ],
      },
      '2027-05-01 19:00:00',
      '2027-05-01 19:30:00',
    ],
    [
      'ambiguous digits',
      { at: 'meta.s', as: { 'local-datetime': 'Ynj H:i' } },
      '2027-11-01 19:30:00',
      '2027-01-11 19:30:00',
    ],
  ] as const)
    it(`dates with ${name}, and refuses others`, () => {
      const written = (start: string) => writeAndRead({ start_date: stored as FieldSpec }, { start }).start;
      expect(written(kept)).to.equal(kept);
      expect(() => written(refused)).to.throw('Invalid parameter(s): start_date');
    });

  it('whole days in a format of hours', () => {
    const hour = (at: string): object => ({ at, as: { 'local-datetime': 'Y-m-d H' } });
    const fields = { start_date: hour('meta.s'), end_date: hour('meta.e'), all_day: 'meta.a' };
    const whole = { start: '2027-05-01 00:00:00', end: '2027-05-02 23:59:59', allDay: true };
    expect(writeAndRead(fields, whole)).to.include(whole);
  });

  for (const name of mappingNames()) {
    const { kinds: all, cms, file: source } = loadMapping(name);
    const kinds = all as Partial<Record<Kind, KindMapping<Kind>>>;
    for (const [kind, mapping] of Object.entries(kinds) as [Kind, KindMapping<Kind>][])
      if (!mapping.readOnly && mapping.linkFields.length === 0)
        it(`whole records: ${name}, ${kind}`, () => {
          fc.assert(
            fc.property(valuesOf(kind, mapping, source[kind]?.fields), (values) => {
              const body = mapping.write(values as never, { site });
              const cmsRecord = cms === 'wordpress' ? responseTo(body) : { id: 1, ...body };
              const derived = withDerivedKeys(cmsRecord);
              expect(mapping.read(derived, site)).to.deep.include(values);
            }),
            { numRuns: 50 },
          );
          noteCodecs(kind, source[kind]?.fields ?? {});
        });
  }

  it('with every codec', () => {
    // The address of a record's page is never written.
    const names = NAMED_CODECS.filter((name) => name !== 'link');
    expect(names.filter((name) => !writtenCodecs.has(name))).to.deep.equal([]);
  });
});

/** Values for every writable field of a kind. */
function valuesOf(
  kind: Kind,
  mapping: KindMapping<Kind>,
  specs: Readonly<Record<string, string | FieldSpec>> = {},
): fc.Arbitrary<Record<string, unknown>> {
  const arbitraries: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, info] of Object.entries(FIELDS[kind])) {
    if (!(mapping.writable as ReadonlySet<string>).has(info.property)) continue;
    // Payload derives the HTML that is read from what is written.
    if (mapping.paths.get(info.property) === 'descriptionHtml') continue;
    // A CMS may have one instant for both.
    const [date, dateUtc] = ['date', 'dateUtc'].map((key) => String(mapping.writtenPathsByProperty.get(key as never)));
    if (info.property === 'date' && date === dateUtc) continue;
    // With paragraphs, every text is in one.
    if (mapping.paths.get(info.property) === 'excerpt') {
      const line = words.map((text) => escapeMarkup(text.replace(/\s+/g, ' ').trim()));
      arbitraries[info.property] = line.map((text) => (text === '' ? '' : `<p>${text}</p>`));
      continue;
    }
    arbitraries[info.property] = {
      text:
        info.property === 'status'
          ? fc.constantFrom('publish', 'private', 'future')
          : info.property === 'website'
            ? fc.webUrl()
            : info.property === 'name'
              ? words.map(escapeMarkup)
              : words,
      html: words.map((text) => escapeMarkup(text.trim())),
      word: fc.constantFrom('', ...wordsOf(specs[name], info.words)),
      boolean: info.property === 'allDay' ? fc.constant(false) : fc.boolean(),
      id: fc.integer({ min: 0, max: 1e9 }),
      // Each is a place together with every other.
      number: fc.double({ min: 0.001, max: 90, noNaN: true }),
      ids: ids.map((list) => (info.property === 'venues' ? list.slice(0, 1) : list)),
      'wall-time': wall,
      'site-time': wall,
      'utc-time': wall,
      zone: fc.constantFrom('America/New_York', 'Europe/Paris', '+02:00'),
    }[info.type];
  }
  return fc.record(arbitraries).map(withAttendance);
}

/** The words that a mapping has a form for. */
function wordsOf(spec: string | FieldSpec | undefined, all: readonly string[] = []): readonly string[] {
  const as = typeof spec === 'object' ? spec.as : undefined;
  return typeof as === 'object' && as.word ? Object.keys(as.word) : all;
}

/** What moved online is online, unless the CMS says otherwise. */
const withAttendance = (values: Record<string, unknown>): Record<string, unknown> =>
  values.eventStatus === 'moved_online' && values.attendanceMode === ''
    ? { ...values, attendanceMode: 'online' }
    : values;

/** Adds the keys that the GatherPress plugin derives from a write. */
function withDerivedKeys(cmsRecord: CmsRecord): CmsRecord {
  const meta = cmsRecord.meta as Record<string, unknown> | undefined;
  if (typeof meta?.gatherpress_datetime !== 'string') return cmsRecord;
  const dates = JSON.parse(meta.gatherpress_datetime) as Record<string, string>;
  return {
    ...cmsRecord,
    meta: {
      ...meta,
      gatherpress_datetime_start: dates.dateTimeStart,
      gatherpress_datetime_end: dates.dateTimeEnd,
      gatherpress_timezone: dates.timezone,
    },
  };
}
